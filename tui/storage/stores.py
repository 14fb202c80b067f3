"""The store that the configuration names, and private sessions, which are in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tui.domain.journal.records import Record, is_private
from tui.domain.journal.session import Holder, SessionEntry, Stamp
from tui.domain.moves import Move
from tui.errors import ConfigError
from tui.storage.file_store import FileStore
from tui.storage.journal import Journal
from tui.storage.protocol import (
    Appended,
    Lease,
    Listing,
    SessionFilter,
    SessionReader,
    SessionStore,
)

if TYPE_CHECKING:
    # Only a search imports the one, and only a private session the other.
    from tui.domain.search.query import SearchResult
    from tui.storage.private_sessions import PrivateSessions


_POSTGRES = ("postgresql://", "postgres://")


class SessionStores(SessionReader):
    """Reads a session from the store that has it, by its id; lists and searches the ``main`` one.

    A session whose id begins with ``private-`` is in memory, and nothing of it on a disk.
    """

    def __init__(self, main: SessionStore, clock: Callable[[], datetime]) -> None:
        self.main = main
        self._clock = clock

    @cached_property
    def private(self) -> "PrivateSessions":
        """The private sessions of this program."""
        # Imported late: the first screen does not need it.
        from tui.storage.private_sessions import PrivateSessions

        return PrivateSessions(self._clock)

    def of(self, session_id: str) -> "SessionStore | PrivateSessions":
        """The store of a session, also of one that does not exist yet."""
        return self.private if is_private(session_id) else self.main

    def keep(
        self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes]
    ) -> tuple[Lease, Appended]:
        """Write a private session to the ``main`` store, with further records; gives its lease.

        Nothing is left of the private one. Raises ``StorageError``, and nothing has changed then.
        """
        header, known = self.private.contents(lease)
        kept = self.main.create(
            header.scope, header.project_path, header.model, created_at=header.created_at
        )
        try:
            for picture in self.private.pictures(lease.session_id).values():
                self.main.add_attachment(kept.session_id, picture)
            appended = self.main.append(kept, [*known, *records], [*[b""] * len(known), *lines])
        except BaseException:
            kept.release()
            raise
        self.private.forget(lease)
        return kept, appended

    # --- by id

    def journal(self, session_id: str) -> Journal:
        return self.of(session_id).journal(session_id)

    def entry(self, session_id: str) -> SessionEntry:
        return self.of(session_id).entry(session_id)

    def attachment(self, session_id: str, sha256: str) -> bytes:
        return self.of(session_id).attachment(session_id, sha256)

    def find_attachment(self, session_id: str, prefix: str) -> str:
        return self.of(session_id).find_attachment(session_id, prefix)

    def resolve(
        self,
        target: str,
        scope: str,
        *,
        listed: Sequence[str] = (),
        wanted: SessionFilter | None = None,
    ) -> str:
        ids = self.private.ids if is_private(target) else ()
        private = [each for each in ids if each.startswith(target)]
        if len(private) == 1:
            return private[0]
        return self.main.resolve(target, scope, listed=listed, wanted=wanted)

    # --- of the main store

    def holder(self, session_id: str) -> Holder | None:
        return self.main.holder(session_id)

    def obstacles(self) -> tuple[str, ...]:
        return self.main.obstacles()

    def stamp(self, session_id: str) -> Stamp:
        return self.main.stamp(session_id)

    def location(self, session_id: str) -> str:
        return self.main.location(session_id)

    def watch(self, changed: Callable[[str], None]) -> bool:
        return self.main.watch(changed)

    def entries(self, session_ids: Iterable[str]) -> tuple[SessionEntry, ...]:
        return self.main.entries(session_ids)

    def list(self, wanted: SessionFilter, cursor: str | None, limit: int) -> Listing:
        return self.main.list(wanted, cursor, limit)

    def count(self, wanted: SessionFilter) -> int:
        return self.main.count(wanted)

    def search(
        self,
        query: str,
        limit: int,
        *,
        seconds: float = 0.2,
        wanted: Callable[[], bool] | None = None,
    ) -> "SearchResult":
        return self.main.search(query, limit, seconds=seconds, wanted=wanted)

    def moves(self) -> tuple[Move, ...]:
        return self.main.moves()

    def active(self, scope: str) -> str | None:
        return self.main.active(scope)


@runtime_checkable
class ServerStore(Protocol):
    """A store at a server, besides the verbs of ``SessionStore``."""

    def check(self) -> Sequence[str]:
        """Connect, and return warnings. Raises ``StorageError``."""
        ...

    def report(self) -> Mapping[str, str]:
        """Describe the server. Raises ``StorageError``."""
        ...


def open_store(address: str, root: Path, clock: Callable[[], datetime]) -> SessionStore:
    """Open the store of an address; without one, the files below ``root``.

    Raises ``ConfigError``, and ``StorageError`` for a store that cannot be opened.
    """
    if not address:
        return FileStore(root, clock)
    if address.startswith(_POSTGRES):
        from tui.storage.postgres.store import PostgresStore

        return PostgresStore(address, clock)
    # It may have a password: it is not repeated.
    raise ConfigError("settings", "store", "an address begins with postgresql://")
