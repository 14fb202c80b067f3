"""Appends to a journal at the server: one statement, which checks the lease and is durable.

The answer of a commit can be lost. Each append has an id of its own, which its statement leaves in
the session's row: there it is found out whether it was made. Its records, which then come again,
are passed over.
"""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.records import NO_OFFSETS, Closed, Record, Restored, SessionHeader
from tui.domain.timestamps import format_utc, parse_utc, storable_ns
from tui.errors import LeaseLost, SessionDamaged, SessionNotFound, StorageError
from tui.storage.attachments import used_pictures
from tui.storage.branches import Branches
from tui.storage.journal_window import decoded
from tui.storage.lines import lines_forward
from tui.storage.postgres import numbers, pictures, words
from tui.storage.postgres.connection_pool import transaction
from tui.storage.postgres.leases import LEASE_SECONDS, Attempt, PostgresLease, ServerLeases
from tui.storage.postgres.pieces import PIECE, PieceReader, cut, insert
from tui.storage.postgres.rows import Place, Row, noted, row_of
from tui.storage.postgres.tables import moment_ns
from tui.storage.protocol import Appended
from tui.storage.writer import encode_lines, last_use

if TYPE_CHECKING:
    from psycopg import Connection

_APPEND = """
    with held as (
        update sessions set size = size + %(length)s, changed = changed + 1,
            last_append = %(append)s, used_ns = greatest(used_ns, %(used)s),
            closed_ns = greatest(closed_ns, %(closed)s), name = coalesce(%(name)s, name),
            name_words = coalesce(%(name_words)s, name_words),
            pinned = coalesce(%(pinned)s, pinned),
            leased_until = now() + make_interval(secs => %(seconds)s)
        where id = %(id)s and epoch = %(epoch)s and size = %(size)s and place = %(place)s
            and exists (select from pieces where session = %(id)s)
        returning id){said}
    insert into pieces select held.id, {piece} returning at
"""
# The usual one: an array of one piece would take a fifth of the commit.
_PIECE = "%(at)s, %(data)s from held"
_PIECES = "new.at, new.data from held, unnest(%(at)s::bigint[], %(data)b::bytea[]) new(at, data)"
_PUBLISH = """
    update sessions set place = 'kept', ordinal = %(ordinal)s, size = %(size)s, changed = 1,
        last_append = %(append)s, used_ns = %(used)s, closed_ns = %(closed)s,
        name = coalesce(%(name)s, name), name_words = coalesce(%(name_words)s, name_words),
        pinned = coalesce(%(pinned)s, pinned)
    where id = %(id)s and epoch = %(epoch)s and place = 'reserved' returning id
"""
_KEEP = "update sessions set place = 'kept' where id = %s and epoch = %s"


class _Writing(msgspec.Struct, frozen=True):
    """The records of an append, and its outcome."""

    records: Sequence[Record]
    lines: Sequence[bytes]
    place: Place
    ordinal: int
    first: tuple[Record, ...] = ()
    """Written before them, and none of the caller's."""
    restores: bool = False


class JournalAppender(msgspec.Struct, eq=False):
    """Appends to the sessions that a program holds."""

    _leases: ServerLeases
    _clock: Callable[[], datetime]

    def append(
        self,
        connection: "Connection",
        lease: PostgresLease,
        records: Sequence[Record],
        lines: Sequence[bytes],
    ) -> Appended:
        """Append to a session that is kept or archived, or publish a new one.

        Raises as ``SessionStore.append``. After ``ServerUnreachable`` it may have been made.
        """
        while (settled := self.settle(connection, lease, records)) is None:
            try:
                if lease.beginning is not None:
                    self._publish(connection, lease, lease.beginning, records, lines)
                elif not self._append_quickly(connection, lease, records, lines):
                    self._append_carefully(connection, lease, records, lines)
            except StorageError:
                # Was it an earlier attempt, which came only now?
                if not self._resolve(connection, lease):
                    raise
        return settled

    def extend(
        self,
        connection: "Connection",
        lease: PostgresLease,
        records: Sequence[Record],
        lines: Sequence[bytes],
    ) -> Appended:
        """Append to a session in its place. Raises as ``SessionStore.extend``."""
        while (settled := self.settle(connection, lease, records)) is None:
            row = self._writable_row(connection, lease)
            if not lease.resolve(row.last_append):
                self._take_in(connection, lease, row)
                writing = _Writing(records, lines, row.place, lease.ordinal)
                lease.accept(self._written(connection, lease, writing))
        return settled

    def settle(
        self, connection: "Connection", lease: PostgresLease, records: Sequence[Record]
    ) -> Appended | None:
        """Answer an append if all its records were written, perhaps by earlier attempts."""
        self._resolve(connection, lease)
        if _count_written(lease, records) < len(records):
            return None
        return lease.acknowledged()

    def _resolve(self, connection: "Connection", lease: PostgresLease) -> bool:
        """Find out if an attempt was made whose answer never came."""
        row = row_of(connection, lease.session_id) if lease.attempts else None
        return row is not None and lease.resolve(row.last_append)

    def _append_quickly(
        self,
        connection: "Connection",
        lease: PostgresLease,
        records: Sequence[Record],
        lines: Sequence[bytes],
    ) -> bool:
        """Append in the usual case: one statement, which checks everything."""
        writing = _Writing(records, lines, "kept", lease.ordinal)
        made = self._write(connection, lease, writing) if lease.ordinal > 0 else None
        if made is not None:
            lease.accept(made)
        return made is not None

    def _publish(
        self,
        connection: "Connection",
        lease: PostgresLease,
        beginning: SessionHeader,
        records: Sequence[Record],
        lines: Sequence[bytes],
    ) -> None:
        lease.origin = words.origin_lexemes(beginning)
        # Three trips: in a pipeline only a result that is needed is waited for.
        with transaction(connection):
            asked = numbers.asked(connection, beginning.scope)
            epoch = lease.epoch or self._leases.reserve(connection, beginning)
            ordinal = numbers.given(connection, asked, beginning.scope, lease.session_id)
            header = msgspec.structs.replace(beginning, ordinal=ordinal)
            data, offsets = encode_lines((header, *records), 0, NO_OFFSETS, (b"", *lines))
            append, size = str(uuid.uuid4()), len(data)
            made = Attempt(append, epoch, ordinal, 0, size, offsets, tuple(records))
            lease.attempts = (*lease.attempts, made)
            columns = {**self._columns(records), "append": append, "size": size}
            columns["used"] = columns["used"] or moment_ns(self._clock())
            wanted = {**columns, "id": lease.session_id, "epoch": epoch, "ordinal": ordinal}
            if connection.execute(_PUBLISH, wanted).fetchone() is None:
                self._row(connection, lease)
                raise _changed_meanwhile(lease.session_id)
            insert(connection, lease.session_id, 0, data)
            words.note_origin(connection, header)
            words.insert(connection, lease.session_id, words.lines_of(data, 0), header)
            _note_pictures(connection, lease.session_id, records)
            numbers.set_active(connection, beginning.scope, lease.session_id)
        lease.accept(made)

    def _append_carefully(
        self,
        connection: "Connection",
        lease: PostgresLease,
        records: Sequence[Record],
        lines: Sequence[bytes],
    ) -> None:
        row = self._writable_row(connection, lease)
        if lease.resolve(row.last_append):
            # An earlier attempt came late.
            return
        self._take_in(connection, lease, row)
        with transaction(connection):
            ordinal = self._number(connection, lease)
            writing = _Writing(records, lines, "kept", ordinal)
            if row.place == "archived":
                connection.execute(_KEEP, (lease.session_id, lease.epoch))
                writing = msgspec.structs.replace(writing, first=self._restored(), restores=True)
            made = self._written(connection, lease, writing)
        lease.accept(made)

    def restore(self, connection: "Connection", lease: PostgresLease, place: Place) -> Attempt:
        """Write that a session is restored, in a transaction; the lease accepts it afterwards."""
        row = self._row(connection, lease)
        lease.resolve(row.last_append)
        self._take_in(connection, lease, row)
        ordinal = self._number(connection, lease)
        writing = _Writing(lease.written_records, (), place, ordinal, self._restored())
        return self._written(connection, lease, writing)

    def _restored(self) -> tuple[Record, ...]:
        return (Restored(at=format_utc(self._clock())),)

    def _written(
        self, connection: "Connection", lease: PostgresLease, writing: _Writing
    ) -> Attempt:
        """Append in one statement. Raises ``StorageError`` if the row was changed meanwhile."""
        made = self._write(connection, lease, writing)
        if made is None:
            raise _changed_meanwhile(lease.session_id)
        return made

    def _write(
        self, connection: "Connection", lease: PostgresLease, writing: _Writing
    ) -> Attempt | None:
        """Append in one statement; ``None`` if the row is not as the lease knows it.

        The lease is to accept it once it is committed.
        """
        written = _count_written(lease, writing.records)
        records = (*writing.first, *writing.records[written:])
        lines = (*[b""] * len(writing.first), *writing.lines[written:])
        closing = b"\n" if lease.torn else b""
        begin = lease.size + len(closing)
        reader = PieceReader(connection, lease.session_id, lease.size)
        earlier = Branches(reader.read, lease.size)
        data, offsets = encode_lines(
            records, begin, lease.offsets, lines, lambda key: earlier.begin_of(key, begin)
        )
        data = closing + data
        _note_pictures(connection, lease.session_id, records)
        attempt = Attempt(
            append=str(uuid.uuid4()),
            epoch=lease.epoch,
            ordinal=writing.ordinal,
            size=lease.size,
            size_after=lease.size + len(data),
            offsets_after=offsets,
            records=tuple(writing.records),
            restores=writing.restores,
        )
        unanswered = tuple(each for each in lease.attempts if each.size == lease.size)
        lease.attempts = (*unanswered, attempt)
        rows = words.rows_of_lines(words.lines_of(data, attempt.size), lease.origin)
        insertion, said = words.insertion(rows, "held.id", "held")
        piece, pieces = _PIECE, {"at": attempt.size, "data": data}
        if len(data) > PIECE:
            at, parts = zip(*cut(data, attempt.size), strict=True)
            piece, pieces = _PIECES, {"at": list(at), "data": list(parts)}
        statement = _APPEND.format(said=f", said as ({insertion})" if rows else "", piece=piece)
        values = {
            **self._columns(records),
            **pieces,
            **(said if rows else {}),
            "place": writing.place,
            "id": lease.session_id,
            "epoch": attempt.epoch,
            "size": attempt.size,
            "length": len(data),
            "append": attempt.append,
            "seconds": LEASE_SECONDS,
        }
        if connection.execute(statement.encode(), values).fetchone() is not None:
            return attempt
        lease.attempts = unanswered
        return None

    def _number(self, connection: "Connection", lease: PostgresLease) -> int:
        """Find the number of a session; one that was imported, and has none yet, is given one."""
        if lease.ordinal:
            return lease.ordinal
        ordinal = numbers.next_number(connection, lease.scope, lease.session_id)
        connection.execute(
            "update sessions set ordinal = %s where id = %s", (ordinal, lease.session_id)
        )
        return ordinal

    def _row(self, connection: "Connection", lease: PostgresLease) -> Row:
        """Read the row of a lease. Raises ``LeaseLost``."""
        row = row_of(connection, lease.session_id)
        if row is None or row.epoch != lease.epoch:
            self._leases.lose(lease)
            raise LeaseLost(lease.session_id)
        return row

    def _take_in(self, connection: "Connection", lease: PostgresLease, row: Row) -> None:
        """Read the records that others have added."""
        reader = PieceReader(connection, lease.session_id, row.size)
        if row.size < lease.size or not reader.read(1, 0):
            raise SessionDamaged(lease.session_id, "its records are gone")
        found: list[Record] = []
        for place, line in lines_forward(reader.read, lease.size, row.size):
            record = decoded(line)
            if record is not None:
                found.append(record)
                lease.offsets = lease.offsets.following(record, place)
        if row.size > lease.size:
            lease.torn = reader.read(1, row.size - 1) != b"\n"
        lease.size = row.size
        lease.foreign = (*lease.foreign, *found)

    def _writable_row(self, connection: "Connection", lease: PostgresLease) -> Row:
        row = self._row(connection, lease)
        if row.place == "trashed":
            raise SessionNotFound(lease.session_id)
        return row

    def _columns(self, records: Sequence[Record]) -> dict[str, object]:
        name, pinned = noted(records)
        times = [parse_utc(record.at) for record in records if isinstance(record, Closed)]
        return {
            "used": storable_ns(last_use(records) or 0),
            "closed": max((moment_ns(each) for each in times if each), default=0),
            "name": name,
            "name_words": words.name_words(name),
            "pinned": pinned,
        }


def _count_written(lease: PostgresLease, records: Sequence[Record]) -> int:
    """Count the first records of an append that are written already."""
    both = zip(records, lease.written_records, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0] == pair[1], both))


def _note_pictures(connection: "Connection", session_id: str, records: Sequence[Record]) -> None:
    used = used_pictures(records)
    if used:
        pictures.note(connection, session_id, used)


def _changed_meanwhile(session_id: str) -> StorageError:
    return StorageError(f"Session {session_id} was changed meanwhile.")
