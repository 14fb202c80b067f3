"""Sessions that are added whole: imports of other programs, and copies from and to other stores.

Everything of one session is one transaction; only its number and its pictures are noted before.
"""

from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.records import VERSION, Encoded, SessionHeader, checked_id, encode
from tui.domain.moves import Move
from tui.domain.moves import Place as MovePlace
from tui.domain.text import as_bytes, as_text
from tui.domain.timestamps import parse_utc, storable_ns
from tui.errors import SessionDamaged, SessionExists, StorageError
from tui.storage.attachments import used_pictures
from tui.storage.copyable import Numbers, SessionNumber, StoredJournal
from tui.storage.disk import odd_values
from tui.storage.journal import OpenJournal
from tui.storage.postgres import listing, rows, words
from tui.storage.postgres.connection_pool import ConnectionPool, transaction
from tui.storage.postgres.rows import PieceReader, Place
from tui.storage.postgres.tables import moment_ns, scope_key
from tui.storage.writer import NewJournal

if TYPE_CHECKING:
    from psycopg import Connection

IMPORT_SECONDS = 3600.0
"""Of one session: its records are made while they are written."""
_READ_BYTES = 4 * 1024 * 1024
_PLACES: Mapping[MovePlace, Place] = {there: place for place, there in rows.PLACES.items()}

_INSERT = (
    "insert into sessions (id, scope, ordinal, header, place, last_append)"
    " values (%s, %s, %s, %s, %s, %s) on conflict do nothing returning id"
)
_COMPLETE_IMPORT = (
    "update sessions set size = %s, used_ns = %s, closed_ns = %s, name = %s, name_words = %s,"
    " pinned = %s where id = %s"
)
_RAISE_HIGHEST = """
    insert into scopes (scope, name, highest) values (%s, %s, %s)
    on conflict (scope) do update set highest = greatest(scopes.highest, excluded.highest)
"""
_TAKE_OVER_NUMBER = """
    insert into numbers values (%s, %s, %s)
    on conflict (scope, ordinal) do update set session = numbers.session returning session
"""
_GIVE_NUMBER = """
    insert into numbers select %s, %s, %s
    where not exists (select from numbers where session = %s)
    on conflict (scope, ordinal) do nothing
"""
_NEXT = "select at, data from pieces where session = %s and at >= %s and at < %s order by at"
_COPY = "copy pieces (session, at, data) from stdin (format binary)"
# The new epoch ends earlier leases, and their last append cannot be repeated.
_COMPLETE_COPY = """
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
_INTACT = (
    "select sha256 from pictures where sha256 = any(%s) and encode(sha256(data), 'hex') = sha256"
)
_ADD_MOVES = "insert into moves (line) select line from unnest(%s::bytea[]) line"
_LOCK = f"select {rows.COLUMNS} from sessions where id = %s for update"  # noqa: S608 - constants


def add_session(
    connection: "Connection",
    header: SessionHeader,
    records: Iterable[Encoded],
    now: datetime,
    attempt: str,
    *,
    active: bool,
) -> None:
    """Add a session to the archive, in one transaction; without a time in it, it was used now.

    The session's row names the attempt. Raises ``SessionExists``.
    """
    # Before, as the number's scope is locked for it: new sessions there would wait for all records.
    header = _with_free_number(connection, header)
    with transaction(connection):
        connection.execute("set local idle_in_transaction_session_timeout = '10min'")
        _insert_session(connection, header, "archived", attempt)
        words.note_origin(connection, header)
        seen = _ImportedSession()
        journal = NewJournal(seen.following(chain([(header, b"")], records)))
        size = 0
        for block in journal.blocks():
            rows.insert_pieces(connection, header.id, size, block)
            words.insert(connection, header.id, words.lines_of(block, size), header)
            size += len(block)
        used, found = storable_ns(journal.last_use or moment_ns(now)), words.name_words(seen.name)
        wanted = (size, used, used, seen.name, found, seen.pinned, header.id)
        connection.execute(_COMPLETE_IMPORT, wanted)
        rows.note_pictures(connection, header.id, seen.pictures)
        if active:
            # Last: new sessions of the scope wait from here on.
            rows.set_active(connection, header.scope, header.id, is_first=True)


class _ImportedSession(msgspec.Struct):
    """The last name and pin of records that pass by, and their pictures."""

    name: bytes = b""
    pinned: bool = False
    pictures: list[str] = msgspec.field(default_factory=list[str])

    def following(self, records: Iterable[Encoded]) -> Iterator[Encoded]:
        for record, line in records:
            name, pinned = rows.noted((record,))
            self.name = self.name if name is None else name
            self.pinned = self.pinned if pinned is None else pinned
            self.pictures += used_pictures((record,))
            yield record, line


def _with_free_number(connection: "Connection", header: SessionHeader) -> SessionHeader:
    """Let an imported session keep its number, unless another one had it; without one, it is 0."""
    if not header.ordinal:
        return header
    wanted = (scope_key(header.scope), header.ordinal, header.id)
    with transaction(connection):
        connection.execute(_RAISE_HIGHEST, (*rows.scope_columns(header.scope), header.ordinal))
        owner = connection.execute(_TAKE_OVER_NUMBER, wanted).fetchone()
    is_own = owner is not None and owner[0] == header.id
    return header if is_own else msgspec.structs.replace(header, ordinal=0)


def _insert_session(
    connection: "Connection", header: SessionHeader, place: Place, attempt: str | None = None
) -> None:
    """Insert the row of a session without records. Raises ``SessionExists``."""
    key = scope_key(header.scope)
    values = (header.id, key, header.ordinal, encode(header), place, attempt)
    if connection.execute(_INSERT, values).fetchone() is None:
        raise SessionExists(header.id)


class PostgresJournals(msgspec.Struct, eq=False):
    """The ``Journals`` of a store at a server."""

    _database: ConnectionPool

    # --- reading

    def sizes(self) -> Mapping[str, int]:
        return dict(self._database.execute(listing.SIZES))

    def find(self, session_id: str) -> StoredJournal:
        with self._database.connection() as connection:
            row = rows.published_row(connection, session_id)
        return StoredJournal(row.header(), rows.PLACES[row.place], row.size, row.used_ns)

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
                    rows.published_row(connection, session_id)
                    raise SessionDamaged(session_id, f"its records from byte {position:,} are gone")
            position += len(block)
            yield block

    def numbers(self) -> Numbers:
        given = self._database.execute("select scope, ordinal, session from numbers")
        scopes = self._database.execute("select scope, name, highest, active from scopes")
        names = {bytes(key): as_text(name) for key, name, _, _ in scopes}
        return Numbers(
            tuple(SessionNumber(names[bytes(key)], number, each) for key, number, each in given),
            {names[bytes(key)]: highest for key, _, highest, _ in scopes},
            {names[bytes(key)]: active for key, _, _, active in scopes if active is not None},
        )

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
            _insert_session(connection, header, _PLACES[journal.place])
            self._complete(connection, journal, _copy_in(connection, journal.id, 0, blocks))

    def extend(self, journal: StoredJournal, begin: int, blocks: Iterable[bytes]) -> None:
        with self._writing() as connection:
            rows.published_row(connection, journal.id)
            row = rows.rows_of(connection, _LOCK, (journal.id,))[0]
            if not row.is_free():
                raise row.busy
            if row.size != begin or row.place not in _PLACES.values():
                raise StorageError(f"Session {journal.id} was changed meanwhile.")
            self._complete(connection, journal, _copy_in(connection, journal.id, begin, blocks))

    def add_numbers(self, new: Numbers) -> None:
        # In one order, as rows are locked: two programs would wait for each other.
        highest = sorted((*rows.scope_columns(key), it) for key, it in new.every_highest.items())
        wanted = sorted(
            (scope_key(each.scope), each.ordinal, each.id, each.id) for each in new.given
        )
        active = sorted((*rows.scope_columns(key), it) for key, it in new.active.items())
        with self._writing() as connection:
            with connection.cursor() as cursor:
                cursor.executemany(_RAISE_HIGHEST, highest)
                cursor.executemany(_GIVE_NUMBER, wanted)
                cursor.executemany(rows.SET_FIRST_ACTIVE, active)
            known = {row[0] for row in connection.execute("select session from numbers")}
            for each in new.given:
                if each.id not in known:
                    rows.next_number(connection, each.scope, each.id)

    def use_pictures(self, session_id: str, used: Sequence[str]) -> Sequence[str]:
        with self._database.connection() as connection:
            rows.note_pictures(connection, checked_id(session_id), used)
            intact = {row[0] for row in connection.execute(_INTACT, (list(used),))}
        return [sha256 for sha256 in used if sha256 not in intact]

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
        connection.execute(_COMPLETE_COPY, wanted)
        connection.execute(_NUMBERED, (journal.id,))
        words.index_session(connection, journal.id)


def _copy_in(connection: "Connection", session_id: str, at: int, blocks: Iterable[bytes]) -> int:
    """Write blocks that begin at an offset with COPY; gives the offset after them.

    Within a transaction: if making a block fails, none of them stays.
    """
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(("text", "int8", "bytea"))
        for block in blocks:
            for place, piece in rows.pieces_of(block, at):
                copy.write_row((session_id, place, piece))
            at += len(block)
    return at
