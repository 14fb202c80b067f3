"""The storage protocol: what any place that keeps sessions can do.

``FileStore`` is the default, ``MemoryStore`` serves tests. Another backend implements these
verbs and passes ``tests/storage/contract.py``; it needs to know nothing else of the program.

Every verb may raise ``StorageError`` (and ``StorageFull``) when the place itself fails; what
else it raises is said with it. None gives ``None`` for a failure.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Encoder, Record, encode
from tui.domain.journal.session import (
    Holder,
    Page,
    Session,
    SessionEntry,
    Stamp,
    Status,
    Surroundings,
    Tail,
)

if TYPE_CHECKING:
    # What only a search needs is not on the way to the first screen.
    from tui.domain.search.query import SearchResult

KEPT: frozenset[Status] = frozenset({"open", "closed"})
KEPT_OR_ARCHIVED: frozenset[Status] = frozenset({"open", "closed", "archived"})
EVERYWHERE: frozenset[Status] = frozenset({"open", "closed", "archived", "trashed"})


class SessionFilter(msgspec.Struct, frozen=True):
    """Which sessions a list holds; no scope means every scope.

    ``used_before`` leaves out what was last used at that UTC time, written as records have it, or
    later.
    """

    scope: str | None = None
    statuses: frozenset[Status] = KEPT
    used_before: str | None = None


class Listing(msgspec.Struct, frozen=True):
    """One page of a list, newest use first; ``cursor`` leads on, ``None`` at the end."""

    entries: tuple[SessionEntry, ...]
    cursor: str | None


class Appended(msgspec.Struct, frozen=True):
    """What an append did beside writing.

    ``ordinal`` is the session's number in its scope. ``foreign`` are records that somebody else
    had put into the session since this program last wrote or read it, oldest first.
    ``restored`` says that an archived session came back for it.
    """

    ordinal: int
    restored: bool = False
    foreign: tuple[Record, ...] = ()


class Lease(Protocol):
    """The right to append to one session, held until ``release`` or its program's end."""

    @property
    def session_id(self) -> str: ...

    def release(self) -> None:
        """Give the right up; harmless the second time."""
        ...


BEGINNING = "0"
"""The cursor of ``page_after`` that is known from the start."""


class SessionStore(Protocol):
    """Keeps sessions.

    An id is what ``tui.domain.journal.ids.is_session_id`` takes; every verb but ``entries`` raises
    ``SessionNotFound`` for anything else, before it looks anywhere. What a session says is its
    records folded in their order (``tui.domain.journal.fold.Fold``), the last use of it the newest
    message, explicit opening (``Opened`` with ``resumed``) or ``Restored``. ``held`` for a ``Fold``
    means that its present holder has written pieces itself: those from before the lease are
    interrupted.

    A session is in one of three places: kept, the archive, the trash; what reads one finds it in
    all of them. Its status is ``open`` while it is kept and held by anybody, this program too. What
    moves it raises ``SessionBusy`` only if another program holds it: its holder may, and keeps the
    lease, but for ``purge``. One of a newer version is read, listed and moved, only not leased. One
    that is damaged is listed too, with the label ``(unreadable)``, under the scope and the number
    that it had if those are still known.

    Each gets a number in its scope with its first record, one more than the highest ever given
    there. A store object is what is called a program here, and not a process. All verbs block;
    threads may call them at once, each for another session. What is the same in every backend is
    in the domain: ``ids``, ``labels``, ``targets``, ``timestamps``, ``search.rank`` and
    ``search.Spoken``. ``tui.storage.memory_store`` is the shortest backend there is.
    """

    def create(  # noqa: PLR0913 - each is a field of the header
        self,
        scope: str,
        project_path: str,
        model: str,
        *,
        session_id: str | None = None,
        created_at: str | None = None,
        forked_from: str | None = None,
        imported_from: str | None = None,
    ) -> Lease:
        """Reserve a session and hold it; it exists for others with its first ``append``.

        Without ``session_id`` the store names it (``ids.new_session_id``); ``created_at`` is for
        one that is older than its reservation. With its first ``append`` it is the active one of
        its scope. Raises ``SessionBusy`` if the id is taken by another program and
        ``StorageError`` if a session with it exists.
        """
        ...

    def lease(self, session_id: str) -> Lease:
        """Take the right to append to a session that is kept or archived.

        Raises ``SessionNotFound``, ``SessionBusy``, ``NewerVersion``, ``SessionDamaged``.
        """
        ...

    def holder(self, session_id: str) -> Holder | None:
        """Who holds a session, this program too; ``None`` if nobody does."""
        ...

    def append(
        self, lease: Lease, records: Sequence[Record], encoder: Encoder = encode
    ) -> Appended:
        """Write records at the end of a session; on return they are durable.

        All or nothing: after an error none of them counts, and the same call may be made again.
        No records write nothing. The first append to an archived session restores it. Raises
        ``ReadOnly`` if the lease was given up, is another store's, or ended with a ``purge``,
        ``SessionNotFound`` while the session is in the trash, ``SessionDamaged`` if what had been
        written before is gone, and ``StorageError`` for what ``tui.domain.journal.records.encode``
        refuses, also if the store keeps no JSON.
        """
        ...

    def load(self, session_id: str) -> Session:
        """Read a whole session. Raises ``SessionNotFound``, ``SessionDamaged``."""
        ...

    def tail(self, session_id: str, count: int) -> Tail:
        """Read the last ``count`` live messages and all that a session shows beside them.

        Raises ``SessionNotFound``, ``SessionDamaged``.
        """
        ...

    def page(self, session_id: str, cursor: str, count: int) -> Page:
        """Read ``count`` messages before a cursor, across resets.

        Marks of resets and summaries go with the messages before them. The session is looked for
        and read before the cursor is. Raises ``SessionNotFound``, ``SessionDamaged``, and
        ``StorageError`` for a cursor that this store did not make.
        """
        ...

    def around(self, session_id: str, message_id: str, before: int, after: int) -> Surroundings:
        """Read a message with so many before and after it, across resets.

        Raises ``SessionNotFound``, ``SessionDamaged``, and ``MessageNotFound`` if the session has
        none with this id, or replaced it.
        """
        ...

    def page_after(self, session_id: str, cursor: str, count: int) -> Page:
        """Read ``count`` messages from the later cursor of ``around`` on, or of such a page.

        ``BEGINNING`` is one that leads to the first messages of all.
        Raises as ``page``. What is written meanwhile is on the last page: its cursor is ``None``.
        """
        ...

    def stamp(self, session_id: str) -> Stamp:
        """Something that is another one after each change; who follows asks every second.

        Raises ``SessionNotFound``.
        """
        ...

    def since(self, session_id: str, message_id: str | None) -> tuple[Message, ...]:
        """The live messages after a message, or all of them if it is ``None`` or not live.

        Raises ``SessionNotFound``, ``SessionDamaged``.
        """
        ...

    def list(self, wanted: SessionFilter, cursor: str | None, limit: int) -> Listing:
        """One page of sessions, newest use first. Raises ``StorageError`` for a foreign cursor."""
        ...

    def count(self, wanted: SessionFilter) -> int:
        """How many sessions a list holds, found out without reading more than must be."""
        ...

    def entry(self, session_id: str) -> SessionEntry:
        """What a list shows of one session, wherever it is. Raises ``SessionNotFound``."""
        ...

    def entries(self, session_ids: Iterable[str]) -> tuple[SessionEntry, ...]:
        """The same of some sessions, in this order.

        Those that are not there, or are no ids, are left out. What has to be found out for one of
        them is found out once for all.
        """
        ...

    def is_archived(self, session_id: str) -> bool:
        """Whether a session is archived, at no more than a look. Raises ``SessionNotFound``."""
        ...

    def location(self, session_id: str) -> str:
        """Where a session is kept, as its user would look for it: a line with the id in it.

        Raises ``SessionNotFound``.
        """
        ...

    def resolve(
        self,
        target: str,
        scope: str,
        *,
        listed: Sequence[str] = (),
        wanted: SessionFilter | None = None,
    ) -> str:
        """The id that a target means; ``listed`` is what its numbers count in.

        ``wanted`` narrows where names and prefixes are looked for: by default what is kept or
        archived, in every scope. What a target means is said by ``tui.domain.targets.resolve``,
        which leaves the closest ids to the store. Raises ``SessionNotFound`` with those of the ids
        looked among, or ``AmbiguousSession``.
        """
        ...

    def search(
        self,
        query: str,
        limit: int,
        *,
        seconds: float = 0.2,
        wanted: Callable[[], bool] | None = None,
    ) -> "SearchResult":
        """The sessions whose names have all terms of a query, then the messages that have them.

        The best ``limit`` of the newest, as ``search.rank`` says. All names and all that was said
        are searched, in every scope, before resets and in the archive; not what lies in the trash,
        was replaced, is still arriving, or cannot be read, nor what a session was called before.
        The hit of a name has no message, and the time of the session's last use. What a query
        means is said by ``tui.domain.search.query``. It stops after so many ``seconds``, or once
        ``wanted`` (asked often, in the caller's thread) says no, and gives what it has found; the
        answer says if that may not be all. A query without words finds nothing.
        """
        ...

    def delete(self, session_id: str) -> None:
        """Move a session to the trash.

        Raises ``SessionNotFound`` (also if it is there already), ``SessionBusy``.
        """
        ...

    def archive(self, session_id: str) -> None:
        """Set a session aside.

        Raises ``SessionNotFound`` (also if it is not kept), ``SessionBusy``.
        """
        ...

    def restore(self, session_id: str) -> None:
        """Bring a session back from the archive or the trash, with its scope and its ordinal.

        Writes a ``Restored`` itself, which is a use, and not foreign to a holder in this program.
        Raises ``SessionNotFound`` (also if it is neither), ``SessionBusy``.
        """
        ...

    def purge(self, session_id: str) -> None:
        """Destroy a session in the trash for good; its ordinal stays used, its lease ends.

        Raises ``SessionNotFound`` (also if it is not in the trash), ``SessionBusy``.
        """
        ...

    def set_active(self, scope: str, session_id: str) -> None:
        """Say which session of a scope was opened last."""
        ...

    def active(self, scope: str) -> str | None:
        """The session of a scope that was opened last.

        If that one is archived or deleted, the most recently used other; ``None`` if the scope
        has no session.
        """
        ...
