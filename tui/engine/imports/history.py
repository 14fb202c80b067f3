"""The history of imports, in their log: known sources, and the ids of the sessions of them."""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import islice

import msgspec

from tui.domain.imports import ImportLine
from tui.domain.journal.message import Message
from tui.domain.json_text import journal_json
from tui.errors import SessionNotFound
from tui.importers.made_ids import COMPARED
from tui.importers.protocol import Heading
from tui.storage.protocol import SessionStore

_LOG_LINES = 100

_Place = tuple[str, str]
"""A program and a path."""


class FoundSource(msgspec.Struct, frozen=True):
    """A source as it was when it was found: the same later means that it was not changed."""

    program: str
    path: str
    device: int
    inode: int
    size: int
    mtime: int


class History:
    """Looks up what was imported before, and adds to it.

    Lines are written in blocks: a sync for each takes longer than its session. Whoever is killed
    before finds the sessions again, and adds nothing to them.
    """

    def __init__(self, store: SessionStore) -> None:
        """Read the log. Raises ``StorageError``."""
        self.store = store
        self._whole: dict[_Place, ImportLine] = {}
        self._sessions: dict[_Place, dict[str, None]] = {}
        self.beginnings: dict[str, tuple[str, ...]] = {}
        """The ids of the first messages of each session that was ever imported, as far as known."""
        self.rescued: set[str] = set()
        """The sessions that came of prompts alone, whatever became of them."""
        self._found_whole: set[tuple[str, str]] = set()
        """Programs and ids of conversations of which there was more than the prompts."""
        self._unwritten: list[ImportLine] = []
        for line in store.imports():
            self._add(line)

    def record(self, line: ImportLine) -> None:
        """Write the line of a session that was added, or of a source that was read."""
        is_known = line.prompts_only or self.is_whole(line.program, line.source_id)
        is_here = line.id in self._sessions.get((line.program, line.path), ())
        # Of a source that changes each hour, most sessions are as they were.
        if is_known and is_here and self.beginnings[line.id] == line.beginning and not line.whole:
            return
        self._add(line)
        self._unwritten.append(line)
        if len(self._unwritten) >= _LOG_LINES:
            self.close()

    def close(self) -> None:
        """Write what is not written. Raises ``StorageError``."""
        lines, self._unwritten = self._unwritten, []
        if lines:
            self.store.note_imports(lines)

    def _add(self, line: ImportLine) -> None:
        place = line.program, line.path
        if line.whole:
            self._whole[place] = line
        if line.replaced:
            self._sessions.get(place, {}).pop(line.id, None)
        elif line.id:
            self._sessions.setdefault(place, {})[line.id] = None
            self.beginnings[line.id] = line.beginning
            if line.prompts_only:
                self.rescued.add(line.id)
            else:
                self._found_whole.add((line.program, line.source_id))

    def is_whole(self, program: str, source_id: str) -> bool:
        """Tell whether a conversation was found with more than its prompts."""
        return (program, source_id) in self._found_whole

    def is_unchanged(self, found: FoundSource, revision: int) -> bool:
        """Tell whether a source was read to its end, as well as now, and is as it was then."""
        line = self._whole.get((found.program, found.path))
        if line is None or line.revision < revision:
            return False
        return (found.inode, found.size, found.mtime) == (line.inode, line.size, line.mtime)

    def sessions(self, found: FoundSource) -> Iterable[str] | None:
        """The ids of the sessions that came of a source; ``None`` if it was never imported."""
        place = found.program, found.path
        return self._sessions.get(place, () if place in self._whole else None)

    def is_gone(self, session_id: str) -> bool:
        """Tell whether a session that was imported is in the trash, or purged."""
        try:
            return self.store.stamp(session_id).where == "trashed"
        except SessionNotFound:
            return True


IMPORTED = "im-"
"""Begins the id of every imported message, and of no other."""
_SESSION_DIGITS = 12
_MESSAGE_DIGITS = 16


def imported_session_id(program: str, root: str) -> str:
    """Make the id of the session of a tree of messages."""
    return f"{program}-{_digits(program, root)[:_SESSION_DIGITS]}"


def fork_id(program: str, session_id: str) -> str:
    """Make the id of the fork of a session that was continued here."""
    return f"{program}-{_digits(program, session_id, 'fork')[:_SESSION_DIGITS]}"


def imported_message_id(program: str, source_id: str) -> str:
    """Make the id of a message."""
    return IMPORTED + _digits(program, source_id)[:_MESSAGE_DIGITS]


def version_id(message: Message, parent: str) -> str:
    """Make the id of a version of a message: other words, or behind another message."""
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    words = journal_json((message.content, calls, message.error)).decode()
    return IMPORTED + _digits(message.id, parent, words)[:_MESSAGE_DIGITS]


def _digits(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def scope_of(program: str, heading: Heading) -> str:
    """The scope of a conversation; one of no project is listed under its program."""
    project = f"project:{heading.project_path}" if heading.project_path else ""
    return heading.scope or project or program


def beginning_ids(program: str, heading: Heading) -> list[str]:
    """The ids here of the first messages of a conversation, if it is known by them."""
    return [imported_message_id(program, each) for each in heading.beginning]


class SessionIds:
    """Chooses the ids; conversations that begin alike and go on differently get different ones."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._beginnings: dict[str, list[str]] = {}
        """The ids of the first messages of sessions: in the store, and found since."""

    def of(self, program: str, heading: Heading) -> str:
        """The id of the session of a conversation. Raises ``SessionDamaged``."""
        candidates = _candidates(program, heading.root or heading.source_id)
        new = beginning_ids(program, heading)
        usual = next(each for each in candidates if not new or self._begins_alike(each, new))
        return self._of_prompts(program, heading.source_id, usual) or usual

    def _of_prompts(self, program: str, source_id: str, usual: str) -> str:
        """The session that gives its place, as it has only the prompts; ``""`` if there is none."""
        rescue, history = imported_session_id(program, source_id), self._history
        if usual in history.beginnings or rescue not in history.rescued:
            return ""
        is_here = history.is_whole(program, source_id) or not history.is_gone(rescue)
        return rescue if is_here else ""

    def _begins_alike(self, session_id: str, new: list[str]) -> bool:
        """Tell whether the messages of a session begin with the new ones, or they with these."""
        if session_id not in self._beginnings:
            self._beginnings[session_id] = self._first_messages(session_id)
        known = self._beginnings[session_id]
        if any(one != other for one, other in zip(known, new, strict=False)):
            return False
        self._beginnings[session_id] = max(known, new, key=len)
        return True

    def _first_messages(self, session_id: str) -> list[str]:
        with suppress(SessionNotFound):
            records = self._history.store.journal(session_id).records()
            messages = (each.id for each in records if isinstance(each, Message))
            return list(islice((each for each in messages if each.startswith(IMPORTED)), COMPARED))
        return list(self._history.beginnings.get(session_id, ()))


def _candidates(program: str, root: str) -> Iterator[str]:
    yield imported_session_id(program, root)
    for number in itertools.count(2):
        yield imported_session_id(program, f"{root}~{number}")
