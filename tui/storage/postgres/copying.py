"""The journals of the store as bytes, to copy them from or into another store.

Everything of one session is one transaction; only its number and its pictures are noted before.
"""

from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.ids import checked_id
from tui.domain.journal.records import VERSION
from tui.domain.moves import Move
from tui.domain.moves import Place as MovePlace
from tui.domain.timestamps import parse_utc, storable_ns
from tui.errors import SessionDamaged, StorageError
from tui.storage.copyable import Numbers, StoredJournal
from tui.storage.disk import odd_values
from tui.storage.journal import OpenJournal
from tui.storage.postgres import listing, numbers, pictures
from tui.storage.postgres.connection_pool import ConnectionPool
from tui.storage.postgres.importing import IMPORT_SECONDS, insert_session
from tui.storage.postgres.pieces import PieceReader, cut
from tui.storage.postgres.rows import COLUMNS, PLACES, Place, published_row, rows_of
from tui.storage.postgres.tables import as_bytes, moment_ns
from tui.storage.postgres.words import index_session

if TYPE_CHECKING:
    from psycopg import Connection

_READ_BYTES = 4 * 1024 * 1024
_PLACES: Mapping[MovePlace, Place] = {there: place for place, there in PLACES.items()}

_NEXT = "select at, data from pieces where session = %s and at >= %s and at < %s order by at"
_COPY = "copy pieces (session, at, data) from stdin (format binary)"
# The new epoch ends earlier leases, and their last append cannot be repeated.
_COMPLETE = """
    update sessions set size = %(size)s, place = %(place)s, used_ns = %(used)s,
        closed_ns = %(closed)s, name = %(name)s, pinned = %(pinned)s, changed = changed + 1,
        epoch = epoch + 1, last_append = null
    where id = %(id)s
"""
_NUMBERED = """
    update sessions set ordinal = coalesce((
        select max(numbers.ordinal) from numbers
        where numbers.session = sessions.id and numbers.scope = sessions.scope), 0)
    where id = %s
"""
_USES = "select sha256, session from picture_uses order by session, sha256"
_ADD_MOVES = "insert into moves (line) select line from unnest(%s::bytea[]) line"
_LOCK = f"select {COLUMNS} from sessions where id = %s for update"  # noqa: S608 - constants


class PostgresJournals:
    """The ``Journals`` of a store at a server."""

    def __init__(self, database: ConnectionPool) -> None:
        self._database = database

    # --- reading

    def sizes(self) -> Mapping[str, int]:
        return dict(self._database.execute(listing.SIZES))

    def find(self, session_id: str) -> StoredJournal:
        with self._database.connection() as connection:
            row = published_row(connection, session_id)
        return StoredJournal(row.header(), PLACES[row.place], row.size, row.used_ns)

    def read(self, session_id: str, end: int) -> Iterator[bytes]:
        position = 0
        while position < end:
            # A connection for each block: the consumer may be slow.
            with self._database.connection() as connection:
                wanted = (checked_id(session_id), position, min(position + _READ_BYTES, end))
                pieces, block = connection.execute(_NEXT, wanted, binary=True).fetchall(), b""
                for at, data in pieces:
                    # None after one that is gone.
                    block += data if at == position + len(block) else b""
                block = block[: end - position]
                if not block:
                    published_row(connection, session_id)
                    raise SessionDamaged(session_id, f"its records from byte {position:,} are gone")
            position += len(block)
            yield block

    def numbers(self) -> Numbers:
        with self._database.connection() as connection:
            return numbers.every(connection)

    def pictures(self) -> Mapping[str, Collection[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for sha256, session_id in self._database.execute(_USES):
            found[session_id].append(sha256)
        return found

    # --- writing

    def add(self, journal: StoredJournal, blocks: Iterable[bytes]) -> None:
        checked_id(journal.id)
        header = msgspec.structs.replace(journal.header, version=VERSION, ordinal=0)
        with self._writing() as connection:
            insert_session(connection, header, _PLACES[journal.place])
            self._complete(connection, journal, _copy_in(connection, journal.id, 0, blocks))

    def extend(self, journal: StoredJournal, begin: int, blocks: Iterable[bytes]) -> None:
        with self._writing() as connection:
            published_row(connection, journal.id)
            row = rows_of(connection, _LOCK, (journal.id,))[0]
            if not row.is_free():
                raise row.busy
            if row.size != begin or row.place not in _PLACES.values():
                raise StorageError(f"Session {journal.id} was changed meanwhile.")
            self._complete(connection, journal, _copy_in(connection, journal.id, begin, blocks))

    def add_numbers(self, new: Numbers) -> None:
        with self._writing() as connection:
            numbers.add(connection, new)

    def use_pictures(self, session_id: str, used: Sequence[str]) -> Sequence[str]:
        with self._database.connection() as connection:
            pictures.note(connection, checked_id(session_id), used)
            return pictures.missing(connection, used)

    def add_moves(self, moves: Sequence[Move]) -> None:
        encoded = [msgspec.json.encode(move) for move in moves]
        self._database.execute(_ADD_MOVES, (encoded,))

    # --- within

    @contextmanager
    def _writing(self) -> Generator["Connection"]:
        with self._database.connection(IMPORT_SECONDS) as connection, connection.transaction():
            # The bytes may come slowly.
            connection.execute("set local idle_in_transaction_session_timeout = '10min'")
            connection.execute("set local statement_timeout = 0")
            yield connection

    def _complete(self, connection: "Connection", journal: StoredJournal, size: int) -> None:
        """Fill the columns of a session that has its bytes."""
        end = None
        reader = PieceReader(connection, journal.id, size)
        # One that cannot be read is copied all the same.
        with suppress(StorageError), odd_values(journal.id):
            read = OpenJournal(reader.read, size, journal.id, lambda: journal.header, held=False)
            end = read.tail(0).session
        closed = parse_utc(end.closed_at or "") if end is not None else None
        used = storable_ns(journal.used_ns)
        wanted = {
            "id": journal.id,
            "size": size,
            "place": _PLACES[journal.place],
            "used": used,
            "closed": moment_ns(closed) if closed else used,
            "name": as_bytes(end.name) if end is not None else b"",
            "pinned": end is not None and end.settings.pinned,
        }
        connection.execute(_COMPLETE, wanted)
        connection.execute(_NUMBERED, (journal.id,))
        index_session(connection, journal.id)


def _copy_in(connection: "Connection", session_id: str, at: int, blocks: Iterable[bytes]) -> int:
    """Write blocks that begin at an offset with COPY; gives the offset after them.

    Within a transaction: if making a block fails, none of them stays.
    """
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(("text", "int8", "bytea"))
        for block in blocks:
            for place, piece in cut(block, at):
                copy.write_row((session_id, place, piece))
            at += len(block)
    return at
