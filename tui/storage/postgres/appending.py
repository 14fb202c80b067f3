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
from tui.storage.journal_lines import Branches, decoded, lines_forward
from tui.storage.postgres import rows, words
from tui.storage.postgres.connection_pool import transaction
from tui.storage.postgres.leases import LEASE_SECONDS, Attempt, PostgresLease, ServerLeases
from tui.storage.postgres.rows import PieceReader, Place, Row
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


class JournalAppender(msgspec.Struct, eq=False):
    """Appends to one session that a program holds, over a connection that is lent for it."""

    _connection: "Connection"
    _lease: PostgresLease
    _leases: ServerLeases
    _clock: Callable[[], datetime]

    def append(self, records: Sequence[Record], lines: Sequence[bytes]) -> Appended:
        """Append to a session that is kept or archived, or publish a new one.

        Raises as ``SessionStore.append``. After ``ServerUnreachable`` it may have been made.
        """
        lease = self._lease
        while (settled := self.settle(records)) is None:
            try:
                if lease.beginning is not None:
                    self._publish(lease.beginning, records, lines)
                    continue
                # The usual case: one statement, which checks everything.
                made = self._write(records, lines, "kept", lease.ordinal) if lease.ordinal else None
                if made is not None:
                    lease.accept(made)
                else:
                    self._append_carefully(records, lines)
            except StorageError:
                # Was it an earlier attempt, which came only now?
                if not self._resolve():
                    raise
        return settled

    def extend(self, records: Sequence[Record], lines: Sequence[bytes]) -> Appended:
        """Append to a session in its place. Raises as ``SessionStore.extend``."""
        while (settled := self.settle(records)) is None:
            row = self._writable_row()
            if not self._lease.resolve(row.last_append):
                self._take_in(row)
                made = self._write(records, lines, row.place, self._lease.ordinal)
                self._lease.accept(self._checked(made))
        return settled

    def settle(self, records: Sequence[Record]) -> Appended | None:
        """Answer an append if all its records were written, perhaps by earlier attempts."""
        self._resolve()
        if self._count_written(records) < len(records):
            return None
        return self._lease.acknowledged()

    def _resolve(self) -> bool:
        """Find out if an attempt was made whose answer never came."""
        lease = self._lease
        row = rows.row_of(self._connection, lease.session_id) if lease.attempts else None
        return row is not None and lease.resolve(row.last_append)

    def _publish(
        self, beginning: SessionHeader, records: Sequence[Record], lines: Sequence[bytes]
    ) -> None:
        connection, lease = self._connection, self._lease
        lease.origin = words.origin_lexemes(beginning)
        # Three trips: in a pipeline only a result that is needed is waited for.
        with transaction(connection):
            asked = rows.ask_number(connection, beginning.scope)
            epoch = lease.epoch or self._leases.reserve(connection, beginning)
            ordinal = rows.give_number(connection, asked, beginning.scope, lease.session_id)
            header = msgspec.structs.replace(beginning, ordinal=ordinal)
            data, offsets = encode_lines((header, *records), 0, NO_OFFSETS, (b"", *lines))
            append, size = str(uuid.uuid4()), len(data)
            made = Attempt(append, epoch, ordinal, 0, size, offsets, tuple(records))
            lease.attempts = (*lease.attempts, made)
            columns = {**_columns(records), "append": append, "size": size}
            columns["used"] = columns["used"] or moment_ns(self._clock())
            wanted = {**columns, "id": lease.session_id, "epoch": epoch, "ordinal": ordinal}
            if connection.execute(_PUBLISH, wanted).fetchone() is None:
                self._row()
                self._checked(None)
            rows.insert_pieces(connection, lease.session_id, 0, data)
            words.note_origin(connection, header)
            words.insert(connection, lease.session_id, words.lines_of(data, 0), header)
            rows.note_pictures(connection, lease.session_id, used_pictures(records))
            rows.set_active(connection, beginning.scope, lease.session_id)
        lease.accept(made)

    def _append_carefully(self, records: Sequence[Record], lines: Sequence[bytes]) -> None:
        row = self._writable_row()
        if self._lease.resolve(row.last_append):
            # An earlier attempt came late.
            return
        self._take_in(row)
        with transaction(self._connection):
            ordinal, is_archived = self._number(), row.place == "archived"
            if is_archived:
                self._connection.execute(_KEEP, (row.id, self._lease.epoch))
            restored = Restored(at=format_utc(self._clock()))
            first = (restored,) if is_archived else ()
            made = self._write(records, lines, "kept", ordinal, first, restores=is_archived)
            made = self._checked(made)
        self._lease.accept(made)

    def restore(self, place: Place) -> Attempt:
        """Write that a session is restored, in a transaction; the lease accepts it afterwards."""
        row = self._row()
        self._lease.resolve(row.last_append)
        self._take_in(row)
        records, ordinal = self._lease.written_records, self._number()
        restored = Restored(at=format_utc(self._clock()))
        return self._checked(self._write(records, (), place, ordinal, (restored,)))

    def _write(
        self,
        records: Sequence[Record],
        lines: Sequence[bytes],
        place: Place,
        ordinal: int,
        first: tuple[Record, ...] = (),
        *,
        restores: bool = False,
    ) -> Attempt | None:
        """Append in one statement; ``None`` if the row is not as the lease knows it.

        ``first`` is written before the records, and none of the caller's. The lease is to accept
        the attempt once it is committed.
        """
        connection, lease = self._connection, self._lease
        written = self._count_written(records)
        new = (*first, *records[written:])
        encoded = (*[b""] * len(first), *lines[written:])
        closing = b"\n" if lease.torn else b""
        begin = lease.size + len(closing)
        reader = PieceReader(connection, lease.session_id, lease.size)
        earlier = Branches(reader.read, lease.size)
        data, offsets = encode_lines(
            new, begin, lease.offsets, encoded, lambda key: earlier.begin_of(key, begin)
        )
        data = closing + data
        rows.note_pictures(connection, lease.session_id, used_pictures(new))
        attempt = Attempt(
            append=str(uuid.uuid4()),
            epoch=lease.epoch,
            ordinal=ordinal,
            size=lease.size,
            size_after=lease.size + len(data),
            offsets_after=offsets,
            records=tuple(records),
            restores=restores,
        )
        unanswered = tuple(each for each in lease.attempts if each.size == lease.size)
        lease.attempts = (*unanswered, attempt)
        texts = words.rows_of_lines(words.lines_of(data, attempt.size), lease.origin)
        insertion, said = words.insertion(texts, "held.id", "held")
        piece, pieces = _PIECE, {"at": attempt.size, "data": data}
        if len(data) > rows.PIECE:
            at, parts = zip(*rows.pieces_of(data, attempt.size), strict=True)
            piece, pieces = _PIECES, {"at": list(at), "data": list(parts)}
        statement = _APPEND.format(said=f", said as ({insertion})" if texts else "", piece=piece)
        values = {
            **_columns(new),
            **pieces,
            **(said if texts else {}),
            "place": place,
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

    def _checked(self, made: Attempt | None) -> Attempt:
        """Raise ``StorageError`` if the row was changed meanwhile."""
        if made is None:
            raise StorageError(f"Session {self._lease.session_id} was changed meanwhile.")
        return made

    def _count_written(self, records: Sequence[Record]) -> int:
        """Count the first records of an append that are written already."""
        both = zip(records, self._lease.written_records, strict=False)
        same = takewhile(lambda pair: pair[0] is pair[1] or pair[0] == pair[1], both)
        return sum(1 for _ in same)

    def _number(self) -> int:
        """Find the number of a session; one that was imported, and has none yet, is given one."""
        connection, lease = self._connection, self._lease
        if lease.ordinal:
            return lease.ordinal
        ordinal = rows.next_number(connection, lease.scope, lease.session_id)
        connection.execute(
            "update sessions set ordinal = %s where id = %s", (ordinal, lease.session_id)
        )
        return ordinal

    def _row(self) -> Row:
        """Read the row of the lease. Raises ``LeaseLost``."""
        row = rows.row_of(self._connection, self._lease.session_id)
        if row is None or row.epoch != self._lease.epoch:
            self._leases.lose(self._lease)
            raise LeaseLost(self._lease.session_id)
        return row

    def _writable_row(self) -> Row:
        row = self._row()
        if row.place == "trashed":
            raise SessionNotFound(row.id)
        return row

    def _take_in(self, row: Row) -> None:
        """Read the records that others have added."""
        lease, reader = self._lease, PieceReader(self._connection, row.id, row.size)
        if row.size < lease.size or not reader.read(1, 0):
            raise SessionDamaged(row.id, "its records are gone")
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


def _columns(records: Sequence[Record]) -> dict[str, object]:
    name, pinned = rows.noted(records)
    times = [parse_utc(record.at) for record in records if isinstance(record, Closed)]
    return {
        "used": storable_ns(last_use(records) or 0),
        "closed": max((moment_ns(each) for each in times if each), default=0),
        "name": name,
        "name_words": words.name_words(name),
        "pinned": pinned,
    }
