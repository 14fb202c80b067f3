"""The sessions that a program holds: reserved, leased, or borrowed for one operation."""

import secrets
import socket
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.ids import SESSION_NUMBERS, checked_id, new_session_id
from tui.domain.journal.records import SessionHeader
from tui.domain.journal.session import Holder
from tui.errors import NewerVersion
from tui.storage.postgres.connection_pool import ConnectionPool, transaction
from tui.storage.postgres.leases import PostgresLease, ServerLeases
from tui.storage.postgres.processes import this_process
from tui.storage.postgres.rows import HolderNote, Place, Row, row_of
from tui.storage.postgres.taking import is_free, published_row, reserve, take

if TYPE_CHECKING:
    from psycopg import Connection


class Holding:
    """Takes leases for one program, and keeps them in ``held``; thread-safe."""

    def __init__(self, database: ConnectionPool, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._program = uuid.uuid4().hex
        self.held = ServerLeases(database)

    def reserve(self, header: SessionHeader) -> PostgresLease:
        """Reserve a session under the id that was asked for.

        Raises ``SessionNotFound``, ``SessionBusy``, ``SessionExists``.
        """
        with self._database.connection() as connection:
            epoch = reserve(connection, header, self.note(), self._unaware(header.id))
        return self._kept(header, epoch)

    def begin(self, header: SessionHeader) -> PostgresLease:
        """Begin a session under a new id, which its first append reserves: nobody waits for it."""
        name = new_session_id(self._clock(), secrets.randbelow(SESSION_NUMBERS))
        return self._kept(msgspec.structs.replace(header, id=name), 0)

    def lease(self, session_id: str) -> PostgresLease:
        """Lease a session that is kept or archived. Raises as ``SessionStore.lease``."""
        with self._database.saving() as connection:
            row = published_row(connection, session_id, "kept", "archived")
            lease = self._take(connection, row, "kept", "archived")
        if lease.newer is not None:
            lease.release()
            raise NewerVersion(session_id, lease.newer)
        return self.held.keep(lease)

    def holder(self, session_id: str) -> Holder | None:
        """Find the holder of a session."""
        with self._database.connection() as connection:
            row = row_of(connection, checked_id(session_id))
        if row is None or is_free(row, self._unaware(session_id)):
            return None
        return row.held_by

    @contextmanager
    def borrowed(
        self, session_id: str, *places: Place
    ) -> Generator[tuple["Connection", PostgresLease, Row]]:
        """Lease a session for one transaction, unless this program has a lease already."""
        own = lease = self.held.find(session_id)
        try:
            with self._database.connection() as connection:
                row = published_row(connection, session_id, *places)
                if own is not None:
                    own.resolve(row.last_append)
                if own is not None and own.epoch != row.epoch:
                    self.held.lose(own)
                    own = None
                lease = own or self._take(connection, row, *places)
                with transaction(connection):
                    yield connection, lease, row
        finally:
            # By the same connection, which is free again.
            if lease is not None and lease is not own:
                lease.release()

    def note(self) -> bytes:
        """Describe this program, for the row of a session that it holds."""
        note = HolderNote(this_process(), socket.gethostname(), self._clock(), self._program)
        return msgspec.json.encode(note)

    def _kept(self, header: SessionHeader, epoch: int) -> PostgresLease:
        lease = PostgresLease(header.id, epoch, self.held.release, header, header.scope)
        return self.held.keep(lease)

    def _take(self, connection: "Connection", row: Row, *places: Place) -> PostgresLease:
        unaware = self._unaware(row.id)
        return take(connection, row, places, self.note(), self.held.release, unaware)

    def _unaware(self, session_id: str) -> str:
        """Name this program if it has no lease: one at the server is of a lost answer."""
        return "" if self.held.find(session_id) is not None else self._program
