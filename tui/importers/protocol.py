"""The interface of the readers of programs whose conversations can be imported.

A reader finds the files of its program and reads them; it writes nothing, follows no path, id or
link that it finds in them, and knows nothing of sessions here. Ids, duplicates, times that are
missing and the ledger on disk are the affair of ``tui.engine.imports``.

A reader never fails because of what it reads: a record that it cannot use is counted in the
``Ledger``, and the rest is read. It raises ``OSError`` where a file cannot be opened or read.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tui.domain.imports import is_block
from tui.domain.journal.message import Role, TokenUsage, ToolCall
from tui.domain.journal.records import Settings
from tui.domain.journal.todo import TodoItem
from tui.importers.archives import Archive
from tui.importers.folders import matching

IN_WHOLE_SESSION = "prompt of a whole session"
"""The reason to leave out a prompt of which there is more than that."""


class Places(msgspec.Struct, frozen=True):
    """The places where programs keep their files: a home directory and an environment."""

    home: Path
    environment: Mapping[str, str]
    is_mac: bool = False
    projects: tuple[Path, ...] = ()
    """Directories of known sessions, for programs that keep their files there."""
    unread: list[OSError] = msgspec.field(default_factory=list[OSError])
    """Errors of folders that could not be looked at."""

    def in_projects(self, name: str) -> list[Path]:
        """The files of a name in these directories, of which some may be elsewhere or secret."""
        paths = (folder / name for folder in self.projects)
        return [path for path in paths if os.path.isfile(path)]  # noqa: PTH113

    def glob(self, folder: Path, pattern: str) -> list[Path]:
        """List what matches a pattern below a folder, sorted."""
        return matching(folder, pattern, self.unread)

    def sources(
        self,
        folder: Path,
        *patterns: str,
        wanted: Callable[[Path], bool] = lambda _: True,
        parts: Callable[[Path], Iterable[Path]] = lambda _: (),
    ) -> "Iterator[Source]":
        """Find what is wanted of all that matches below a folder, one pattern after the other."""
        for pattern in patterns:
            for path in filter(wanted, self.glob(folder, pattern)):
                yield Source.of(path, *parts(path))

    def named(self, variable: str, otherwise: Path) -> Path:
        """The directory that a variable names, else the usual one."""
        value = self.environment.get(variable, "").strip()
        return Path(value).expanduser() if value else otherwise

    @property
    def data(self) -> Path:
        """The user's data directory, by the rules of XDG on every system."""
        return self.named("XDG_DATA_HOME", self.home / ".local" / "share")

    @property
    def config(self) -> Path:
        """The user's configuration directory, by the rules of XDG on every system."""
        return self.named("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def app_support(self) -> Path:
        """The directory of applications' data, by the rules of the operating system."""
        return self.home / "Library" / "Application Support" if self.is_mac else self.data


class Source(msgspec.Struct, frozen=True):
    """A file, or a folder whose files are one conversation, that is read as a whole."""

    path: Path
    size: int
    """In bytes, of all its files."""
    changed: int
    """Latest change of its files, in nanoseconds since 1970."""
    archive: Archive | None = None
    """The archive of which it is a file, unpacked."""

    @property
    def shown(self) -> Path:
        """Its path as it is shown and noted: of a file of an archive, that in the archive."""
        return self.archive.shown(self.path) if self.archive else self.path

    @classmethod
    def of(cls, path: Path, *parts: Path) -> "Source":
        """Look at a file, or at ``parts`` of a folder; parts that are gone do not count.

        Raises ``OSError`` if a file without parts is gone.
        """
        if not parts:
            status = path.stat()
            return cls(path, status.st_size, status.st_mtime_ns)
        size = changed = 0
        for part in parts:
            with suppress(OSError):
                status = part.stat()
                size += status.st_size
                changed = max(changed, status.st_mtime_ns)
        return cls(path, size, changed)


class Ledger(msgspec.Struct, eq=False):
    """The count of a source's records: each is read, or skipped for a reason.

    Its unit is the record of the format: a line, an element of an array, a row. Reasons are short,
    in plain words and the singular: ``thinking``, ``system prompt``, ``sub-agent``,
    ``unreadable line``, ``duplicate``. Shapes that the reader does not know begin with
    ``unknown``, such as ``unknown role``: ``doctor`` reports them. An ``unknown block`` is counted
    beside the record that it is part of, whose words are all kept.
    """

    read: int = 0
    skipped: Counter[str] = msgspec.field(default_factory=Counter[str])

    @property
    def total(self) -> int:
        """The number of records."""
        left_out = (count for reason, count in self.skipped.items() if not is_block(reason))
        return self.read + sum(left_out)

    def count(self, is_read: object, reason: str) -> None:
        """Count a record as read, or else as skipped for a reason."""
        if is_read:
            self.read += 1
        else:
            self.skipped[reason] += 1

    def add(self, other: "Ledger") -> None:
        self.read += other.read
        self.skipped.update(other.skipped)


class ForeignMessage(msgspec.Struct, frozen=True):
    """One message of a conversation.

    Its text is as the source has it, but for what is dropped by rule (thinking, injected text) and
    for pictures and files, which ``contents.placeholder`` stands for.
    """

    id: str
    """The source's own id, the same at every reading; a made-up one is unique in all sources."""
    role: Role
    content: str | None
    timestamp: str | None = None
    """By ``times.utc``; ``None`` if the source has none: the neighbour's is taken."""
    parent: str | None = None
    """The id of the message that this one follows; ``None`` for the one before it, ``""`` for none.

    A parent comes before its children. The live conversation is the one that ends with the last
    message: ``trees.in_order`` sees to both.
    """
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    status: str | None = None
    """``interrupted``, ``failed`` or ``truncated``."""
    error: str | None = None
    model: str | None = None
    """As the source names it."""
    usage: TokenUsage | None = None


class ForeignSummary(msgspec.Struct, frozen=True):
    """A summary that the source's program sent instead of the messages up to one of them."""

    text: str
    through: str
    """The id of that message, which came before."""


class ForeignTodos(msgspec.Struct, frozen=True):
    """The whole to-do list; the last one counts."""

    items: tuple[TodoItem, ...]


Item = ForeignMessage | ForeignSummary | ForeignTodos | Settings
"""Settings are those of the session; they are taken over where it has none yet."""


class Heading(msgspec.Struct):
    """The facts about a conversation that are known before its messages are read."""

    source_id: str
    """The program's id of it, or a made one; the same at every reading."""
    name: str = ""
    """Given by the user or by the program; placeholders such as ``New chat`` are none."""
    project_path: str = ""
    """The absolute path of its working directory; ``""`` if it has none."""
    created_at: str | None = None
    updated_at: str | None = None
    """The time of its last message, if that is known without reading; ``--since`` asks for it."""
    model: str = ""
    """The last one, as the source names it."""
    version: str = ""
    """Of the format or of the program that wrote it."""
    root: str = ""
    """Names the tree of messages that it is part of, if it is not the only part.

    Conversations of one root become one session: a resumed one that repeats what it resumes.
    """
    beginning: tuple[str, ...] = ()
    """The ids of its first messages, if other conversations may have the same ``source_id``.

    It may be made of its first words, or be a name or a number of one machine. Two conversations
    are one if the messages of the shorter beginning are those of the longer.
    """
    prompts_only: bool = False
    """True if its program has deleted all of it but the prompts.

    Nothing comes of prompts that a whole session here has. A session that came of some gives its
    place to the whole one, once that is found, and is an earlier version of it.
    """
    scope: str = ""
    """Where a program had scopes, numbers and active sessions as there are here: its own."""
    ordinal: int = 0
    active: bool = False


class Conversation(msgspec.Struct, frozen=True):
    """One conversation of a source; its messages are read while ``items`` is walked through."""

    heading: Heading
    items: Callable[[], Iterator[Item]]
    ledger: Ledger
    """Complete once ``items`` has come to its end."""


class Deletion(NamedTuple):
    """The rule by which a program deletes its sessions by itself."""

    days: Callable[[Places], float]
    """The days for which it keeps them after the last change; 0 if for ever."""
    pattern: str
    """Matches the paths of the sources that it deletes."""


class Reader(msgspec.Struct, frozen=True):
    """A program's reader: its names and its three functions."""

    program: str
    """As in ``imported_from`` and ``from:``, such as ``claude-code``."""
    title: str
    """As on the screen, such as ``Claude Code``."""
    find: Callable[[Places], Iterator[Source]]
    """Finds the sources in their usual places; reads no more than directories and small indexes."""
    recognises: Callable[[Path, bytes], bool]
    """Tells from a path and the first bytes of the file (none of a directory) if it is a source."""
    read: Callable[[Source, Ledger], Iterator[Conversation]]
    """Reads the conversations of a source.

    The ledger takes what belongs to no conversation. A conversation's items are walked through
    before the next one is asked for. Raises ``OSError``.
    """
    revision: int = 0
    """Higher than before once it reads better: sources that it read before are read again."""
    kin: str = ""
    """The same for programs whose files look alike: elsewhere they are those of the chosen one."""
    several: bool = False
    """True if a source may hold several conversations, as a database or an export does."""
    exported: bool = False
    """True if its files have no usual place: the user names them."""
    parts: Callable[[Path], Iterable[Path]] = lambda path: (path,)
    """Names the files that are read with a source, if they are there: with a file, also itself."""
    deletion: Deletion | None = None
    is_last: Callable[[Path], bool] = lambda _: False
    """Tells the sources that are read after all others, as they only fill gaps."""


Json = dict[str, Any]
"""An object as it came from a source: any field may be absent or of another type."""
