"""The storage protocol: the interface of every backend that keeps sessions.

``FileStore`` is the default, ``PostgresStore`` keeps sessions at a server. A backend inherits
from ``SessionStore`` and passes ``tests/storage/contract.py``; it needs nothing else of the
program.

Every verb may raise ``StorageError`` (and ``StorageFull``) when the backend itself fails; its
docstring lists the other errors. No verb returns ``None`` for a failure.

Units: times are strings in UTC with milliseconds, such as ``2026-01-11T14:30:22.123Z``
(``tui.domain.timestamps``), and ``""`` or ``None`` where unknown. ``damaged`` counts lines of a
journal that could not be decoded. ``count``, ``before``, ``after`` and ``limit`` count messages,
list entries or hits. Cursors are opaque strings, valid for the store that made them.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import msgspec

from tui.domain.imports import ImportLine, came_from
from tui.domain.journal.records import VERSION, Encoded, Record, SessionHeader, checked_id
from tui.domain.journal.session import Holder, SessionEntry, Stamp, Status
from tui.domain.moves import Batch, Move
from tui.domain.targets import SessionLookups, resolve, titled
from tui.domain.text import local_minute, scope_name, whole_label
from tui.domain.timestamps import format_utc
from tui.errors import AmbiguousSession, SessionNotFound
from tui.storage.journal import Journal

if TYPE_CHECKING:
    # Only a search imports it: the first screen does not wait for it.
    from tui.domain.search.query import SearchResult
    from tui.storage.copyable import Journals

KEPT: frozenset[Status] = frozenset({"open", "closed"})
KEPT_OR_ARCHIVED: frozenset[Status] = frozenset({"open", "closed", "archived"})
EVERYWHERE: frozenset[Status] = frozenset({"open", "closed", "archived", "trashed"})

_MOST_TITLES = 5000
"""The sessions used last, whose titles are compared with a target that nothing else means."""
_DESCRIBED = 20

Order = Literal["used", "pinned", "closed"]
"""The order of a list: newest use first, the same under those that are pinned, or latest closed
first.

A page is in the exact order of closing; between pages a backend may take the last change for it.
"""


_PAGE = 200


class SessionFilter(msgspec.Struct, frozen=True):
    """A filter of lists, and their order; without a scope it passes every scope.

    ``used_before`` passes only sessions whose last use is earlier than this time.
    """

    scope: str | None = None
    statuses: frozenset[Status] = KEPT
    used_before: str | None = None
    order: Order = "used"


FINDABLE = SessionFilter(statuses=KEPT_OR_ARCHIVED)
"""The sessions that a name or the beginning of an id may mean."""


class Listing(msgspec.Struct, frozen=True):
    """One page of a list; ``cursor`` is that of the next page, or ``None``."""

    entries: tuple[SessionEntry, ...]
    cursor: str | None


class SearchLimits(msgspec.Struct):
    """The limits of a search; ``late`` is set once it had to stop early."""

    deadline: float
    wanted: Callable[[], bool] | None = None
    late: bool = False

    def over(self) -> bool:
        """Check the clock and the caller; true means stop."""
        over = time.monotonic() >= self.deadline or (self.wanted is not None and not self.wanted())
        self.late = self.late or over
        return over


class Progress(NamedTuple):
    """Progress of the search index, in bytes of journals."""

    done: int
    total: int
    builder: str = ""
    """Who builds it meanwhile: an own build waits for that."""


class Appended(msgspec.Struct, frozen=True):
    """The result of an append.

    ``ordinal`` is the session's number in its scope, from 1. ``foreign`` are records that another
    program added since this one last wrote or read the session, oldest first. ``restored`` is
    true if the session was archived and the append brought it back.
    """

    ordinal: int
    restored: bool = False
    foreign: tuple[Record, ...] = ()


class Lease(Protocol):
    """The right to append to one session, until ``release`` or the end of its program."""

    @property
    def session_id(self) -> str: ...

    def release(self) -> None:
        """Give the lease up; a second call does nothing."""
        ...


class JournalReader(Protocol):
    """Reads one session at a time."""

    def journal(self, session_id: str) -> Journal:
        """Give the journal of a session; only its verbs look whether the session is there."""
        ...

    def attachment(self, session_id: str, sha256: str) -> bytes:
        """Read a picture of a session, checked against its hash.

        Raises ``AttachmentNotFound``, also for a damaged one.
        """
        ...

    def find_attachment(self, session_id: str, prefix: str) -> str:
        """Find the SHA-256 of a kept picture by its first 16 or more hexadecimal digits.

        Raises ``AttachmentNotFound``, also if several begin with them.
        """
        ...


class JournalStore(JournalReader, Protocol):
    """Keeps sessions, one at a time: what whoever writes to a session needs of its store.

    The private sessions of a program are one as well (``tui.storage.private_sessions``).
    """

    _clock: Callable[[], datetime]

    def create(
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
        """Reserve a session and lease it; the first ``append`` makes it exist for others.

        The first ``append`` also makes it the active session of its scope. ``project_path`` is an
        absolute path, ``model`` is ``connection:model``. ``session_id`` defaults to a new id
        (``new_session_id``). ``created_at`` defaults to now; another one, as of a session that
        is copied, is kept as it is given, also if it is no time. Raises ``SessionBusy`` if a
        program, this one included, has reserved or leased the id, and ``SessionExists`` if the
        session is there otherwise, in any place.
        """
        return self.reserve(
            SessionHeader(
                version=VERSION,
                id="" if session_id is None else checked_id(session_id),
                created_at=created_at or self.now(),
                scope=scope,
                ordinal=0,
                project_path=project_path,
                model=model,
                forked_from=forked_from,
                imported_from=imported_from,
            )
        )

    def reserve(self, header: SessionHeader) -> Lease:
        """Do the work of ``create``, under a new id if the header has none."""
        ...

    def now(self) -> str:
        """The time on the clock of the store."""
        return format_utc(self._clock())

    def append(
        self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()
    ) -> Appended:
        """Write records at the end of a session; on return they are durable.

        All or nothing: after an error none of them counts, and the same call may be repeated.
        An empty sequence writes nothing. ``lines`` are the records' lines in the same order, where
        a caller has encoded them before; for an empty one the store encodes the record, and always
        a ``State``, which it completes. The first append to an archived session restores it.
        Raises ``ReadOnly`` if the lease was given up, belongs to another store or ended with a
        ``purge``, ``LeaseLost`` if another program took it over, ``SessionNotFound`` while the
        session is in the trash, ``SessionDamaged`` if records written earlier are gone, and
        ``StorageError`` for a record that ``encode`` refuses, also in a store that keeps no JSON.
        """
        ...

    def add_attachment(self, session_id: str, data: bytes) -> str:
        """Keep a picture of a session, which need not be published yet; gives its SHA-256.

        On return it is durable; the same bytes are kept once, whoever uses them. It stays as long
        as a session exists, in any place, for which it was kept, or of which a message refers to
        it: ``append``, ``extend`` and ``add_imported`` note that, and ``purge`` frees what nothing
        uses any more. A message may refer to one that is not there. Raises ``StorageError`` for
        more than 32 MiB.
        """
        ...


class SessionReader(JournalReader, Protocol):
    """The reading verbs of a store, for code that changes nothing."""

    def holder(self, session_id: str) -> Holder | None:
        """The holder of a session's lease, this program included; ``None`` if it has none."""
        ...

    def obstacles(self) -> tuple[str, ...]:
        """Describe why archive or trash cannot be used; the store works without them."""
        return ()

    def stamp(self, session_id: str) -> Stamp:
        """Read a session's stamp, which differs after each change; a follower polls it.

        Each append and each move is a change, and a purge with a new session of the same id;
        reading, leasing and releasing are none. All programs read the same stamp.
        ``length`` and ``changed`` of a ``FileStore`` are bytes and nanoseconds since 1970.

        Raises ``SessionNotFound``.
        """
        ...

    def watch(self, changed: Callable[[str], None]) -> bool:  # noqa: ARG002 - nothing tells it
        """Call ``changed`` with the id of each session that is written, leased, released or moved.

        It is called in a thread of the store, for changes by any program, until the next call of
        ``watch``. ``""`` means that any session may have changed: at the beginning, and after the
        backend was unreachable. Returns false if the backend cannot notify, as by default: its
        sessions are polled more often.
        """
        return False

    def list(self, wanted: SessionFilter, cursor: str | None, limit: int) -> Listing:
        """Read a page of at most ``limit`` sessions, in the filter's order.

        Raises ``StorageError`` for a cursor that this store did not make.
        """
        ...

    def count(self, wanted: SessionFilter) -> int:
        """Count the sessions that a filter passes, reading as few files as possible."""
        ...

    def entry(self, session_id: str) -> SessionEntry:
        """Read the list entry of one session, in any place. Raises ``SessionNotFound``."""
        found = self.entries([session_id])
        if not found:
            raise SessionNotFound(session_id)
        return found[0]

    def entries(self, session_ids: Iterable[str]) -> tuple[SessionEntry, ...]:
        """Read the list entries of some sessions, in this order, sharing the look-ups.

        Ids that are unknown or no ids are left out.
        """
        ...

    def location(self, session_id: str) -> str:
        """Describe the place of a session to its user: one line with the id, such as a path.

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
        """Resolve a target to an id by the rules of ``tui.domain.targets.resolve``, or by a title.

        A bare number counts in ``listed``, from 1. ``#N`` and a whole id mean their session in any
        place, also in the trash: from there it is restored by its number. ``wanted`` narrows the
        search for names and prefixes; by default it is every kept or archived session of every
        scope. Raises ``SessionNotFound`` with the closest ids, or ``AmbiguousSession``, which
        describes its candidates.
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
        """Search names, then messages, for all terms of a query; at most ``limit`` hits.

        ``tui.domain.search.query`` defines queries and ranking. The search covers every scope, the
        archive and messages before resets; it leaves out the trash, replaced messages, answers
        still arriving, earlier names and unreadable sessions. The hit of a name has no message,
        and the time of the session's last use. After ``seconds``, or once ``wanted`` (polled in
        the caller's thread) returns false, it returns its hits so far and sets ``late``. A query
        without words or filters finds nothing; one with a filter that cannot be used says so in
        ``notice``.

        The search may return later than after ``seconds``, as it finishes the step that it has
        begun. With 0 or less it returns at once, perhaps with nothing, and is late.
        """
        ...

    def moves(self) -> tuple[Move, ...]:
        """Read the last moves of sessions, oldest first: as many as can be read in a moment.

        They are those of all programs, and outlive the session. A session that is restored by its
        first change is not among them.
        """
        ...

    def active(self, scope: str) -> str | None:
        """Look up the session of a scope that was opened last, by any program.

        That is the session of the latest first ``append`` or ``set_active``. If it is no longer
        kept, it is the most recently used session of the scope that is. Without any it is the one
        that was imported as active, while it was never moved; else ``None``.
        """
        ...


class SessionStore(SessionReader, JournalStore, Protocol):
    """A backend: creates, leases, appends to, reads, lists, searches and moves sessions.

    **Ids.** ``tui.domain.journal.records.is_session_id`` accepts them; every verb but ``entries``
    raises ``SessionNotFound`` for any other string before it looks anywhere.

    **State.** A session is its records folded in order (``tui.domain.journal.fold.Fold``). Its
    last use is the newest message, explicit opening (``Opened`` with ``resumed``) or ``Restored``.
    ``held`` of a ``Fold`` means that the present holder has written pieces of an answer itself;
    pieces from before its lease are interrupted answers.

    **Versions.** A message may follow another one than that before it
    (``tui.domain.journal.message.Message.after``): then the conversation has versions. Readers give
    the live one; ``append`` completes ``after_at``.

    **Places.** A session is kept, archived or in the trash; the reading verbs find it in all three.
    Its status is ``open`` while it is kept and leased by any program, this one included. Moving it
    raises ``SessionBusy`` only if another program holds it; the holder may move it and keeps the
    lease, except for ``purge``. A session of a newer version can be read, listed and moved, but
    not leased. A damaged one is listed with the label ``(unreadable)``, under its scope and number
    if those are still known.

    **Numbers.** The first append gives a session its number: one more than the highest ever given
    in its scope. An imported session in the archive has the number 0, which means none, until it is
    restored.

    **Durability.** What a verb has acknowledged is seen by every program from then on, and by a
    store object that is opened later, in this process or another one.

    **Threads.** All verbs block. Any thread may read any session at any time, also while it is
    written. Of one session only one thread at a time writes, moves, leases or releases; others may
    do so with other sessions. A lease belongs to its program, not to the thread that took it. A
    "program" here is a store object, not a process.

    A backend inherits from this class, as some verbs are made of others here. Backends share the
    domain's rules: ``records``, ``text``, ``targets``, ``timestamps``, ``search.rank`` and
    ``search.SessionScan``.
    """

    def resolve(
        self,
        target: str,
        scope: str,
        *,
        listed: Sequence[str] = (),
        wanted: SessionFilter | None = None,
    ) -> str:
        wanted = wanted or FINDABLE
        try:
            return resolve(target, scope, self.catalog(wanted), listed)
        except AmbiguousSession as error:
            found = error.candidates
        except SessionNotFound as error:
            entries = () if error.where else self.list(wanted, None, _MOST_TITLES).entries
            titles = ((each.id, whole_label(each.name, each.label)) for each in entries)
            found = titled(target, titles)
            if not found:
                raise
        if len(found) == 1:
            return found[0]
        described = {
            each.id: f"{each.label} · {scope_name(each.scope)} · {local_minute(each.last_used_at)}"
            for each in self.entries(found[:_DESCRIBED])
        }
        raise AmbiguousSession(target, found, described)

    def catalog(self, wanted: SessionFilter) -> SessionLookups:
        """Make the look-ups of ``resolve``; a filter narrows names and prefixes, not ids."""
        ...

    def search(
        self,
        query: str,
        limit: int,
        *,
        seconds: float = 0.2,
        wanted: Callable[[], bool] | None = None,
    ) -> "SearchResult":
        from tui.domain.search.query import with_sessions

        found = self.search_index(query, limit, seconds, wanted)
        # The last word that is being typed ends with ``*``.
        named = query.strip().removesuffix("*").strip('"')
        ids = came_from(named, self.imports(named)) if named else ()
        return with_sessions(found, self.entries(ids), limit) if ids else found

    def search_index(
        self, query: str, limit: int, seconds: float, wanted: Callable[[], bool] | None
    ) -> "SearchResult":
        """Search as ``search``, but not by the id that a session had in another program."""
        ...

    def build_index(self, builder: str, *, anew: bool = False) -> Iterator[Progress]:
        """Bring the search index up to date, or build it anew; yields the progress.

        Waits for another program that builds it, which is told who ``builder`` is: ``an import``.
        """
        ...

    def catch_up_index(self, session_id: str) -> None:
        """Add what was written to a session to the search index, if that is little work."""

    @property
    def journals(self) -> "Journals":
        """The sessions as bytes, for copies to another store."""
        ...

    def close(self) -> None:
        """Close connections and the like; the store cannot be used afterwards."""

    def lease(self, session_id: str) -> Lease:
        """Lease a session that is kept or archived.

        Raises ``SessionNotFound``, ``SessionBusy``, ``NewerVersion``, ``SessionDamaged``.
        """
        ...

    def add_imported(
        self,
        header: SessionHeader,
        records: Iterable[Encoded],
        *,
        active: bool = False,
    ) -> None:
        """Add a whole session of another program to the archive.

        It is durable once ``note_imports`` has returned, so that a store can sync once for many
        sessions. It exists for others only when it is whole; if the making of a record raises
        anything, nothing of it is there. Each record comes with its line, or with an empty one, as
        in ``append``; they are written while they are made, so that their number is not limited by
        memory. The last use of the session is its newest message. No hook is fired.

        ``header.ordinal`` is the number that the session had in its scope, or 0: it keeps it if
        that was never given here, and has none otherwise, until it is restored. ``active`` makes
        it the active session of its scope if that has none. Nothing else of the scope changes.

        Raises ``SessionExists`` if the session is there, in any place, and ``StorageError`` for a
        record that ``encode`` refuses.
        """
        ...

    def extend(self, lease: Lease, records: Sequence[Record], lines: Sequence[bytes] = ()) -> None:
        """Write records at the end of an imported session, where it is; on return they are durable.

        As ``append``, but an archived session stays in the archive and gets no number, and its
        last use is that of the records, unless an earlier one is later.
        """
        ...

    def imports(self, naming: str = "") -> Iterator[ImportLine]:
        """Read the log of imports, oldest line first. No move and no purge changes it.

        With ``naming`` lines may be left out of which no session ``came_from`` this.

        Lines that are noted meanwhile may be missing.
        """
        ...

    def note_imports(self, lines: Sequence[ImportLine]) -> None:
        """Append lines to the log of imports; on return they are durable.

        The sessions that were added before are durable first: no line names one that a power cut
        takes.
        """
        ...

    def delete(self, session_id: str, batch: Batch | None = None) -> None:
        """Move a session to the trash.

        ``batch``, here and below, is that of the moves made together; by default the user's own,
        of this one move. Raises ``SessionNotFound`` (also if it is there already), ``SessionBusy``.
        """
        ...

    def archive(self, session_id: str, batch: Batch | None = None) -> None:
        """Move a session to the archive.

        Raises ``SessionNotFound`` (also if it is not kept), ``SessionBusy``.
        """
        ...

    def restore(self, session_id: str, batch: Batch | None = None) -> None:
        """Bring a session back from the archive or the trash, with its scope and its number.

        Appends a ``Restored`` record, which is a use, and not foreign to this program's lease;
        an undo is no use and appends nothing.
        Raises ``SessionNotFound`` (also if it is neither), ``SessionBusy``.
        """
        ...

    def purge(self, session_id: str) -> None:
        """Destroy a session in the trash; its number is never given again, its lease ends.

        Its pictures go with it, unless other sessions use them. Raises ``SessionNotFound`` (also if
        it is not in the trash), ``SessionBusy``.
        """
        ...

    def set_active(self, scope: str, session_id: str) -> None:
        """Note the session of a scope that was opened last, durably.

        It need not be there: ``active`` passes over it until it is kept. Raises
        ``SessionNotFound`` only for a string that is no id.
        """
        ...


def every_entry(
    store: SessionStore, wanted: SessionFilter, cursor: str | None = None
) -> Iterator[SessionEntry]:
    """Iterate over the sessions that match a filter, in its order; after ``cursor``, if given."""
    while True:
        listing = store.list(wanted, cursor, _PAGE)
        yield from listing.entries
        cursor = listing.cursor
        if cursor is None:
            return
