"""The leases that a program holds on sessions of the server, and their renewal."""

import threading
from collections.abc import Callable, Mapping

import msgspec

from tui.domain.journal.records import NO_OFFSETS, Offsets, Record, SessionHeader
from tui.errors import LeaseLost, ReadOnly, StorageError
from tui.storage.postgres.connection_pool import ConnectionPool
from tui.storage.protocol import Appended, Lease

LEASE_SECONDS = 12
_RENEWALS = 4

# A row that is locked is being written to, and keeps no other lease waiting.
_RENEW = """
    with free as (
        select sessions.id
        from sessions join unnest(%(ids)s::text[], %(epochs)s::bigint[]) held(id, epoch)
        on sessions.id = held.id and sessions.epoch = held.epoch
        for no key update of sessions skip locked)
    update sessions set leased_until = now() + make_interval(secs => %(seconds)s)
    from free where sessions.id = free.id
"""
_RELEASE = "update sessions set leased_until = null, holder = null where id = %s and epoch = %s"
UNRESERVE = "delete from sessions where id = %s and epoch = %s and place = 'reserved'"


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
    """The leases of one program; thread-safe. A thread renews them while there are any."""

    def __init__(self, database: ConnectionPool) -> None:
        self._database = database
        self._leases: Mapping[str, PostgresLease] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._renewing = False

    def keep(self, lease: PostgresLease) -> PostgresLease:
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
        given_up = _RELEASE if lease.beginning is None else UNRESERVE
        try:
            with self._database.saving() as connection:
                connection.execute(given_up, (lease.session_id, lease.epoch))
        except StorageError:
            # It runs out by itself.
            return

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
        try:
            with self._database.saving() as connection:
                wanted = {"ids": ids, "epochs": epochs, "seconds": LEASE_SECONDS}
                connection.execute(_RENEW, wanted)
        except StorageError:
            # Whoever lost a lease meanwhile is told by the next append.
            return
