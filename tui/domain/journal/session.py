"""A session as its reader sees it: folded from records, never changed in place."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Offsets, Reset, SessionHeader, State, Summary
from tui.domain.journal.todo import TodoItem
from tui.domain.text.labels import EMPTY, UNREADABLE, label

Status = Literal["open", "closed", "archived", "trashed"]
Entry = Message | Reset | Summary
"""What stands in a conversation, in the order of the file."""


class Session(msgspec.Struct, frozen=True):
    """A session, whole or from some point on.

    ``entries`` are the messages that were read, replaced ones left out, with the marks of resets
    and summaries between them. ``live_from`` is the first of them that is live.
    ``interrupted`` are the answers among them of which only pieces are on disk and whose writer
    is gone; the next holder writes them as messages. ``arriving`` names those whose writer lives.
    Times are as they stand in the file.
    """

    header: SessionHeader
    name: str
    model: str
    prompt_count: int
    message_count: int
    total_count: int
    entries: tuple[Entry, ...]
    live_from: int
    summary: Summary | None
    todos: tuple[TodoItem, ...]
    offsets: Offsets
    interrupted: tuple[Message, ...]
    arriving: frozenset[str]
    updated_at: str | None
    last_used_at: str | None
    opened_at: str | None
    closed_at: str | None
    last_record_at: str | None
    damaged: int = 0

    @property
    def id(self) -> str:
        return self.header.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The live messages."""
        return tuple(e for e in self.entries[self.live_from :] if isinstance(e, Message))

    @property
    def all_messages(self) -> tuple[Message, ...]:
        """The messages, those before a reset too."""
        return tuple(e for e in self.entries if isinstance(e, Message))

    def label(self, first_prompt: str) -> str:
        """The title in a list; with damage in the place of all messages it is not empty."""
        summary = self.summary.text if self.summary else ""
        destroyed = self.damaged and not self.entries
        return label(self.name, summary, first_prompt, UNREADABLE if destroyed else EMPTY)

    def state(self, at: str) -> State:
        """What a ``state`` record written at this point says."""
        return State(
            name=self.name,
            model=self.model,
            prompt_count=self.prompt_count,
            message_count=self.message_count,
            total_count=self.total_count,
            updated_at=at,
            offsets=self.offsets,
        )


class SessionEntry(msgspec.Struct, frozen=True):
    """A session in a list, read from the two ends of its file.

    Times are UTC strings with milliseconds, ``""`` if unknown. ``message_count`` counts live
    messages, ``damaged`` unreadable lines among those that were read.
    """

    id: str
    name: str
    label: str
    scope: str
    ordinal: int
    active: bool
    project_path: str
    model: str
    created_at: str
    updated_at: str
    last_used_at: str
    closed_at: str | None
    message_count: int
    status: Status
    damaged: int = 0


class Holder(msgspec.Struct, frozen=True):
    """Who holds a session's lease."""

    pid: int
    host: str
    since: datetime | None

    def __str__(self) -> str:
        since = f" since {self.since.astimezone():%Y-%m-%d %H:%M}" if self.since else ""
        return f"pid {self.pid} on {self.host}{since}"


class Stamp(msgspec.Struct, frozen=True):
    """The version of a session's file; ``where`` is ``closed`` for a session that is kept.

    ``place`` is device and inode, ``length`` bytes, ``changed`` nanoseconds since 1970. As long
    as the place is the same and gets no shorter, records were only added.
    """

    place: str
    length: int
    changed: int
    where: Status = "closed"

    def goes_on_from(self, other: "Stamp | None") -> bool:
        """Whether nothing was taken away since."""
        return other is not None and self.place == other.place and self.length >= other.length


class Draft(msgspec.Struct, frozen=True):
    """What was typed into a session's prompt and not sent yet.

    ``folded`` are the pastes in it that are shown as one mark, each by where it begins and ends.
    """

    session_id: str
    scope: str
    project_path: str
    text: str
    queued: tuple[str, ...] = ()
    folded: tuple[tuple[int, int], ...] = ()

    @property
    def pastes(self) -> tuple[str, ...]:
        """The texts that are folded."""
        return tuple(filter(None, (self.text[start:end] for start, end in self.folded)))

    @property
    def empty(self) -> bool:
        return not self.text and not self.queued


class Tail(msgspec.Struct, frozen=True):
    """The end of a session; ``cursor`` leads to what comes before it, ``None`` at the start."""

    session: Session
    cursor: str | None


class Page(msgspec.Struct, frozen=True):
    """Entries of a conversation, in the order of the file; ``cursor`` leads on.

    ``replaced`` are messages that its own replace, wherever they stand.
    """

    entries: tuple[Entry, ...]
    cursor: str | None
    damaged: int = 0
    replaced: frozenset[str] = frozenset()


class Surroundings(msgspec.Struct, frozen=True):
    """A message and what stands around it, in the order of the file.

    ``earlier`` and ``later`` are cursors that lead on, ``None`` where nothing follows.
    """

    entries: tuple[Entry, ...]
    earlier: str | None
    later: str | None
    damaged: int = 0


def joined(entries: Sequence[Entry], later: Page) -> tuple[Entry, ...]:
    """Entries with the page that comes after them.

    A message that was written again stays in its place, and one that was replaced goes.
    """
    newer = {entry.id: entry for entry in later.entries if isinstance(entry, Message)}
    kept = [newer.get(e.id, e) if isinstance(e, Message) else e for e in entries]
    known = {entry.id for entry in kept if isinstance(entry, Message)} | later.replaced
    added = [e for e in later.entries if not (isinstance(e, Message) and e.id in known)]
    shown = [e for e in kept if not (isinstance(e, Message) and e.id in later.replaced)]
    return (*shown, *added)
