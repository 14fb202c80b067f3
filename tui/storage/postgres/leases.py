"""The leases that a program holds on sessions of the server, their taking and their renewal."""

import secrets
import socket
import threading
import uuid
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.records import (
    NO_OFFSETS,
    SESSION_NUMBERS,
    VERSION,
    Offsets,
    Record,
    SessionHeader,
    checked_id,
    encode,
    new_session_id,
)
from tui.domain.journal.session import Holder
from tui.errors import LeaseLost, NewerVersion, ReadOnly, SessionExists, StorageError
from tui.storage.journal import OpenJournal
from tui.storage.postgres import rows
from tui.storage.postgres.connection_pool import ConnectionPool, transaction
from tui.storage.postgres.rows import PieceReader, Place, Row
from tui.storage.postgres.tables import scope_key
from tui.storage.postgres.words import origin_lexemes
from tui.storage.protocol import Appended, Lease

if TYPE_CHECKING:
    from psycopg import Connection

LEASE_SECONDS = 12
_RENEWALS = 4

_RESERVE = """
    insert into sessions (id, scope, header, place, epoch, holder, leased_until)
    values (%(id)s, %(scope)s, %(header)s, 'reserved', 1, %(holder)s,
        now() + make_interval(secs => %(seconds)s))
    on conflict (id) do nothing returning epoch
"""
_TAKE = """
    update sessions set epoch = epoch + 1, holder = %(holder)s,
        leased_until = now() + make_interval(secs => %(seconds)s)
    where id = %(id)s and epoch = %(epoch)s and place = any(%(places)s)
        and (holder is null or holder = %(gone)s or coalesce(leased_until <= now(), true))
    returning epoch
"""
"""Its holder may renew the lease at the last moment."""
# A row that is locked is being written to, and keeps no other lease waiting. One without a holder
# was released while its renewal was on its way.
_RENEW = """
    with free as (
        select sessions.id
        from sessions join unnest(%(ids)s::text[], %(epochs)s::bigint[]) held(id, epoch)
        on sessions.id = held.id and sessions.epoch = held.epoch
        where holder is not null
        for no key update of sessions skip locked)
    update sessions set leased_until = now() + make_interval(secs => %(seconds)s)
    from free where sessions.id = free.id
"""
_RELEASE = "update sessions set leased_until = null, holder = null where id = %s and epoch = %s"
_UNRESERVE = "delete from sessions where id = %s and epoch = %s and place = 'reserved'"


class Attempt(msgspec.Struct, frozen=True):
    """An append that was sent; the session's row names the one that was made last."""

    append: str
    epoch: int
    ordinal: int
    size: int
    """Of the journal before it: of several attempts at one size, one is made at most."""
    size_after: int
    offsets_after: Offsets
    records: tuple[Record, ...]
    """All that the caller wants to have written by it, and by those made before."""
    restores: bool = False


class PostgresLease(msgspec.Struct, eq=False):
    """The right to append: the session's epoch at the server, and its journal as last written."""

    session_id: str
    epoch: int
    release_at: Callable[["PostgresLease"], None]
    beginning: SessionHeader | None = None
    """Of a session that is not published yet."""
    scope: str = ""
    origin: str = ""
    """The lexemes of its project and program."""
    ordinal: int = 0
    size: int = 0
    offsets: Offsets = NO_OFFSETS
    torn: bool = False
    """True if the last line has no newline."""
    newer: int | None = None
    held: bool = True
    lost: bool = False
    """True once another program has it."""
    written: bool = False
    attempts: tuple[Attempt, ...] = ()
    """Those whose answers never came: one of them may have been made, or still be."""
    written_records: tuple[Record, ...] = ()
    """What was written, and the caller does not know it: the next append begins with it."""
    restored: bool = False
    """True if it was restored by an append, and the caller does not know it."""
    foreign: tuple[Record, ...] = ()
    """The records of others that the caller does not know."""

    def release(self) -> None:
        if self.held:
            self.held = False
            self.release_at(self)

    def look(self, row: Row, reader: PieceReader) -> None:
        """Read what is to be known of the journal."""
        end = OpenJournal(reader.read, row.size, row.id, row.header, held=False).tail(0).session
        self.scope, self.ordinal, self.size = row.header().scope, row.ordinal, row.size
        self.offsets, self.origin = end.offsets, origin_lexemes(row.header())
        self.newer = end.header.version if end.header.version > VERSION else None
        self.torn = reader.read(1, row.size - 1) != b"\n"

    def resolve(self, last_append: str | None) -> bool:
        """Find out if an attempt was made, by the last append in the session's row."""
        made = next((each for each in self.attempts if each.append == last_append), None)
        if made is not None:
            self.accept(made)
        return made is not None

    def accept(self, made: Attempt) -> None:
        """Go on behind an append that was made."""
        self.epoch, self.ordinal, self.beginning = made.epoch, made.ordinal, None
        self.size, self.offsets = made.size_after, made.offsets_after
        self.torn, self.written, self.attempts = False, True, ()
        self.written_records = made.records
        self.restored = self.restored or made.restores

    def acknowledged(self) -> Appended:
        """Answer the caller, who knows all from here on."""
        appended = Appended(self.ordinal, self.restored, self.foreign)
        self.written_records, self.restored, self.foreign = (), False, ()
        return appended


class ServerLeases:
    """Takes leases for one program, and renews them in a thread while there are any; thread-safe.

    Sessions are reserved, leased, or borrowed for one operation.
    """

    def __init__(self, database: ConnectionPool, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._program = uuid.uuid4().hex
        self._leases: Mapping[str, PostgresLease] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._renewing = False

    # --- taking

    def create(self, header: SessionHeader) -> PostgresLease:
        """Reserve a session under the id of its header.

        Without one, begin it under a new id, which its first append reserves: nobody waits for it.
        Raises ``SessionBusy``, ``SessionExists``.
        """
        epoch = 0
        if header.id:
            with self._database.connection() as connection:
                epoch = self.reserve(connection, header)
        else:
            name = new_session_id(self._clock(), secrets.randbelow(SESSION_NUMBERS))
            header = msgspec.structs.replace(header, id=name)
        return self._keep(PostgresLease(header.id, epoch, self.release, header, header.scope))

    def reserve(self, connection: "Connection", header: SessionHeader) -> int:
        """Reserve an id; gives the epoch. Raises ``SessionBusy``, ``SessionExists``."""
        values = {
            "id": header.id,
            "scope": scope_key(header.scope),
            "header": encode(header),
            "holder": self._note(),
            "seconds": LEASE_SECONDS,
        }
        while (taken := connection.execute(_RESERVE, values).fetchone()) is None:
            row = rows.row_of(connection, header.id)
            if row is not None and not row.is_free(self._unaware(header.id)):
                raise row.busy
            if row is None or row.place != "reserved":
                raise SessionExists(header.id)
            # Whoever had reserved it is gone.
            connection.execute(_UNRESERVE, (header.id, row.epoch))
        return int(taken[0])

    def lease(self, session_id: str) -> PostgresLease:
        """Lease a session that is kept or archived. Raises as ``SessionStore.lease``."""
        with self._database.saving() as connection:
            row = rows.published_row(connection, session_id, "kept", "archived")
            lease = self._take(connection, row, "kept", "archived")
        if lease.newer is not None:
            lease.release()
            raise NewerVersion(session_id, lease.newer)
        return self._keep(lease)

    @contextmanager
    def borrowed(
        self, session_id: str, *places: Place
    ) -> Generator[tuple["Connection", PostgresLease, Row]]:
        """Lease a session for one transaction, unless this program has a lease already."""
        own = lease = self.find(session_id)
        try:
            with self._database.connection() as connection:
                row = rows.published_row(connection, session_id, *places)
                if own is not None:
                    own.resolve(row.last_append)
                if own is not None and own.epoch != row.epoch:
                    self.lose(own)
                    own = None
                lease = own or self._take(connection, row, *places)
                with transaction(connection):
                    yield connection, lease, row
        finally:
            # By the same connection, which is free again.
            if lease is not None and lease is not own:
                lease.release()

    def holder(self, session_id: str) -> Holder | None:
        """Find the holder of a session."""
        with self._database.connection() as connection:
            row = rows.row_of(connection, checked_id(session_id))
        if row is None or row.is_free(self._unaware(session_id)):
            return None
        return row.held_by

    def _take(self, connection: "Connection", row: Row, *places: Place) -> PostgresLease:
        """Take the lease of a session in one of these places.

        Raises ``SessionBusy``, ``SessionNotFound``, ``SessionDamaged``.
        """
        if not row.is_free(self._unaware(row.id)):
            raise row.busy
        wanted = {
            "id": row.id,
            "epoch": row.epoch,
            "holder": self._note(),
            "gone": row.holder if row.leased else None,
            "places": list(places),
            "seconds": LEASE_SECONDS,
        }
        with connection.pipeline():
            # In one transaction, and one trip: nobody appends between the two.
            taking = connection.execute(_TAKE, wanted)
            reading = connection.execute(rows.OPENED.encode(), (row.id,), binary=True)
        taken = taking.fetchone()
        if taken is None:
            # Somebody was quicker.
            raise rows.published_row(connection, row.id, *places).busy
        lease = PostgresLease(row.id, int(taken[0]), self.release)
        try:
            lease.look(*rows.opened_row(connection, row.id, reading.fetchone()))
        except BaseException:
            lease.release()
            raise
        return lease

    def _note(self) -> bytes:
        """Describe this program, for the row of a session that it holds."""
        process, host = rows.this_process(), socket.gethostname()
        return msgspec.json.encode(rows.HolderNote(process, host, self._clock(), self._program))

    def _unaware(self, session_id: str) -> str:
        """Name this program if it has no lease: one at the server is of a lost answer."""
        return "" if self.find(session_id) is not None else self._program

    # --- held

    def _keep(self, lease: PostgresLease) -> PostgresLease:
        with self._lock:
            self._leases = {**self._leases, lease.session_id: lease}
            if not self._renewing:
                self._renewing = True
                self._wake.clear()
                threading.Thread(target=self._renew_all, daemon=True, name="leases").start()
        return lease

    def find(self, session_id: str) -> PostgresLease | None:
        return self._leases.get(session_id)

    def own(self, lease: Lease) -> PostgresLease:
        """Check that a lease is one of these and held. Raises ``ReadOnly``, ``LeaseLost``."""
        held = self.find(lease.session_id)
        if isinstance(lease, PostgresLease) and lease.lost:
            raise LeaseLost(lease.session_id)
        if held is None or held is not lease or not held.held:
            raise ReadOnly(lease.session_id)
        return held

    def lose(self, lease: PostgresLease) -> None:
        """Forget a lease that another program has taken."""
        lease.lost = True
        self.drop(lease)

    def drop(self, lease: PostgresLease) -> None:
        """Forget a lease."""
        lease.held = False
        with self._lock:
            self._leases = {key: other for key, other in self._leases.items() if other is not lease}

    def release(self, lease: PostgresLease) -> None:
        """Give a lease up at the server, which would otherwise end it after a while."""
        self.drop(lease)
        given_up = _RELEASE if lease.beginning is None else _UNRESERVE
        # It runs out by itself.
        with suppress(StorageError), self._database.saving() as connection:
            connection.execute(given_up, (lease.session_id, lease.epoch))

    def close(self) -> None:
        """End the renewal; what is still held runs out at the server."""
        with self._lock:
            self._leases = {}
        self._wake.set()

    def _renew_all(self) -> None:
        while True:
            self._wake.wait(LEASE_SECONDS / _RENEWALS)
            with self._lock:
                leases = list(self._leases.values())
                self._renewing = bool(leases)
            if not leases:
                return
            self._renew(leases)

    def _renew(self, leases: list[PostgresLease]) -> None:
        ids, epochs = [each.session_id for each in leases], [each.epoch for each in leases]
        wanted = {"ids": ids, "epochs": epochs, "seconds": LEASE_SECONDS}
        # Whoever lost a lease meanwhile is told by the next append.
        with suppress(StorageError), self._database.saving() as connection:
            connection.execute(_RENEW, wanted)
