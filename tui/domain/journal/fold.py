"""The fold: journal records, in the order of the file, become one session."""

from bisect import bisect_left
from collections.abc import Generator, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import datetime

import msgspec

from tui.domain.journal.message import Message, damaged_blocks
from tui.domain.journal.records import (
    NO_OFFSETS,
    NO_SUMMARY,
    Closed,
    Import,
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
    Titled,
    Todos,
)
from tui.domain.journal.session import (
    NOTHING,
    Entry,
    Session,
    live_places,
    message_before,
    parents_of,
)
from tui.domain.journal.todo import TodoItem
from tui.domain.providers import is_guide
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
                self.pieces.append((text, piece.at - self.length))
                self.length = piece.at
        self.pieces.append((piece.text, len(piece.text)))
        self.length += len(piece.text)

    def message(self, *, status: str | None) -> Message:
        return Message(
            id=self.first.message_id,
            role=self.first.role or "assistant",
            # Joined once: at every piece it would take quadratic time.
            content="".join(text[:counted] for text, counted in self.pieces),
            timestamp=self.first.timestamp or "",
            status=status,
            model=self.first.model,
            replaces=self.first.replaces,
            after=self.first.after,
            after_at=self.first.after_at,
        )


class Fold(msgspec.Struct):
    """Accumulates records into a session.

    From the first line on, the counts are exact. From the middle of a file (``whole`` is false),
    they are those of the last ``state`` record plus the records after it.

    Each message follows the one before it in the file, or another one: then the conversation has
    several versions, and the one with the last message is live.
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
    imported: Import | None = None
    _entries: list[Entry | None] = msgspec.field(default_factory=list[Entry | None])
    _places: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    _hidden: set[str] = msgspec.field(default_factory=set[str])
    _chains: dict[str, _Chain] = msgspec.field(default_factory=dict[str, _Chain])
    _live_from: int = 0
    _parents: dict[int, int] = msgspec.field(default_factory=dict[int, int])
    """The place of each message that follows another one than that before it, and of that one."""
    _misplaced: set[str] = msgspec.field(default_factory=set[str])
    """Messages whose ``after`` names no message before them."""
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
            imported=session.imported,
        )
        fold._entries = list(session.everything or session.entries)
        resets = [place for place, each in enumerate(fold._entries) if isinstance(each, Reset)]
        fold._live_from = resets[-1] + 1 if resets else 0
        fold._record_use(session.last_used_at)
        fold._places = {
            entry.id: place
            for place, entry in enumerate(fold._entries)
            if isinstance(entry, Message)
        }
        for message_id, parent in session.parents.items():
            place, followed = fold._places[message_id], fold._places.get(parent, NOTHING)
            if followed != message_before(fold._entries, place):
                fold._parents[place] = followed
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
            case Summary() if is_guide(record.model):
                # Older versions let the guide summarise: shown, but no model's words.
                self._entries.append(record)
                return
            case Summary():
                self.summary = record
                if record != NO_SUMMARY:
                    self._entries.append(record)
            case Todos() | Settings() | Import():
                self.seed(record)
            case Titled():
                self.last_record_at = record.at
            case Reset():
                self._entries.append(record)
                self._live_from = len(self._entries)
                self.message_count = 0
                self.summary = None
                self.last_record_at = record.at
            case Opened():
                self.opened_at = self.last_record_at = record.at
                self.closed_at = None
                if record.resumed:
                    self._record_use(record.at)
            case Closed():
                self.closed_at = self.last_record_at = record.at
            case Restored():
                self.last_record_at = record.at
                self._record_use(record.at)
            case SessionHeader() | None:
                return
        self.offsets = self.offsets.following(record, offset)

    def seed(self, record: Summary | Todos | Settings | Import) -> None:
        """Take a record from before the folded part of the file."""
        match record:
            case Summary():
                self.summary = None if is_guide(record.model) else record
            case Todos():
                self.todos = record.items
            case Settings():
                self.settings = record
            case Import():
                self.imported = record

    @property
    def replaced(self) -> frozenset[str]:
        """The ids of replaced messages, including those outside the folded part."""
        begun = (chain.first.replaces for chain in self._chains.values())
        return frozenset(self._hidden).union(filter(None, begun))

    def session(self, *, held: bool = False) -> Session:
        """The session as of the last record; more may be added afterwards.

        ``held`` says that a window has the lease, so that unfinished answers are arriving and not
        interrupted.
        """
        status = None if held else "interrupted"
        unfinished = {key: chain.message(status=status) for key, chain in self._chains.items()}
        interrupted = () if held else tuple(unfinished.values())
        replaced = {message.replaces for message in unfinished.values() if message.replaces}
        hidden = replaced | self._hidden
        entries = list(self._entries)
        for message_id, message in unfinished.items():
            entries[self._places[message_id]] = message
        everything, parents = tuple[Entry, ...](), dict[str, str]()
        if self._parents:
            live = sorted(live_places(entries, self._parents))
            shown, live_from = _split(entries, live, self._live_from, hidden)
            everything = tuple(e for e in entries if e is not None and _shown(e, hidden))
            parents = parents_of(entries, self._parents, hidden)
        else:
            earlier = [e for e in entries[: self._live_from] if e and _shown(e, hidden)]
            newer = [e for e in entries[self._live_from :] if e and _shown(e, hidden)]
            shown, live_from = (*earlier, *newer), len(earlier)
        count = self._shown_live() if self.whole and self._parents else self.message_count
        if interrupted:
            # These exist only as pieces.
            gained = (message.id for message in interrupted if message.id not in hidden)
            count += sum(self._is_live(self._places[each]) for each in gained)
            count -= sum(map(self._counted_live, replaced))
        return Session(
            header=self.header,
            name=self.name,
            model=self.model,
            prompt_count=self.prompt_count,
            message_count=count,
            total_count=self.total_count + len(interrupted),
            entries=shown,
            live_from=live_from,
            summary=self.live_summary,
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
            everything=everything,
            parents=parents,
            imported=self.imported,
        )

    def up_to(self, message_id: str, *, held: bool = False) -> Session:
        """The session as it was when a message was the last one; ``""`` is before the first one.

        Raises ``LookupError`` if there is no such message since the last reset.
        """
        tip = self._places[message_id] if message_id else NOTHING
        if message_id and tip < self._live_from:
            raise LookupError(message_id)
        live = live_places(self._entries, self._parents, tip)
        entries, live_from = _split(self._entries, sorted(live), self._live_from, self._hidden)
        messages = [each for each in entries[live_from:] if isinstance(each, Message)]
        return msgspec.structs.replace(
            self.session(held=held),
            entries=entries,
            live_from=live_from,
            message_count=len(messages),
            summary=self._summary_among(live),
            interrupted=(),
            arriving=frozenset[str](),
            everything=(),
            parents={},
        )

    @property
    def live_summary(self) -> Summary | None:
        """The newest summary that ends at a live message."""
        if self._parents:
            return self._summary_among(live_places(self._entries, self._parents))
        return self.summary if self.summary and self.summary.through else None

    def summary_to_repeat(self) -> Summary | None:
        """The summary to write again when a new version makes an earlier one count.

        Readers of the end use the last one in the file; an empty one means that none counts.
        """
        counts = self.live_summary or NO_SUMMARY
        return None if counts == (self.summary or NO_SUMMARY) else counts

    def _summary_among(self, live: AbstractSet[int]) -> Summary | None:
        since_reset = self._entries[self._live_from :]
        found = [e for e in since_reset if isinstance(e, Summary) and not is_guide(e.model)]
        # One before the folded part, or that ends before that, is live.
        for summary in (*reversed(found), self.summary):
            if summary is None or not summary.through:
                continue
            place = self._places.get(summary.through)
            if place is None or place in live:
                return summary
        return None

    def _add_message(self, message: Message) -> None:
        self._chains.pop(message.id, None)
        self.damaged += damaged_blocks(message.content)
        self._record_use(message.timestamp)
        self.last_record_at = message.timestamp or self.last_record_at
        after = message.after
        parent = None if after is None else self._parent(message.id, after)
        if parent is None and not self._parents:
            self._take(message)
            return
        lost = self._counts_unread(message.replaces)
        with self._recounted(lost):
            self._take(message)
            if parent is not None:
                self._parents[self._places[message.id]] = parent

    def _take(self, message: Message) -> None:
        earlier = self._known(message.id)
        self._place(message.id, message)
        if earlier is None:
            self.total_count += 1
            self.prompt_count += message.role == "user"
            # An answer that began before a reset belongs before it.
            live = self._places[message.id] >= self._live_from
            self.message_count += live and message.id not in self._hidden
        if message.replaces and (earlier is None or earlier.replaces != message.replaces):
            self.message_count -= self._counted_live(message.replaces)
            self._hidden.add(message.replaces)

    def _add_partial(self, piece: Partial) -> None:
        if self._known(piece.message_id) is not None:
            return
        self._chains.setdefault(piece.message_id, _Chain(piece)).add(piece)
        self.last_record_at = piece.timestamp or self.last_record_at
        after = piece.after
        parent = None if after is None else self._parent(piece.message_id, after)
        if parent is None:
            self._place(piece.message_id, None)
            return
        with self._recounted():
            self._place(piece.message_id, None)
            self._parents[self._places[piece.message_id]] = parent

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

    def _parent(self, message_id: str, after: str) -> int | None:
        """The place of the message that one follows, unless that is the one before it."""
        place = self._places.get(message_id, len(self._entries))
        before = message_before(self._entries, place)
        parent = NOTHING if after == "" else self._places.get(after)
        if parent is None or parent >= place or (parent != NOTHING and parent < self._live_from):
            # Whoever folds a part has checked ``after``, perhaps without reading that message.
            self.damaged += self.whole and message_id not in self._misplaced
            self._misplaced.add(message_id)
            return None
        return None if parent == before else parent

    @contextmanager
    def _recounted(self, lost: int = 0) -> Generator[None]:
        """Count live messages again after a change; in a whole file that is done at the end."""
        if self.whole:
            yield
            return
        count, shown = self.message_count, self._shown_live()
        yield
        self.message_count = count + self._shown_live() - shown - lost

    def _shown_live(self) -> int:
        """Count the finished live messages that were read and are not hidden."""
        places = live_places(self._entries, self._parents)
        live = (self._entries[place] for place in places if place >= self._live_from)
        return sum(isinstance(each, Message) and each.id not in self._hidden for each in live)

    def _counts_unread(self, message_id: str | None) -> int:
        """1 if a message before the folded part counts, as it does until replaced; else 0."""
        if message_id is None or message_id in self._hidden or message_id in self._places:
            return 0
        return 0 if self.whole or self._live_from else 1

    def _counted_live(self, message_id: str) -> int:
        if message_id in self._hidden:
            return 0
        place = self._places.get(message_id)
        if place is None:
            return self._counts_unread(message_id)
        return int(self._is_live(place) and self._entries[place] is not None)

    def _is_live(self, place: int) -> bool:
        if place < self._live_from:
            return False
        return not self._parents or place in live_places(self._entries, self._parents)

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

    def _record_use(self, at: str | None) -> None:
        moment = parse_utc(at)
        if at and moment and (self._last_use is None or moment > self._last_use[0]):
            self._last_use = moment, at


def _split(
    entries: Sequence[Entry | None], places: Iterable[int], live_from: int, hidden: AbstractSet[str]
) -> tuple[tuple[Entry, ...], int]:
    """Take the entries at some places, and count those before the last reset."""
    shown = [place for place in places if _shown(entries[place], hidden)]
    taken = (entries[place] for place in shown)
    return tuple(e for e in taken if e is not None), bisect_left(shown, live_from)


def _shown(entry: Entry | None, hidden: AbstractSet[str]) -> bool:
    return entry is not None and not (isinstance(entry, Message) and entry.id in hidden)
