"""A store in a PostgreSQL server: journals as rows of bytes, leases as epochs of a row."""

import time
import uuid
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import msgspec

from tui.domain.imports import ImportLine, bytes_naming, came_from
from tui.domain.journal.records import (
    DamagedRecord,
    Encoded,
    Record,
    SessionHeader,
    checked_id,
    encode,
    is_session_id,
)
from tui.domain.journal.session import Holder, SessionEntry, Stamp
from tui.domain.json_text import journal_json
from tui.domain.moves import Batch, Move
from tui.domain.text import as_bytes, as_text
from tui.domain.timestamps import utc_now
from tui.errors import (
    AttachmentNotFound,
    ReadOnly,
    ServerUnreachable,
    SessionBusy,
    SessionDamaged,
    StorageError,
)
from tui.storage.attachments import KEPT_DAYS, checked_hash, hash_of, only_match
from tui.storage.disk import odd_values
from tui.storage.journal import Journal, OpenJournal
from tui.storage.json_lines import IMPORTS, decoded_moves, new_batch
from tui.storage.postgres import listing, rows
from tui.storage.postgres.appending import JournalAppender
from tui.storage.postgres.connection_pool import ConnectionPool, Listener
from tui.storage.postgres.copying import IMPORT_SECONDS, PostgresJournals, add_session
from tui.storage.postgres.leases import Attempt, PostgresLease, ServerLeases
from tui.storage.postgres.listing import condition_of
from tui.storage.postgres.rows import Place
from tui.storage.postgres.tables import VERSION, scope_key
from tui.storage.postgres.words import index_session
from tui.storage.protocol import Appended, Lease, Listing, Progress, SessionFilter, SessionStore

if TYPE_CHECKING:
    from psycopg import Connection

    from tui.domain.search.query import SearchResult
    from tui.storage.copyable import Journals

    _Write = Callable[[JournalAppender, Sequence[Record], Sequence[bytes]], Appended]

_UNVERIFIED = (
    "The connection to the store's server does not check who answers. Add ?sslmode=verify-full to"
    " its address."
)
_STATE = """
    select current_user, has_database_privilege(current_database(), 'create'),
        (select count(*) from sibyl.sessions),
        (select count(*) from sibyl.sessions
         where holder is not null and leased_until > clock_timestamp()),
        extract(epoch from clock_timestamp())::float8
"""
"""The time as a number: the database may have a style of dates that cannot be read."""
_INDEX_SECONDS = 600.0
"""Of one session."""

_IMPORTS = "select line from imports where position(%s::bytea in line) > 0 order by number"
_MOVE = """
    with moved as (
        update sessions set place = %(place)s, changed = changed + 1, last_move = %(attempt)s
        where id = %(id)s and epoch = %(epoch)s and place = %(left)s returning id)
    insert into moves (line) select %(line)s from moved returning number
"""
_PURGED = "purged"
_ATTEMPTED = """
    select from sessions
    where id = %(id)s and (last_append = any(%(ids)s::uuid[]) or last_move = any(%(ids)s::uuid[]))
"""
_PURGE = "delete from sessions where id = %s and epoch = %s returning id"
_KEEP_PICTURE = """
    insert into pictures values (%s, %s) on conflict (sha256) do update
    set data = excluded.data where sha256(pictures.data) <> sha256(excluded.data)
"""
_FORGET_PICTURES = "delete from picture_uses where session = %s returning sha256"
_FREE_PICTURES = """
    delete from pictures where sha256 = any(%s) and not exists (
        select from picture_uses left join sessions on sessions.id = picture_uses.session
        where picture_uses.sha256 = pictures.sha256
        and (sessions.id is not null or noted_at > now() - make_interval(days => %s)))
"""
_LAST_MOVES = "select line from moves order by number desc limit 25000"
_NEWEST = "order by used_ns desc, id"
_NUMBERED = """
    select id from numbers join sessions on sessions.id = numbers.session
        and sessions.scope = numbers.scope and sessions.ordinal = numbers.ordinal
    where numbers.scope = %s and numbers.ordinal = %s and place <> 'reserved'
"""


class PostgresCatalog(msgspec.Struct, eq=False):
    """A ``tui.domain.targets.SessionLookups``; ``wanted`` narrows names and prefixes, not ids."""

    _database: ConnectionPool
    _wanted: SessionFilter
    _imports: Callable[[str], Iterable[ImportLine]]

    def has(self, session_id: str) -> bool:
        query = "select 1 from sessions where id = %s and place <> 'reserved'"
        return bool(self._database.execute(query, (session_id,)))

    def beginning(self, prefixes: tuple[str, ...]) -> Iterable[str]:
        # No id begins with anything else, and not all of that can be sent.
        fit = [each for each in prefixes if each.isascii() and each.isprintable()]
        starts = " or ".join(f"id ^@ %(prefix{at})s" for at in range(len(fit))) or "false"
        values = {f"prefix{at}": prefix for at, prefix in enumerate(fit)}
        return [row[0] for row in self._passed("id", f"({starts})", values)]

    def numbered(self, scope: str, ordinal: int) -> str | None:
        found = self._database.execute(_NUMBERED, (scope_key(scope), ordinal))
        return str(found[0][0]) if found else None

    def scopes(self) -> Collection[str]:
        return [as_text(row[0]) for row in self._database.execute("select name from scopes")]

    def named(self, name: str) -> Iterable[str]:
        condition = "sha256(name) = sha256(%(name)s) and name <> ''"
        found = self._passed("id", condition, {"name": as_bytes(name)})
        return [row[0] for row in found]

    def imported(self, name: str) -> Iterable[str]:
        return came_from(name, self._imports(name))

    def newest(self, count: int) -> Sequence[str]:
        return [row[0] for row in self._passed("id", f"true {_NEWEST} limit {count}", {})]

    def newest_names(self, count: int) -> Mapping[str, str]:
        found = self._passed("name, id", f"name <> '' {_NEWEST} limit {count}", {})
        return {as_text(name): session_id for name, session_id in reversed(found)}

    def _passed(self, columns: str, condition: str, values: dict[str, Any]) -> list[Any]:
        """Read columns of the sessions that the filter passes and that meet a condition."""
        passed, more = condition_of(self._wanted, self._wanted.statuses)
        query = f"select {columns} from sessions where {passed} and {condition}"  # noqa: S608
        return self._database.execute(query, values | more)


class _Attempts(msgspec.Struct, eq=False):
    """The attempts of one program at calls that the server has never answered.

    A repeated one is neither made twice nor refused as made already.
    """

    _database: ConnectionPool
    _unanswered: dict[tuple[str, str], tuple[str, ...]] = {}

    def once(self, session_id: str, deed: str, make: Callable[[str], None]) -> None:
        """Do something to a session under the id of a new attempt, unless an earlier one did it.

        Raises as ``make``, which leaves the id in the session's row, unless it is ``_PURGED``.
        """
        call = session_id, deed
        if self._was_made(*call):
            del self._unanswered[call]
            return
        attempt = str(uuid.uuid4())
        try:
            make(attempt)
        except StorageError as error:
            if isinstance(error, ServerUnreachable):
                self._unanswered[call] = (*self._unanswered.get(call, ()), attempt)
            # An earlier one may have come only now.
            if not self._was_made(*call):
                raise
        self._unanswered.pop(call, None)

    def _was_made(self, session_id: str, deed: str) -> bool:
        attempts = self._unanswered.get((session_id, deed))
        if attempts is None:
            return False
        with suppress(StorageError), self._database.connection() as connection:
            if deed == _PURGED:
                return rows.row_of(connection, session_id) is None
            wanted = {"id": session_id, "ids": list(attempts)}
            return connection.execute(_ATTEMPTED, wanted).fetchone() is not None
        return False


class PostgresStore(SessionStore):
    """A store at a server, which several machines share; threads may use it at once."""

    def __init__(self, address: str, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = ConnectionPool(address)
        self._clock = clock
        self._leases = ServerLeases(self._database, clock)
        self._lister = listing.Lister()
        self._attempts = _Attempts(self._database)
        self._listener: Listener | None = None

    @property
    def journals(self) -> "Journals":
        return PostgresJournals(self._database)

    def close(self) -> None:
        """Close the connections; leases that are still held run out."""
        if self._listener is not None:
            self._listener.close()
        self._leases.close()
        self._database.close()

    # --- the server

    def check(self) -> tuple[str, ...]:
        """Connect, make the tables if need be, and return warnings. Raises ``StorageError``."""
        with self._database.connection() as connection:
            return () if _is_local(connection) or _is_verified(connection) else (_UNVERIFIED,)

    def report(self) -> dict[str, str]:
        """Describe the server. Raises ``StorageError``."""
        with self._database.connection() as connection:
            began = time.monotonic()
            connection.execute("select 1")
            milliseconds = (time.monotonic() - began) * 1000
            ((user, may_create, sessions, held, now),) = connection.execute(_STATE).fetchall()
            tls = "TLS" if connection.pgconn.ssl_in_use else "no TLS"
            is_local = _is_local(connection)
            sure = "verified" if _is_verified(connection) else "not verified"
            apart = abs(time.time() - now)
            return {
                "server": f"PostgreSQL {connection.info.parameter_status('server_version')}",
                "connection": f"this machine, {tls}" if is_local else f"network, {tls}, {sure}",
                "tables": f"version {VERSION}",
                "role": f"{user}, {'may' if may_create else 'may not'} make the tables",
                "sessions": f"{sessions:,}, {held:,} open",
                "round trip": f"{milliseconds:.1f} ms",
                "clocks": f"{apart:.1f} s apart",
            }

    # --- holding

    def reserve(self, header: SessionHeader) -> Lease:
        return self._leases.create(header)

    def lease(self, session_id: str) -> Lease:
        return self._leases.lease(session_id)

    def holder(self, session_id: str) -> Holder | None:
        return self._leases.holder(session_id)

    # --- writing

    def append(
        self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()
    ) -> Appended:
        held = self._leases.own(lease)
        if not records:
            return Appended(held.ordinal)
        with _saving(held.session_id):
            # Their size says how long it may take.
            lines = lines or [encode(record) for record in records]
            lent = self._database.saving(sum(map(len, lines)))
            return self._write(JournalAppender.append, lent, held, records, lines)

    def extend(self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()) -> None:
        held = self._leases.own(lease)
        if held.beginning is not None:
            raise ReadOnly(held.session_id)
        if records:
            with _saving(held.session_id):
                lent = self._database.connection()
                self._write(JournalAppender.extend, lent, held, records, lines)

    def _write(
        self,
        write: "_Write",
        lent: "AbstractContextManager[Connection]",
        lease: PostgresLease,
        records: Sequence[Record],
        lines: Sequence[bytes],
    ) -> Appended:
        try:
            with lent as connection:
                return write(self._appender(connection, lease), records, lines)
        except ServerUnreachable:
            # The answer may have been lost on its way.
            if lease.attempts:
                with suppress(StorageError), self._database.saving() as connection:
                    settled = self._appender(connection, lease).settle(records)
                    if settled is not None:
                        return settled
            raise

    def _appender(self, connection: "Connection", lease: PostgresLease) -> JournalAppender:
        return JournalAppender(connection, lease, self._leases, self._clock)

    def add_imported(
        self, header: SessionHeader, records: Iterable[Encoded], *, active: bool = False
    ) -> None:
        checked_id(header.id)

        def make(attempt: str) -> None:
            with self._database.connection(IMPORT_SECONDS) as connection:
                add_session(connection, header, records, self._clock(), attempt, active=active)

        with _saving(header.id):
            self._attempts.once(header.id, "imported", make)

    def imports(self, naming: str = "") -> Iterator[ImportLine]:
        found = self._database.execute(_IMPORTS, (bytes_naming(naming),))
        return IMPORTS.decoded(bytes(row[0]) for row in found)

    def note_imports(self, lines: Sequence[ImportLine]) -> None:
        encoded = [journal_json(msgspec.to_builtins(line)) for line in lines]
        self._database.execute(
            "insert into imports (line) select line from unnest(%s::bytea[]) line", (encoded,)
        )

    def add_attachment(self, session_id: str, data: bytes) -> str:
        sha256 = checked_hash(data)
        with self._database.connection() as connection:
            rows.note_pictures(connection, checked_id(session_id), [sha256])
            connection.execute(_KEEP_PICTURE, (sha256, data))
        return sha256

    def attachment(self, session_id: str, sha256: str) -> bytes:  # noqa: ARG002 - all share them
        found: list[Any] = []
        if sha256.isascii() and sha256.isalnum():
            query = "select data from pictures where sha256 = %s"
            found = self._database.execute(query, (sha256,))
        if not found or hash_of(bytes(found[0][0])) != sha256:
            raise AttachmentNotFound(sha256)
        return bytes(found[0][0])

    def find_attachment(self, session_id: str, prefix: str) -> str:  # noqa: ARG002 - all share them
        if not prefix.isascii() or not prefix.isalnum():
            raise AttachmentNotFound(prefix)
        query = "select sha256 from pictures where starts_with(sha256, %s) limit 2"
        return only_match(prefix, [str(row[0]) for row in self._database.execute(query, (prefix,))])

    # --- reading

    def journal(self, session_id: str) -> Journal:
        return Journal(partial(self._opened, session_id))

    def watch(self, changed: Callable[[str], None]) -> bool:
        if self._listener is not None:
            self._listener.close()
        self._listener = Listener(self._database, changed)
        return True

    def stamp(self, session_id: str) -> Stamp:
        with self._database.connection() as connection:
            row = rows.published_row(connection, session_id)
        where = "closed" if row.place == "kept" else row.status
        return Stamp(str(row.number), row.size, row.changed, where)

    def list(self, wanted: SessionFilter, cursor: str | None, limit: int) -> Listing:
        with self._database.connection() as connection:
            return self._lister.page(connection, wanted, cursor, limit)

    def count(self, wanted: SessionFilter) -> int:
        condition, values = condition_of(wanted, wanted.statuses)
        query = f"select count(*) from sessions where {condition}"  # noqa: S608 - our constants
        return int(self._database.execute(query, values)[0][0])

    def entries(self, session_ids: Iterable[str]) -> tuple[SessionEntry, ...]:
        with self._database.connection() as connection:
            wanted = [each for each in session_ids if is_session_id(each)]
            return self._lister.entries(connection, wanted)

    def location(self, session_id: str) -> str:
        with self._database.connection() as connection:
            rows.published_row(connection, session_id)
            info = connection.info
            return f"postgresql://{info.host or ''}/{info.dbname}#{session_id}"

    def catalog(self, wanted: SessionFilter) -> PostgresCatalog:
        return PostgresCatalog(self._database, wanted, self.imports)

    def search_index(
        self, query: str, limit: int, seconds: float, wanted: Callable[[], bool] | None
    ) -> "SearchResult":
        from tui.storage.postgres.search import search

        with self._database.connection() as connection:
            return search(connection, query, limit, seconds, wanted)

    def build_index(self, builder: str, *, anew: bool = False) -> Iterator[Progress]:  # noqa: ARG002
        """Rebuild the index of all sessions, newest use first; it is never behind."""
        if not anew:
            return
        waiting: list[tuple[str, int]] = self._database.execute(listing.SIZES)
        done, total = 0, sum(size for _, size in waiting)
        yield Progress(done, total)
        for session_id, size in waiting:
            # A doctor tells of it.
            with (
                suppress(SessionDamaged),
                self._database.connection(_INDEX_SECONDS) as connection,
            ):
                index_session(connection, session_id)
            done += size
            yield Progress(done, total)

    # --- moving

    def delete(self, session_id: str, batch: Batch | None = None) -> None:
        self._move(session_id, ("kept", "archived"), "trashed", batch)

    def archive(self, session_id: str, batch: Batch | None = None) -> None:
        self._move(session_id, ("kept",), "archived", batch)

    def restore(self, session_id: str, batch: Batch | None = None) -> None:
        self._move(session_id, ("archived", "trashed"), "kept", batch)

    def purge(self, session_id: str) -> None:
        def make(_: str) -> None:
            with self._leases.borrowed(session_id, "trashed") as (connection, lease, _row):
                if connection.execute(_PURGE, (session_id, lease.epoch)).fetchone() is None:
                    raise self._busy(session_id)
                pictures = connection.execute(_FORGET_PICTURES, (session_id,)).fetchall()
                connection.execute(_FREE_PICTURES, ([row[0] for row in pictures], KEPT_DAYS))
                self._leases.drop(lease)

        self._attempts.once(session_id, _PURGED, make)

    def _move(
        self, session_id: str, places: tuple[Place, ...], place: Place, batch: Batch | None
    ) -> None:
        """Move a session in one transaction with its line in the log."""
        moves = batch or new_batch("user")

        def make(attempt: str) -> None:
            written: Attempt | None = None
            with self._leases.borrowed(session_id, *places) as (connection, lease, row):
                if place == "kept" and lease.newer is None and moves.reason != "undo":
                    written = self._appender(connection, lease).restore(row.place)
                source, target = rows.PLACES[row.place], rows.PLACES[place]
                line = moves.move(row.id, source, target, self.now())
                wanted = {
                    "id": session_id,
                    "epoch": lease.epoch,
                    "left": row.place,
                    "place": place,
                    "attempt": attempt,
                    "line": msgspec.json.encode(line),
                }
                moved = connection.execute(_MOVE, wanted)
            # Its answer came with that of the commit. Nothing was moved without the lease, or if
            # an attempt that was taken for lost came first.
            if moved.fetchone() is None:
                raise self._busy(session_id)
            if written is not None:
                lease.accept(written)

        self._attempts.once(session_id, place, make)

    def _busy(self, session_id: str) -> SessionBusy:
        """Name the program that was quicker."""
        holder = self._leases.holder(session_id)
        return SessionBusy(session_id, str(holder)) if holder else SessionBusy(session_id)

    def moves(self) -> tuple[Move, ...]:
        found = self._database.execute(_LAST_MOVES)
        return decoded_moves([row[0] for row in reversed(found)])

    # --- scopes

    def set_active(self, scope: str, session_id: str) -> None:
        with self._database.connection() as connection:
            rows.set_active(connection, scope, checked_id(session_id))

    def active(self, scope: str) -> str | None:
        found = self._database.execute(listing.ACTIVE_OF, {"scope": scope_key(scope)})
        return found[0][0]

    # --- within

    @contextmanager
    def _opened(self, session_id: str) -> Generator[OpenJournal]:
        with self._database.connection() as connection:
            row, reader = rows.opened(connection, session_id)
        # Whoever reads slowly keeps no connection.
        reader.lend(self._database.connection)
        own = self._leases.find(session_id)
        held = row.leased and (own is None or own.written)
        with odd_values(session_id):
            yield OpenJournal(reader.read, row.size, row.id, row.header, held=held)


@contextmanager
def _saving(session_id: str) -> Generator[None]:
    try:
        yield
    except DamagedRecord as error:
        raise StorageError(f"Cannot save session {session_id}: a record is {error}") from error


def _is_verified(connection: "Connection") -> bool:
    wanted = connection.info.get_parameters()
    checks = wanted.get("sslmode", "").startswith("verify-")
    return connection.pgconn.ssl_in_use and (checks or wanted.get("sslrootcert") == "system")


def _is_local(connection: "Connection") -> bool:
    """True for a socket of this machine, and for loopback."""
    try:
        return ip_address(connection.info.hostaddr).is_loopback
    except ValueError:
        return connection.info.host.startswith(("/", "@"))
