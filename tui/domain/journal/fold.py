"""The fold: journal records, in the order of the file, become one session."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    NO_OFFSETS,
    Closed,
    Offsets,
    Opened,
    Partial,
    Record,
    Reset,
    Restored,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
)
from tui.domain.journal.session import Entry, Session
from tui.domain.journal.todo import TodoItem
from tui.domain.timestamps import parse_utc


class _Chain(msgspec.Struct):
    """The ``partial`` records of one unfinished answer."""

    first: Partial
    pieces: list[tuple[str, int]] = msgspec.field(default_factory=list[tuple[str, int]])
    """Each piece with the number of its characters that count."""
    length: int = 0
    """In characters."""

    def add(self, piece: Partial) -> None:
        # A piece that was written twice, after a failed sync, overlaps: it counts from its ``at``.
        while self.length > piece.at:
            text, counted = self.pieces.pop()
            self.length -= counted
            if self.length < piece.at:
                self._append(text, piece.at - self.length)
        self._append(piece.text, len(piece.text))

    def _append(self, text: str, counted: int) -> None:
        self.pieces.append((text, counted))
        self.length += counted

    @property
    def text(self) -> str:
        """The answer so far; joined once, because joining at every piece is quadratic."""
        return "".join(text[:counted] for text, counted in self.pieces)

    def message(self, *, status: str | None) -> Message:
        return Message(
            id=self.first.message_id,
            role=self.first.role or "assistant",
            content=self.text,
            timestamp=self.first.timestamp or "",
            status=status,
            model=self.first.model,
            replaces=self.first.replaces,
        )


class Fold(msgspec.Struct):
    """Accumulates records into a session.

    From the first line on, the counts are exact. From the middle of a file (``whole`` is false),
    they are those of the last ``state`` record plus the records after it.
    """

    header: SessionHeader
    whole: bool = True
    name: str = ""
    model: str = ""
    prompt_count: int = 0
    message_count: int = 0
    total_count: int = 0
    summary: Summary | None = None
    todos: tuple[TodoItem, ...] = ()
    settings: Settings = msgspec.field(default_factory=Settings)
    offsets: Offsets = NO_OFFSETS
    damaged: int = 0
    updated_at: str | None = None
    opened_at: str | None = None
    closed_at: str | None = None
    last_record_at: str | None = None
    _entries: list[Entry | None] = msgspec.field(default_factory=list[Entry | None])
    _places: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    _hidden: set[str] = msgspec.field(default_factory=set[str])
    _chains: dict[str, _Chain] = msgspec.field(default_factory=dict[str, _Chain])
    _live_from: int = 0
    _last_use: tuple[datetime, str] | None = None

    def __post_init__(self) -> None:
        self.model = self.model or self.header.model
        self.last_record_at = self.last_record_at or self.header.created_at

    @classmethod
    def continuing(cls, session: Session) -> "Fold":
        """Continue from a loaded session, to add records that were appended since."""
        fold = cls(
            session.header,
            whole=False,
            name=session.name,
            model=session.model,
            prompt_count=session.prompt_count,
            message_count=session.message_count,
            total_count=session.total_count,
            summary=session.summary,
            todos=session.todos,
            settings=session.settings,
            offsets=session.offsets,
            damaged=session.damaged,
            updated_at=session.updated_at,
            opened_at=session.opened_at,
            closed_at=session.closed_at,
            last_record_at=session.last_record_at,
        )
        fold._entries = list(session.entries)
        fold._live_from = session.live_from
        fold._note_use(session.last_used_at)
        fold._places = {
            entry.id: place
            for place, entry in enumerate(session.entries)
            if isinstance(entry, Message)
        }
        return fold

    def add(self, record: Record | None, offset: int | None = None) -> None:
        """Add the next record; ``offset`` is the position of its line in the file, in bytes."""
        match record:
            case Message():
                self._add_message(record)
            case Partial():
                self._add_partial(record)
            case State():
                self._add_state(record)
            case Summary():
                self.summary = record
                self._entries.append(record)
            case Todos():
                self.todos = record.items
            case Settings():
                self.settings = record
            case Reset():
                self._add_reset(record)
            case Opened() | Closed() | Restored():
                self._add_lease(record)
            case SessionHeader() | None:
                return
        self.offsets = self.offsets.following(record, offset)

    def seed(self, record: Summary | Todos | Settings) -> None:
        """Take a record that stands before the folded part of the file."""
        match record:
            case Summary():
                self.summary = record
            case Todos():
                self.todos = record.items
            case Settings():
                self.settings = record

    @property
    def replaced(self) -> frozenset[str]:
        """The ids of replaced messages, including those outside the folded part."""
        unfinished = self._unfinished(held=True).values()
        return frozenset(self._hidden).union(m.replaces for m in unfinished if m.replaces)

    def session(self, *, held: bool = False) -> Session:
        """The session as of the last record; more may be added afterwards.

        ``held`` says that a window has the lease, so that unfinished answers are arriving and not
        interrupted.
        """
        unfinished = self._unfinished(held=held)
        interrupted = () if held else tuple(unfinished.values())
        hidden = {message.replaces for message in unfinished.values() if message.replaces}
        entries, live_from = self._visible(unfinished, hidden | self._hidden)
        return Session(
            header=self.header,
            name=self.name,
            model=self.model,
            prompt_count=self.prompt_count,
            message_count=self.message_count + self._live_gain(interrupted, hidden),
            total_count=self.total_count + len(interrupted),
            entries=entries,
            live_from=live_from,
            summary=self.summary,
            todos=self.todos,
            settings=self.settings,
            offsets=self.offsets,
            interrupted=interrupted,
            arriving=frozenset(unfinished) if held else frozenset(),
            updated_at=self.updated_at,
            last_used_at=self._last_use[1] if self._last_use else None,
            opened_at=self.opened_at,
            closed_at=self.closed_at,
            last_record_at=self.last_record_at,
            damaged=self.damaged,
        )

    def _add_message(self, message: Message) -> None:
        self._chains.pop(message.id, None)
        self._note_use(message.timestamp)
        self.last_record_at = message.timestamp or self.last_record_at
        earlier = self._known(message.id)
        self._place(message.id, message)
        if earlier is None:
            self._count(message)
        if message.replaces and (earlier is None or earlier.replaces != message.replaces):
            self._hide(message.replaces)

    def _count(self, message: Message) -> None:
        self.total_count += 1
        self.prompt_count += message.role == "user"
        # An answer that began before a reset belongs before it.
        live = self._places[message.id] >= self._live_from
        self.message_count += live and message.id not in self._hidden

    def _add_partial(self, piece: Partial) -> None:
        if self._known(piece.message_id) is not None:
            return
        self._chains.setdefault(piece.message_id, _Chain(piece)).add(piece)
        self._place(piece.message_id, None)
        self.last_record_at = piece.timestamp or self.last_record_at

    def _known(self, message_id: str) -> Message | None:
        place = self._places.get(message_id)
        entry = self._entries[place] if place is not None else None
        return entry if isinstance(entry, Message) else None

    def _place(self, message_id: str, message: Message | None) -> None:
        place = self._places.setdefault(message_id, len(self._entries))
        if place == len(self._entries):
            self._entries.append(message)
        elif message is not None:
            self._entries[place] = message

    def _hide(self, message_id: str) -> None:
        self.message_count -= self._counted_live(message_id)
        self._hidden.add(message_id)

    def _counted_live(self, message_id: str) -> int:
        if message_id in self._hidden:
            return 0
        place = self._places.get(message_id)
        if place is None:
            # Before the folded part: it counted until it was replaced.
            return 0 if self.whole or self._live_from else 1
        return int(place >= self._live_from and self._entries[place] is not None)

    def _live_gain(self, interrupted: Sequence[Message], hidden: AbstractSet[str]) -> int:
        """The change of ``message_count`` by interrupted answers, which exist only as pieces."""
        if not interrupted:
            return 0
        gained = (m for m in interrupted if m.id not in hidden and m.id not in self._hidden)
        live = sum(self._places[message.id] >= self._live_from for message in gained)
        return live - sum(map(self._counted_live, hidden))

    def _add_state(self, state: State) -> None:
        self.name = state.name
        self.model = state.model or self.header.model
        self.prompt_count = state.prompt_count
        self.updated_at = self.last_record_at = state.updated_at
        if self.whole:
            return
        self.message_count = state.message_count
        self.total_count = state.total_count
        self.offsets = state.offsets

    def _add_reset(self, reset: Reset) -> None:
        self._entries.append(reset)
        self._live_from = len(self._entries)
        self.message_count = 0
        self.summary = None
        self.last_record_at = reset.at

    def _add_lease(self, record: Opened | Closed | Restored) -> None:
        self.last_record_at = record.at
        match record:
            case Opened(resumed=resumed):
                self.opened_at, self.closed_at = record.at, None
                if resumed:
                    self._note_use(record.at)
            case Closed():
                self.closed_at = record.at
            case Restored():
                self._note_use(record.at)

    def _note_use(self, at: str | None) -> None:
        moment = parse_utc(at)
        if at and moment and (self._last_use is None or moment > self._last_use[0]):
            self._last_use = moment, at

    def _unfinished(self, *, held: bool) -> dict[str, Message]:
        status = None if held else "interrupted"
        return {key: chain.message(status=status) for key, chain in self._chains.items()}

    def _visible(
        self, unfinished: Mapping[str, Message], hidden: AbstractSet[str]
    ) -> tuple[tuple[Entry, ...], int]:
        entries = list(self._entries)
        for message_id, message in unfinished.items():
            entries[self._places[message_id]] = message
        earlier = [e for e in entries[: self._live_from] if _shown(e, hidden)]
        live = [e for e in entries[self._live_from :] if _shown(e, hidden)]
        return tuple(e for e in (*earlier, *live) if e is not None), len(earlier)


def _shown(entry: Entry | None, hidden: AbstractSet[str]) -> bool:
    return entry is not None and not (isinstance(entry, Message) and entry.id in hidden)
