"""The data of a ``MemoryStore``, and functions that read it."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, count, repeat

import msgspec

from tui.domain.imports import ImportLine, came_from
from tui.domain.journal.ids import is_session_id
from tui.domain.journal.message import Message
from tui.domain.journal.records import DamagedRecord, Partial, Record, SessionHeader, decode, encode
from tui.domain.journal.session import Entry, Holder, Page, Session, Status, Surroundings
from tui.domain.moves import Move
from tui.errors import MessageNotFound, StorageError
from tui.storage.journal_window import entry_id

Order = tuple[int, str]
"""A session's place in a list: newest use first, then by id."""


class MemoryLease(msgspec.Struct, eq=False):
    """The right to append; ``known`` is how many of the session's records its holder knows."""

    session_id: str
    shelf: "MemoryShelf"
    program: object
    holder: Holder
    header: SessionHeader
    known: int = 0
    unmarked_restore: bool = False
    written: bool = False

    @property
    def held(self) -> bool:
        return self.shelf.leases.get(self.session_id) is self

    def release(self) -> None:
        if self.held:
            del self.shelf.leases[self.session_id]


class Box(msgspec.Struct):
    """One session: its header, its further records, and its place."""

    header: SessionHeader
    records: list[Record]
    used_ns: int
    place: Status = "closed"
    damage: str | None = None
    serial: int = msgspec.field(default_factory=count().__next__)
    """Of this session, also where another one had its id before."""


class MemoryShelf(msgspec.Struct):
    """The sessions, leases and numbers that programs share, like a data directory."""

    numbering: threading.Lock = msgspec.field(default_factory=threading.Lock)

    boxes: dict[str, Box] = msgspec.field(default_factory=dict[str, Box])
    leases: dict[str, MemoryLease] = msgspec.field(default_factory=dict[str, MemoryLease])
    numbers: dict[tuple[str, int], str] = msgspec.field(default_factory=dict[tuple[str, int], str])
    active: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    moves: list[Move] = msgspec.field(default_factory=list[Move])
    imports: list[ImportLine] = msgspec.field(default_factory=list[ImportLine])
    pictures: dict[str, bytes] = msgspec.field(default_factory=dict[str, bytes])
    """By their hash."""
    uses: set[tuple[str, str]] = msgspec.field(default_factory=set[tuple[str, str]])
    """Pictures, each with a session that uses it."""


def as_read(
    session_id: str, records: Sequence[Record], lines: Sequence[bytes] = ()
) -> list[Record]:
    """Encode and decode records, as a file would. Raises ``StorageError`` as writing does."""
    try:
        known = zip(records, chain(lines, repeat(b"")), strict=False)
        read = [decode((line or encode(record)).removesuffix(b"\n")) for record, line in known]
    except DamagedRecord as error:
        raise StorageError(f"Cannot save session {session_id}: a record {error}") from error
    return [record for record in read if record is not None]


def last_messages(entries: tuple[Entry, ...], count: int) -> tuple[Entry, ...]:
    """Take the entries from the ``count``-th last message on."""
    places = [place for place, entry in enumerate(entries) if isinstance(entry, Message)]
    if len(places) <= count:
        return entries
    return entries[places[-count] :] if count else ()


def entries_around(
    session: Session, records: Sequence[Record], message_id: str, before: int, after: int
) -> Surroundings:
    entries = session.entries
    ids = [entry.id if isinstance(entry, Message) else None for entry in entries]
    if message_id not in ids:
        raise MessageNotFound(session.id, message_id)
    end, place = ids.index(message_id) + 1, places_of(records)
    kept = last_messages(entries[:end], before + 1)
    begin = place(entries[end]) if end < len(entries) else len(records)
    later = entries_after(entries[end:], records, begin, after)
    earlier = None if len(kept) == end else str(place(kept[0]))
    return Surroundings((*kept, *later.entries), earlier, later.cursor)


def messages_since(session: Session, message_id: str | None) -> tuple[Message, ...]:
    """Take the live messages after one of them, or from the last that a version has in common."""
    ids = [message.id for message in session.loaded_messages]
    if message_id in ids:
        return session.loaded_messages[ids.index(message_id) + 1 :]
    while message_id and message_id not in ids:
        message_id = session.parents.get(message_id)
    return session.loaded_messages[ids.index(message_id) if message_id else 0 :]


def entries_after(
    entries: tuple[Entry, ...], records: Sequence[Record], begin: int, count: int
) -> Page:
    """Take the entries that have a record from a place on, up to ``count`` messages."""
    place = places_of(records, begin)
    later = sorted((each for each in entries if place(each) >= begin), key=place)
    places = [place(each) for each in later if isinstance(each, Message)]
    end = places[count] if len(places) > count else len(records)
    read = [each for each in records[begin:end] if isinstance(each, Message | Partial)]
    return Page(
        tuple(each for each in later if place(each) < end),
        str(end) if end < len(records) else None,
        replaced=frozenset(each.replaces for each in read if each.replaces),
    )


def places_of(records: Sequence[Record], begin: int = 0) -> Callable[[Entry], int]:
    """Make a function from an entry to the place of its first record, -1 if it has none."""
    places: dict[str | int, int] = {}
    for place, record in enumerate(records[begin:], begin):
        places.setdefault(entry_id(record) or id(record), place)
    return lambda entry: places.get(entry.id if isinstance(entry, Message) else id(entry), -1)


def read_place(cursor: str, end: int) -> int:
    plain = cursor.isascii() and cursor.isdigit() and len(cursor) <= len(str(end))
    if not (plain and int(cursor) <= end):
        raise StorageError("This page no longer exists: its cursor is invalid.")
    return int(cursor)


def order_text(order: Order) -> str:
    return f"{order[0]} {order[1]}"


def read_order(cursor: str) -> Order:
    time, _, session_id = cursor.partition(" ")
    if not (time.removeprefix("-").isdecimal() and is_session_id(session_id)):
        raise StorageError("This list cannot be continued: its cursor is invalid.")
    return int(time), session_id


class MemoryCatalog:
    """A ``tui.domain.targets.Catalog`` of a store."""

    def __init__(
        self, shelf: MemoryShelf, ids: Sequence[str], name_of: Callable[[str], str | None]
    ) -> None:
        self._shelf, self._ids, self._name_of = shelf, ids, name_of

    def has(self, session_id: str) -> bool:
        return session_id in self._shelf.boxes

    def beginning(self, prefixes: tuple[str, ...]) -> Iterable[str]:
        return [each for each in self._ids if each.startswith(prefixes)]

    def numbered(self, scope: str, ordinal: int) -> str | None:
        session_id = self._shelf.numbers.get((scope, ordinal))
        box = self._shelf.boxes.get(session_id or "")
        is_its = box is not None and (box.header.scope, box.header.ordinal) == (scope, ordinal)
        return session_id if is_its else None

    def scopes(self) -> Collection[str]:
        return {scope for scope, _ in self._shelf.numbers}

    def named(self, name: str) -> Iterable[str]:
        return [key for key in self._ids if self._name_of(key) == name]

    def imported(self, name: str) -> Iterable[str]:
        return came_from(name, self._shelf.imports)

    def newest(self, count: int) -> Sequence[str]:
        return self._ids[:count]

    def newest_names(self, count: int) -> Mapping[str, str]:
        newest = [(self._name_of(key), key) for key in self._ids[:count]]
        return {name: key for name, key in reversed(newest) if name}
