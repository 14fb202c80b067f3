"""A store in memory: it keeps the protocol's promises as long as its process runs.

It shows what the protocol asks of a backend. Records are encoded and decoded, so that it refuses
the same records as a file, and returns the same.
"""

import os
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from tui.domain.imports import ImportLine, came_from
from tui.domain.journal.counts import CountedRequest, counted_requests
from tui.domain.journal.fold import Fold
from tui.domain.journal.ids import SESSION_NUMBERS, checked_id, new_session_id
from tui.domain.journal.message import Message
from tui.domain.journal.records import VERSION, Encoded, Partial, Record, Restored, SessionHeader
from tui.domain.journal.session import (
    Holder,
    Page,
    Session,
    SessionEntry,
    Stamp,
    Status,
    Surroundings,
    Tail,
    title_question,
)
from tui.domain.journal.versions import Versions
from tui.domain.moves import Batch, Move, Place
from tui.domain.targets import resolve
from tui.domain.timestamps import (
    MILLISECOND_NS,
    format_milliseconds,
    format_utc,
    parse_utc,
    utc_now,
)
from tui.errors import (
    AttachmentNotFound,
    MessageNotFound,
    NewerVersion,
    ReadOnly,
    SessionBusy,
    SessionDamaged,
    SessionExists,
    SessionNotFound,
    StorageError,
)
from tui.storage.attachments import checked_hash, only_match, used_pictures
from tui.storage.beginning import Beginning
from tui.storage.directory import describe, describe_unreadable
from tui.storage.journal_window import entry_id
from tui.storage.memory_shelf import (
    Box,
    MemoryCatalog,
    MemoryLease,
    MemoryShelf,
    Order,
    as_read,
    entries_after,
    entries_around,
    last_messages,
    messages_since,
    order_text,
    places_of,
    read_order,
    read_place,
)
from tui.storage.moves import new_batch
from tui.storage.protocol import FINDABLE, Appended, Lease, Listing, SessionFilter
from tui.storage.protocol import Order as ListOrder
from tui.storage.writer import last_use

if TYPE_CHECKING:
    from tui.domain.search.query import SearchResult

_SECOND = 1_000_000_000
_PINNED = 1 << 64
_PLACES: dict[Status, Place] = {
    "open": "sessions",
    "closed": "sessions",
    "archived": "archive",
    "trashed": "trash",
}


class MemoryStore:
    """A store of lists: one list of records a session."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self.shelf = MemoryShelf()
        self._clock = clock

    # --- holding

    def create(
        self,
        scope: str,
        project_path: str,
        model: str,
        *,
        session_id: str | None = None,
        created_at: str | None = None,
        forked_from: str | None = None,
        imported_from: str | None = None,
    ) -> Lease:
        created = created_at or format_utc(self._clock())
        beginning = Beginning(scope, project_path, model, created, forked_from, imported_from)
        header = beginning.header(session_id if session_id is not None else self._new_id())
        lease = self._take(header)
        if header.id in self.shelf.boxes:
            lease.release()
            raise SessionExists(header.id)
        return lease

    def lease(self, session_id: str) -> Lease:
        box = self._box(session_id, "closed", "archived")
        lease = self._take(box.header, known=len(box.records))
        try:
            self._readable(session_id)
            if box.header.version > VERSION:
                raise NewerVersion(session_id, box.header.version)
        except StorageError:
            lease.release()
            raise
        return lease

    def obstacles(self) -> tuple[str, ...]:
        return ()

    def holder(self, session_id: str) -> Holder | None:
        lease = self.shelf.leases.get(checked_id(session_id))
        return lease.holder if lease else None

    # --- writing

    def append(
        self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()
    ) -> Appended:
        held = self._own(lease)
        if not records:
            return Appended(held.header.ordinal)
        new = as_read(held.session_id, records, lines)
        self._note_pictures(held.session_id, new)
        if held.session_id not in self.shelf.boxes:
            self._publish(held)
        box = self._readable(held.session_id)
        if box.place == "trashed":
            raise SessionNotFound(held.session_id)
        return self._add(held, box, new)

    def add_imported(
        self,
        header: SessionHeader,
        records: Iterable[Encoded],
        *,
        active: bool = False,
    ) -> None:
        if checked_id(header.id) in self.shelf.boxes:
            raise SessionExists(header.id)
        made = list(records)
        new = as_read(header.id, [record for record, _ in made], [line for _, line in made])
        self._note_pictures(header.id, new)
        if header.ordinal:
            owner = self.shelf.numbers.setdefault((header.scope, header.ordinal), header.id)
            header = msgspec.structs.replace(header, ordinal=header.ordinal * (owner == header.id))
        if active:
            self.shelf.active.setdefault(header.scope, header.id)
        self.shelf.boxes[header.id] = Box(header, new, last_use(new) or self._now_ns(), "archived")

    def extend(self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()) -> None:
        held = self._own(lease)
        new = as_read(held.session_id, records, lines)
        box = self._readable(held.session_id)
        if box.place == "trashed":
            raise SessionNotFound(held.session_id)
        self._note_pictures(held.session_id, new)
        box.records += new
        box.used_ns = max(last_use(new) or 0, box.used_ns)
        held.known = len(box.records)

    def add_attachment(self, session_id: str, data: bytes) -> str:
        sha256 = checked_hash(data)
        self.shelf.pictures[sha256] = data
        self.shelf.uses.add((sha256, checked_id(session_id)))
        return sha256

    def attachment(self, session_id: str, sha256: str) -> bytes:  # noqa: ARG002 - all share them
        try:
            return self.shelf.pictures[sha256]
        except KeyError as error:
            raise AttachmentNotFound(sha256) from error

    def find_attachment(self, session_id: str, prefix: str) -> str:  # noqa: ARG002 - all share them
        return only_match(prefix, self.shelf.pictures)

    def imports(self, naming: str = "") -> Iterator[ImportLine]:
        return (each for each in self.shelf.imports if not naming or came_from(naming, [each]))

    def note_imports(self, lines: Sequence[ImportLine]) -> None:
        self.shelf.imports += lines

    def pictures(self, session_id: str) -> Sequence[bytes]:
        """The pictures that a session uses."""
        used = [sha256 for sha256, user in self.shelf.uses if user == session_id]
        return [self.shelf.pictures[each] for each in used if each in self.shelf.pictures]

    def contents(self, lease: Lease) -> tuple[SessionHeader, Sequence[Record]]:
        """The header and the records of a session that this program holds."""
        held = self._own(lease)
        box = self.shelf.boxes.get(held.session_id)
        return held.header, tuple(box.records) if box else ()

    def forget(self, lease: Lease) -> None:
        """Destroy a session and its lease; does nothing if it is gone."""
        self.shelf.boxes.pop(lease.session_id, None)
        self._forget_pictures(lease.session_id)
        lease.release()

    # --- reading

    def load(self, session_id: str) -> Session:
        return self._fold(session_id).session(held=self._is_held(session_id))

    def versions(self, session_id: str) -> Versions:
        return self.load(session_id).versions

    def tail(self, session_id: str, count: int, last: str | None = None) -> Tail:
        session = self.load(session_id) if last is None else self._up_to(session_id, last)
        kept = last_messages(session.entries[session.live_from :], count)
        records = self._box(session_id).records
        place = places_of(records)(kept[0]) if kept else len(records)
        all_kept = len(kept) == len(session.entries)
        return Tail(
            msgspec.structs.replace(session, entries=kept, live_from=0),
            None if all_kept else str(place),
        )

    def records(self, session_id: str) -> Iterator[Record]:
        box = self._readable(session_id)
        yield box.header
        yield from box.records

    def requests(self, session_id: str) -> tuple[CountedRequest, ...]:
        box = self._readable(session_id)
        return counted_requests([box.header, *box.records])

    def page(self, session_id: str, cursor: str, count: int) -> Page:
        records = self._readable(session_id).records
        end = read_place(cursor, len(records))
        place = places_of(records)
        entries = self._version_at(session_id, end).entries
        earlier = tuple(entry for entry in entries if place(entry) < end)
        kept = last_messages(earlier, count)
        all_kept = len(kept) == len(earlier)
        return Page(kept, None if all_kept else str(place(kept[0]) if kept else end))

    def around(self, session_id: str, message_id: str, before: int, after: int) -> Surroundings:
        session, records = self.load(session_id), self._box(session_id).records
        if message_id in {message.id for message in session.loaded_messages}:
            return entries_around(session, records, message_id, before, after)
        end = self._last_live(session_id, message_id)
        if end is None:
            return entries_around(session, records, message_id, before, after)
        earlier = self._fold(session_id, end).session()
        around = entries_around(earlier, records[:end], message_id, before, after)
        later = around.later and f"{around.later} {end}"
        return msgspec.structs.replace(around, later=later, aside=True)

    def page_after(self, session_id: str, cursor: str, count: int) -> Page:
        place, _, end = cursor.partition(" ")
        records = self._readable(session_id).records
        begin = read_place(place, len(records))
        if not end:
            return entries_after(self.load(session_id).entries, records, begin, count)
        records = records[: read_place(end, len(records))]
        entries = self._fold(session_id, len(records)).session().entries
        page = entries_after(entries, records, begin, count)
        return msgspec.structs.replace(page, cursor=page.cursor and f"{page.cursor} {end}")

    def stamp(self, session_id: str) -> Stamp:
        box = self._readable(session_id)
        return Stamp(str(box.serial), len(box.records), 0, box.place)

    def watch(self, changed: Callable[[str], None]) -> bool:  # noqa: ARG002 - nothing tells it
        return False

    def since(self, session_id: str, message_id: str | None) -> tuple[Message, ...]:
        return messages_since(self.load(session_id), message_id)

    def list(self, wanted: SessionFilter, cursor: str | None, limit: int) -> Listing:
        after = read_order(cursor) if cursor is not None else None
        found = [
            (order, session_id)
            for order, session_id in self.ordered(wanted)
            if after is None or order > after
        ]
        page = found[:limit]
        more = order_text(page[-1][0]) if page and len(found) > limit else None
        return Listing(tuple(self.entry(session_id) for _, session_id in page), more)

    def count(self, wanted: SessionFilter) -> int:
        return len(self.ordered(wanted))

    def entries(self, session_ids: Iterable[str]) -> tuple[SessionEntry, ...]:
        return tuple(self.entry(each) for each in session_ids if each in self.shelf.boxes)

    def entry(self, session_id: str) -> SessionEntry:
        box = self._box(session_id)
        status = self._status(session_id)
        used = _used(box)
        scope = box.header.scope
        active = box.place == "closed" and self.active(scope) == session_id
        if box.damage is not None:
            return describe_unreadable(box.header, status, used, active=active)
        session = self.load(session_id)
        return describe(session, title_question(session.all_messages), status, used, active=active)

    def is_archived(self, session_id: str) -> bool:
        return self._box(session_id).place == "archived"

    def location(self, session_id: str) -> str:
        self._box(session_id)
        return f"memory:{session_id}"

    def resolve(
        self,
        target: str,
        scope: str,
        *,
        listed: Sequence[str] = (),
        wanted: SessionFilter | None = None,
    ) -> str:
        ids = [session_id for _, session_id in self.ordered(wanted or FINDABLE)]
        catalog = MemoryCatalog(self.shelf, ids, lambda session_id: self.entry(session_id).name)
        return resolve(target, scope, catalog, listed)

    def search(
        self,
        query: str,
        limit: int,
        *,
        seconds: float = 0.2,
        wanted: Callable[[], bool] | None = None,
    ) -> "SearchResult":
        from tui.domain.search.query import source_of, with_sessions
        from tui.storage.memory_search import search_boxes

        found = search_boxes(self.shelf.boxes, query, limit, seconds, wanted)
        named = came_from(source_of(query), self.shelf.imports)
        return with_sessions(found, self.entries(named), limit)

    # --- moving

    def delete(self, session_id: str, batch: Batch | None = None) -> None:
        with self._borrowed(session_id, "closed", "archived") as box:
            self._move(box, "trashed", batch)

    def archive(self, session_id: str, batch: Batch | None = None) -> None:
        with self._borrowed(session_id, "closed") as box:
            self._move(box, "archived", batch)

    def restore(self, session_id: str, batch: Batch | None = None) -> None:
        with self._borrowed(session_id, "archived", "trashed") as box:
            undone = batch is not None and batch.is_undo
            if box.header.version <= VERSION and not undone:
                self._number(box)
                restored = Restored(at=self._now())
                box.records.append(restored)
                self.shelf.leases[session_id].known += 1
                box.used_ns = max(box.used_ns, last_use([restored]) or 0)
            self._move(box, "closed", batch)

    def purge(self, session_id: str) -> None:
        with self._borrowed(session_id, "trashed"):
            del self.shelf.boxes[session_id]
            self._forget_pictures(session_id)
            self.shelf.leases[session_id].release()

    def moves(self) -> tuple[Move, ...]:
        return tuple(self.shelf.moves)

    # --- scopes

    def set_active(self, scope: str, session_id: str) -> None:
        self.shelf.active[scope] = checked_id(session_id)

    def active(self, scope: str) -> str | None:
        chosen = self.shelf.active.get(scope, "")
        box = self.shelf.boxes.get(chosen)
        if box is not None and box.place == "closed":
            return chosen
        kept = next((key for _, key in self.ordered(SessionFilter(scope=scope))), None)
        is_imported = box and all(move.id != chosen for move in self.shelf.moves)
        return kept or (chosen if is_imported else None)

    # --- within

    def _note_pictures(self, session_id: str, records: Iterable[Record]) -> None:
        self.shelf.uses.update((sha256, session_id) for sha256 in used_pictures(records))

    def _forget_pictures(self, session_id: str) -> None:
        self.shelf.uses = {use for use in self.shelf.uses if use[1] != session_id}
        used = {sha256 for sha256, _ in self.shelf.uses}
        for sha256 in self.shelf.pictures.keys() - used:
            del self.shelf.pictures[sha256]

    def _fold(self, session_id: str, end: int | None = None) -> Fold:
        box = self._readable(session_id)
        fold = Fold(box.header)
        for record in box.records[:end]:
            fold.add(record)
        return fold

    def _is_held(self, session_id: str) -> bool:
        # Before the holder's first append, unfinished answers are an earlier holder's.
        lease = self.shelf.leases.get(session_id)
        return lease is not None and (lease.written or lease.program is not self)

    def _up_to(self, session_id: str, last: str) -> Session:
        try:
            return self._fold(session_id).up_to(last, held=self._is_held(session_id))
        except LookupError as error:
            raise MessageNotFound(session_id, last) from error

    def _version_at(self, session_id: str, place: int) -> Session:
        """Read the version that the message with a record at a place belongs to."""
        session, records = self.load(session_id), self._box(session_id).records
        at_place = entry_id(records[place]) if place < len(records) else None
        live = {message.id for message in session.loaded_messages}
        if at_place is None or at_place in live:
            return session
        end = self._last_live(session_id, at_place)
        return session if end is None else self._fold(session_id, end).session()

    def _last_live(self, session_id: str, message_id: str) -> int | None:
        """Count the records up to the point where a message of another version was last live."""
        box = self._readable(session_id)
        fold, found = Fold(box.header), None
        for place, record in enumerate(box.records):
            if isinstance(record, Message | Partial) and record.after is not None:
                live = {message.id for message in fold.session().loaded_messages}
                found = place if message_id in live else found
            fold.add(record)
        return found

    def ordered(self, wanted: SessionFilter) -> Sequence[tuple["Order", str]]:
        """List the sessions that a filter passes, each with its sort key."""
        return sorted(
            ((-self._rank(session_id, wanted.order), session_id), session_id)
            for session_id, box in list(self.shelf.boxes.items())
            if self._status(session_id) in wanted.statuses
            and wanted.scope in (None, box.header.scope)
            and (wanted.used_before is None or _used(box) < wanted.used_before)
        )

    def _rank(self, session_id: str, order: ListOrder) -> int:
        box = self._box(session_id)
        if order == "used" or box.damage is not None:
            return box.used_ns
        entry = self.entry(session_id)
        if order == "closed":
            closed = parse_utc(entry.closed_at)
            return int(closed.timestamp() * _SECOND) if closed else 0
        return box.used_ns + (_PINNED if entry.pinned else 0)

    def _now_ns(self) -> int:
        return int(self._clock().timestamp() * _SECOND)

    def _now(self) -> str:
        return format_utc(self._clock())

    def _new_id(self) -> str:
        while True:
            name = new_session_id(self._clock(), secrets.randbelow(SESSION_NUMBERS))
            if name not in self.shelf.boxes and name not in self.shelf.leases:
                return name

    def _box(self, session_id: str, *places: Status) -> Box:
        box = self.shelf.boxes.get(checked_id(session_id))
        if box is None or (places and box.place not in places):
            raise SessionNotFound(session_id)
        return box

    def _readable(self, session_id: str) -> Box:
        box = self._box(session_id)
        if box.damage is not None:
            raise SessionDamaged(session_id, box.damage)
        return box

    def _status(self, session_id: str) -> Status:
        place = self._box(session_id).place
        return "open" if place == "closed" and session_id in self.shelf.leases else place

    def _take(self, header: SessionHeader, known: int = 0) -> MemoryLease:
        other = self.shelf.leases.get(checked_id(header.id))
        if other is not None:
            raise SessionBusy(header.id, str(other.holder))
        holder = Holder(os.getpid(), "memory", self._clock())
        lease = MemoryLease(header.id, self.shelf, self, holder, header, known)
        self.shelf.leases[header.id] = lease
        return lease

    def _own(self, lease: Lease) -> MemoryLease:
        held = self.shelf.leases.get(lease.session_id)
        if held is not lease or held is None or held.program is not self:
            raise ReadOnly(lease.session_id)
        return held

    @contextmanager
    def _borrowed(self, session_id: str, *places: Status) -> Generator[Box]:
        """Lease a session for one operation, unless this program has a lease already."""
        box = self._box(session_id, *places)
        held = self.shelf.leases.get(session_id)
        if held is not None and held.program is self:
            yield box
            return
        lease = self._take(box.header)
        try:
            yield box
        finally:
            lease.release()

    def _move(self, box: Box, place: Status, batch: Batch | None) -> None:
        batch = batch or new_batch("user")
        source, box.place = _PLACES[box.place], place
        move = Move(box.header.id, source, _PLACES[place], self._now(), batch.reason, batch.id)
        self.shelf.moves.append(move)

    def _publish(self, lease: MemoryLease) -> None:
        header = lease.header
        if lease.written:
            raise SessionDamaged(header.id, "its records are gone")
        lease.header = self._numbered(header)
        self.shelf.active[header.scope] = header.id
        self.shelf.boxes[header.id] = Box(lease.header, [], 0)

    def _number(self, box: Box) -> None:
        """Give a session its number if it was imported, and has none yet."""
        if not box.header.ordinal:
            box.header = self._numbered(box.header)

    def _numbered(self, header: SessionHeader) -> SessionHeader:
        with self.shelf.numbering:
            used = [number for scope, number in self.shelf.numbers if scope == header.scope]
            ordinal = max(used, default=0) + 1
            self.shelf.numbers[header.scope, ordinal] = header.id
        return msgspec.structs.replace(header, ordinal=ordinal)

    def _add(self, lease: MemoryLease, box: Box, new: Sequence[Record]) -> Appended:
        self._number(box)
        if box.place == "archived":
            box.place, lease.unmarked_restore = "closed", True
        restored, lease.unmarked_restore = lease.unmarked_restore, False
        foreign = tuple(box.records[lease.known :])
        added = [Restored(at=self._now()), *new] if restored else new
        # Without a time in its first records, the session was used now.
        box.used_ns = max(last_use(added) or 0, box.used_ns) or self._now_ns()
        box.records += added
        lease.known, lease.written = len(box.records), True
        return Appended(box.header.ordinal, restored, foreign)


def _used(box: Box) -> str:
    return format_milliseconds(box.used_ns // MILLISECOND_NS)
