"""The store of this program, and a second one in memory for its private sessions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from tui.domain.journal.counts import CountedRequest
from tui.domain.journal.ids import is_private
from tui.domain.journal.message import Message
from tui.domain.journal.records import Record
from tui.domain.journal.session import (
    Holder,
    Page,
    Session,
    SessionEntry,
    Stamp,
    Surroundings,
    Tail,
)
from tui.domain.journal.versions import Versions
from tui.domain.moves import Move
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
    from tui.storage.memory_store import MemoryStore


class SessionStores(SessionReader):
    """Reads a session from the store that has it, by its id; lists and searches the ``main`` one.

    A session whose id begins with ``private-`` is in memory, and nothing of it on a disk.
    """

    def __init__(self, main: SessionStore, clock: Callable[[], datetime]) -> None:
        self.main = main
        self._clock = clock

    @cached_property
    def _private(self) -> "MemoryStore":
        # Imported late: the first screen does not need it.
        from tui.storage.memory_store import MemoryStore

        return MemoryStore(self._clock)

    def of(self, session_id: str) -> SessionStore:
        """The store of a session, also of one that does not exist yet."""
        return self._private if is_private(session_id) else self.main

    # --- private sessions

    def keep(
        self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes]
    ) -> tuple[Lease, Appended]:
        """Write a private session to the ``main`` store, with further records; gives its lease.

        Nothing is left of the private one. Raises ``StorageError``, and nothing has changed then.
        """
        header, known = self._private.contents(lease)
        kept = self.main.create(
            header.scope, header.project_path, header.model, created_at=header.created_at
        )
        try:
            for picture in self._private.pictures(lease.session_id):
                self.main.add_attachment(kept.session_id, picture)
            appended = self.main.append(kept, [*known, *records], [*[b""] * len(known), *lines])
        except BaseException:
            kept.release()
            raise
        self._private.forget(lease)
        return kept, appended

    def forget(self, lease: Lease) -> None:
        """Destroy a private session."""
        self._private.forget(lease)

    # --- by id

    def holder(self, session_id: str) -> Holder | None:
        return self.of(session_id).holder(session_id)

    def obstacles(self) -> tuple[str, ...]:
        return self.main.obstacles()

    def load(self, session_id: str) -> Session:
        return self.of(session_id).load(session_id)

    def tail(self, session_id: str, count: int, last: str | None = None) -> Tail:
        return self.of(session_id).tail(session_id, count, last)

    def versions(self, session_id: str) -> Versions:
        return self.of(session_id).versions(session_id)

    def records(self, session_id: str) -> Iterator[Record]:
        return self.of(session_id).records(session_id)

    def requests(self, session_id: str) -> tuple[CountedRequest, ...]:
        return self.of(session_id).requests(session_id)

    def page(self, session_id: str, cursor: str, count: int) -> Page:
        return self.of(session_id).page(session_id, cursor, count)

    def around(self, session_id: str, message_id: str, before: int, after: int) -> Surroundings:
        return self.of(session_id).around(session_id, message_id, before, after)

    def page_after(self, session_id: str, cursor: str, count: int) -> Page:
        return self.of(session_id).page_after(session_id, cursor, count)

    def stamp(self, session_id: str) -> Stamp:
        return self.of(session_id).stamp(session_id)

    def watch(self, changed: Callable[[str], None]) -> bool:
        return self.main.watch(changed)

    def since(self, session_id: str, message_id: str | None) -> tuple[Message, ...]:
        return self.of(session_id).since(session_id, message_id)

    def entry(self, session_id: str) -> SessionEntry:
        return self.of(session_id).entry(session_id)

    def is_archived(self, session_id: str) -> bool:
        return self.of(session_id).is_archived(session_id)

    def location(self, session_id: str) -> str:
        return self.of(session_id).location(session_id)

    def resolve(
        self,
        target: str,
        scope: str,
        *,
        listed: Sequence[str] = (),
        wanted: SessionFilter | None = None,
    ) -> str:
        return self.of(target).resolve(target, scope, listed=listed, wanted=wanted)

    # --- of the main store

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

    def attachment(self, session_id: str, sha256: str) -> bytes:
        return self.of(session_id).attachment(session_id, sha256)

    def find_attachment(self, session_id: str, prefix: str) -> str:
        return self.of(session_id).find_attachment(session_id, prefix)

    def moves(self) -> tuple[Move, ...]:
        return self.main.moves()

    def active(self, scope: str) -> str | None:
        return self.main.active(scope)
