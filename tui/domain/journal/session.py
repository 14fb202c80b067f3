"""Versions: messages that follow the same message, of which only one is live."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Literal

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    Import,
    Offsets,
    Reset,
    SessionHeader,
    Settings,
    State,
    Summary,
)
from tui.domain.journal.todo import TodoItem
from tui.domain.json_text import MOST, Count
from tui.domain.providers import is_guide
from tui.domain.text import EMPTY, UNREADABLE, label

Versions = Mapping[str, tuple[str, ...]]
"""For the id of a message that has other versions: the ids of them all, in file order."""

_MOST_NAMED = 100
NOTHING = -1
"""The place of the message before a first one."""

_Entries = Sequence[Message | Reset | Summary | None]
"""Entries in file order; ``None`` is an answer of which only pieces came."""
_Parents = Mapping[int, int]
"""The place of a message, mapped to that of the one it follows if that is not the previous one."""


def live_places(entries: _Entries, parents: _Parents, tip: int | None = None) -> set[int]:
    """The places of the entries that are live, and were before each earlier reset.

    The last message is live, and so is each message that a live one follows. With a ``tip``, that
    counts as the last message.
    """
    live: set[int] = set()
    wanted = tip
    for place in reversed(range(len(entries))):
        entry = entries[place]
        if isinstance(entry, Reset):
            wanted = None
            live.add(place)
        elif wanted is None or wanted == place:
            live.add(place)
            if not isinstance(entry, Summary):
                wanted = parents.get(place)
    return live


def message_before(entries: _Entries, place: int) -> int:
    """The place of the message before another one since a reset."""
    for before in reversed(range(place)):
        if isinstance(entries[before], Reset):
            return NOTHING
        if not isinstance(entries[before], Summary):
            return before
    return NOTHING


def parents_of(entries: _Entries, parents: _Parents, hidden: AbstractSet[str]) -> dict[str, str]:
    """Map each message that is not hidden to the one it follows; ``""`` for a first one."""
    found: dict[str, str] = {}
    shown: dict[int, str] = {NOTHING: ""}
    before = NOTHING
    for place, entry in enumerate(entries):
        if isinstance(entry, Reset):
            before = NOTHING
        if entry is None or isinstance(entry, Message):
            parent = shown[parents.get(place, before)]
            before = place
            if entry is None or entry.id in hidden:
                shown[place] = parent
            else:
                found[entry.id], shown[place] = parent, entry.id
    return found


class Version(msgspec.Struct, frozen=True):
    """The place of a message among its versions, such as 2 of 3."""

    number: int
    count: int


def numbered(versions: Versions) -> Mapping[str, Version]:
    """Number each message among its versions."""
    groups = {id(group): group for group in versions.values()}.values()
    return {
        message_id: Version(number, len(group))
        for group in groups
        for number, message_id in enumerate(group, 1)
    }


def versions_json(versions: Versions, message_id: str) -> dict[str, tuple[str, ...]]:
    """The field with the ids of a message's versions; of many, only the first one has it."""
    group = versions.get(message_id, ())
    is_named = group and (len(group) <= _MOST_NAMED or message_id == group[0])
    return {"versions": group} if is_named else {}


def with_new(versions: Versions, new: Iterable[tuple[str, str]]) -> Versions:
    """Add versions: pairs of a known message and the new version of it."""
    known = dict(versions)
    for beside, message_id in new:
        group = known.get(beside, (beside,))
        if message_id not in group:
            group = (*group, message_id)
        known |= dict.fromkeys(group, group)
    return known


Status = Literal["open", "closed", "archived", "trashed"]
Entry = Message | Reset | Summary
"""An item of a conversation."""


_FORK = "Fork: "


class Session(msgspec.Struct, frozen=True):
    """A session or its end, as much as was read; times are strings as in the file, in UTC."""

    header: SessionHeader
    name: str
    model: str
    prompt_count: int
    """All prompts, also those that were not read."""
    message_count: int
    """Messages since the last reset, also those that were not read; replaced ones do not count."""
    total_count: int
    """All messages of the file, also replaced ones and those before a reset."""
    entries: tuple[Entry, ...]
    """The part that was read, in the order of the file, without replaced messages."""
    live_from: int
    """The index in ``entries`` of the first entry after the last reset."""
    summary: Summary | None
    todos: tuple[TodoItem, ...]
    settings: Settings
    """The session's own settings; for those that it lacks the configuration's apply."""
    offsets: Offsets
    interrupted: tuple[Message, ...]
    """Answers among ``entries`` whose writer is gone: only their pieces are on disk.

    The next holder of the lease writes them as messages.
    """
    arriving: frozenset[str]
    """Ids of unfinished answers whose writer is still running."""
    updated_at: str | None
    last_used_at: str | None
    opened_at: str | None
    closed_at: str | None
    last_record_at: str | None
    damaged: int = 0
    """Records that could not be read."""
    everything: tuple[Entry, ...] = ()
    """Of a session with versions: ``entries`` and those of other versions, in file order.

    Empty if ``entries`` has all that was read.
    """
    parents: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """With ``everything``: for each message the one that it follows, ``""`` for a first one."""
    imported: Import | None = None
    """The count of what was imported, if that was read; ``SessionStore.load`` reads it."""

    @property
    def id(self) -> str:
        return self.header.id

    @property
    def loaded_messages(self) -> tuple[Message, ...]:
        """The messages after the last reset that were read; ``message_count`` counts all."""
        return tuple(e for e in self.entries[self.live_from :] if isinstance(e, Message))

    @property
    def all_messages(self) -> tuple[Message, ...]:
        """The messages that were read, also those before a reset and of other versions."""
        return tuple(e for e in self.everything or self.entries if isinstance(e, Message))

    @property
    def versions(self) -> Versions:
        """The messages that have other versions, as far as these were read."""
        followers: dict[tuple[int, str], list[str]] = {}
        resets = 0
        for entry in self.everything:
            resets += isinstance(entry, Reset)
            if isinstance(entry, Message):
                followers.setdefault((resets, self.parents[entry.id]), []).append(entry.id)
        groups = [tuple(group) for group in followers.values() if len(group) > 1]
        return {message_id: group for group in groups for message_id in group}

    def label(self, first_prompt: str) -> str:
        """The title in a list; a session of which only damage is left is not called empty."""
        summary = self.summary.text if self.summary else ""
        destroyed = self.damaged and not self.entries
        if first_prompt and self.header.forked_from and not first_prompt.startswith(_FORK):
            first_prompt = f"{_FORK}{first_prompt}"
        return label(self.name, summary, first_prompt, UNREADABLE if destroyed else EMPTY)

    def state(self, at: str) -> State:
        """The ``state`` record for this session, with counts that any reader accepts."""
        counts = self.prompt_count, self.message_count, self.total_count
        prompts, messages, total = (max(0, min(count, MOST)) for count in counts)
        return State(
            name=self.name,
            model=self.model,
            prompt_count=prompts,
            message_count=messages,
            total_count=total,
            updated_at=at,
            offsets=self.offsets,
        )


def title_question(messages: Iterable[Message]) -> str:
    """Find the question that titles a session: the first to a model, else the first at all.

    A question that only the built-in guide has answered was to no model. Where no question can be
    read, the first answer gives the title.
    """
    first, question, guided, said = "", "", False, ""
    for message in messages:
        match message.role:
            case "user" if message.title_text.strip():
                if question and not guided:
                    return question
                question, guided = message.title_text, False
                first = first or question
            case "assistant" if question:
                guided = is_guide(message.model)
                if not guided:
                    return question
            case "assistant":
                said = said or message.text.strip()
            case _:
                pass
    return first or said


class SessionEntry(msgspec.Struct, frozen=True):
    """A session in a list, read from the two ends of its file.

    Times are UTC strings with milliseconds, ``""`` if unknown. ``message_count`` counts messages
    after the last reset, ``damaged`` unreadable lines among those that were read.
    """

    id: str
    name: str
    label: str
    scope: str
    ordinal: int
    """The number in its scope: the 3 of ``#3``; 0 if unknown."""
    active: bool
    """The session that ``--continue`` opens in its scope."""
    project_path: str
    model: str
    created_at: str
    updated_at: str
    last_used_at: str
    closed_at: str | None
    message_count: int
    status: Status
    damaged: int = 0
    pinned: bool = False
    imported_from: str | None = None
    """Program and id of the original, such as ``claude-code:ID``; ``None`` for an own session."""

    @property
    def program(self) -> str:
        """The program that the session was imported from; empty for an own one."""
        return program_of(self.imported_from)


def describe(
    session: Session, first_prompt: str, status: Status, used: str, *, active: bool
) -> SessionEntry:
    """Make the entry of a session; ``used`` is its last use if its records have none."""
    header = session.header
    last_used = session.last_used_at or used
    return SessionEntry(
        id=header.id,
        name=session.name,
        label=session.label(first_prompt),
        scope=header.scope,
        ordinal=header.ordinal,
        active=active,
        project_path=header.project_path,
        model=session.model,
        created_at=header.created_at,
        updated_at=session.updated_at or session.last_record_at or last_used,
        last_used_at=last_used,
        closed_at=None if status == "open" else session.closed_at or session.last_record_at or None,
        message_count=session.message_count,
        status=status,
        damaged=session.damaged,
        pinned=session.settings.pinned,
        imported_from=header.imported_from,
    )


def program_of(imported_from: str | None) -> str:
    """The program of an ``imported_from``; empty for a name of a file, as of a rescue file."""
    program, colon, _ = (imported_from or "").partition(":")
    return program if colon else ""


class Holder(msgspec.Struct, frozen=True):
    """The process that has the lease of a session, or another lock."""

    pid: int
    host: str
    since: datetime | None
    is_here: bool = True
    """False on another machine, where its pid means nothing."""
    work: str = ""
    """What it does with a lock that is no lease, such as ``an import``."""

    def __str__(self) -> str:
        """Say where the session is open."""
        return f"in another window ({self.process})" if self.is_here else self._place

    @property
    def process(self) -> str:
        return f"pid {self.pid} {self._place}"

    @property
    def _place(self) -> str:
        since = f" since {self.since.astimezone():%Y-%m-%d %H:%M}" if self.since else ""
        return f"on {self.host}{since}"


class Stamp(msgspec.Struct, frozen=True):
    """A cheap version of a session's file, to notice changes by other programs."""

    place: str
    """Device and inode; if it is the same and the file no shorter, records were only appended."""
    length: int
    """In bytes."""
    changed: int
    """Time of the last change, in nanoseconds since 1970."""
    where: Status = "closed"
    """``closed`` for a session that is neither archived nor in the trash."""

    def goes_on_from(self, other: "Stamp | None") -> bool:
        """True if records were only appended since ``other``."""
        return other is not None and self.place == other.place and self.length >= other.length


class Draft(msgspec.Struct, frozen=True):
    """The unsent text of a session's prompt, and its queue."""

    session_id: str
    scope: str
    project_path: str
    text: str
    queued: tuple[str, ...] = ()
    folded: tuple[tuple[Count, Count], ...] = ()
    """Pastes shown as one mark: begin and end in ``text``."""
    references: tuple[str, ...] = ()
    """The words in text and queue that refer to files; all others, as those of a paste, do not."""

    @property
    def pastes(self) -> tuple[str, ...]:
        """The texts of the folded pastes."""
        return tuple(filter(None, (self.text[start:end] for start, end in self.folded)))

    @property
    def empty(self) -> bool:
        return not self.text and not self.queued


class Tail(msgspec.Struct, frozen=True):
    """The end of a session; ``cursor`` leads to the page before, ``None`` at the beginning."""

    session: Session
    cursor: str | None


class Page(msgspec.Struct, frozen=True):
    """A slice of a conversation, in the order of the file."""

    entries: tuple[Entry, ...]
    cursor: str | None
    """Leads to the next page; ``None`` after the last."""
    damaged: int = 0
    replaced: frozenset[str] = frozenset()
    """Ids of messages that those of this page replace, on whatever page they are."""


class Surroundings(msgspec.Struct, frozen=True):
    """A message and the entries around it, in the order of the file.

    ``earlier`` and ``later`` are cursors; ``None`` at the beginning and the end of the session.
    """

    entries: tuple[Entry, ...]
    earlier: str | None
    later: str | None
    damaged: int = 0
    aside: bool = False
    """True for a version that is not live: its end is not that of the session."""


def joined(entries: Sequence[Entry], later: Page) -> tuple[Entry, ...]:
    """Append a page; a message that it has again is updated, one that it replaces removed."""
    newer = {entry.id: entry for entry in later.entries if isinstance(entry, Message)}
    kept = [newer.get(e.id, e) if isinstance(e, Message) else e for e in entries]
    known = {entry.id for entry in kept if isinstance(entry, Message)} | later.replaced
    added = [e for e in later.entries if not (isinstance(e, Message) and e.id in known)]
    shown = [e for e in kept if not (isinstance(e, Message) and e.id in later.replaced)]
    return (*shown, *added)
