"""Lists sessions: a scan of the folders, and the two ends of each file shown."""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial

import msgspec

from tui.domain.journal.records import VERSION, SessionHeader
from tui.domain.journal.session import Session, SessionEntry, Status
from tui.domain.json_limits import converted, parse
from tui.domain.text.labels import UNREADABLE
from tui.domain.timestamps import MILLISECOND_NS, format_milliseconds, parse_utc, storable_ns
from tui.errors import SessionDamaged, SessionNotFound, StorageError
from tui.storage import locks
from tui.storage.disk import odd_values, storage_errors
from tui.storage.folders import Folder, Folders, JournalFile
from tui.storage.index.lazy_index import LazyIndex
from tui.storage.open_journal import JournalEnds, opened
from tui.storage.protocol import KEPT, Listing, Order, SessionFilter
from tui.storage.scopes import ScopeLine, ScopeNumber, Scopes, ScopeTable

_SECOND = 1_000_000_000
_PROJECT = "project:"
_NOWHERE = ScopeNumber("", 0)
_ScopeOf = Callable[[JournalFile, ScopeTable], str]
_FOLDERS: dict[Status, Folder] = {
    "open": Folder.SESSIONS,
    "closed": Folder.SESSIONS,
    "archived": Folder.ARCHIVE,
    "trashed": Folder.TRASH,
}
_ARCHIVED: frozenset[Status] = frozenset({"archived"})


class Directory:
    """Makes the list entries of the sessions in a data directory."""

    def __init__(self, folders: Folders, scopes: Scopes, index: LazyIndex) -> None:
        self._folders = folders
        self._scopes = scopes
        self._index = index

    def page(self, wanted: SessionFilter, cursor: str | None, limit: int) -> Listing:
        """Read a page. Raises ``StorageError`` for an invalid cursor."""
        after = _read_cursor(cursor) if cursor is not None else None
        if wanted.statuses == _ARCHIVED and self._folders.is_large(Folder.ARCHIVE):
            listing = self._indexed_page(wanted, after, limit)
            if listing is not None:
                return listing
        active, table = self._active_sessions(), self._scopes.table()
        place_of = partial(_ORDERS[wanted.order], table)
        entries: list[SessionEntry] = []
        last: JournalFile | None = None
        for file in _sorted(self._candidates(wanted, table), wanted.order, table):
            is_before = after is not None and place_of(file) <= after
            if is_before or not self._may_fit(file, wanted, table):
                continue
            if last is not None and len(entries) == limit:
                return Listing(_in_order(entries, wanted.order), json.dumps(place_of(last)))
            last = file
            entry = self._entry(file, active)
            if entry is not None and _fits(entry, wanted):
                entries.append(entry)
        return Listing(_in_order(entries, wanted.order), None)

    def _indexed_page(
        self, wanted: SessionFilter, after: "_Place | None", limit: int
    ) -> Listing | None:
        """Read a page of the archive by the index; ``None`` if that cannot be."""
        table = self._scopes.table()
        if wanted.used_before is not None or wanted.order == "closed" or self._has_pins(table):
            return None
        behind = (-after[1], after[2]) if after is not None else None
        rows = self._index.archived(wanted.scope, behind, limit + 1)
        if rows is None:
            return None
        active, place_of = self._active_sessions(), partial(_ORDERS[wanted.order], table)
        files = [JournalFile(key, Folder.ARCHIVE, mtime_ns) for key, mtime_ns in rows[:limit]]
        entries = [entry for file in files if (entry := self._entry(file, active))]
        if len(entries) < len(files):
            # Moved meanwhile.
            return None
        more = json.dumps(place_of(files[-1])) if files and len(rows) > limit else None
        return Listing(tuple(entries), more)

    def _has_pins(self, table: ScopeTable) -> bool:
        """Tell whether a pinned session is in the archive."""
        paths = (self._folders.journal(key, Folder.ARCHIVE) for key in table.pinned)
        return any(map(os.path.lexists, paths))

    def count(self, wanted: SessionFilter) -> int:
        """Count the sessions that a filter passes, by file names alone where possible."""
        if wanted.used_before is not None:
            return len(self.page(wanted, None, sys.maxsize).entries)
        if wanted.statuses == _ARCHIVED and self._folders.is_large(Folder.ARCHIVE):
            count = self._index.count_archived(wanted.scope)
            if count is not None:
                return count
        table = self._scopes.table()
        folders = {_FOLDERS[status] for status in wanted.statuses}
        is_whole = wanted.statuses >= KEPT or not wanted.statuses & KEPT
        return sum(
            is_whole or self._status(file) in wanted.statuses
            for file in self._folders.names(*folders)
            if wanted.scope is None or self._scope_of(file, table) == wanted.scope
        )

    def some(self, session_ids: Iterable[str]) -> Iterator[SessionEntry]:
        """Make the entries of some sessions, in any folder; unknown ones are left out."""
        active = self._active_sessions()
        for session_id in session_ids:
            entry = self._one(session_id, active)
            if entry is not None:
                yield entry

    def active(self, scope: str) -> str | None:
        """Find the session of a scope that was opened last, else the most recently used."""
        return self._active_sessions().of(scope)

    def ends(self, session_id: str, folder: Folder) -> JournalEnds:
        """Read the two ends of a journal. Raises ``SessionNotFound`` if it is in another folder."""
        path = self._folders.journal(session_id, folder)
        held = self.held(session_id)
        try:
            with opened(path, session_id, partial(self.guess, session_id), held=held) as journal:
                return journal.ends()
        except SessionDamaged:
            raise
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise SessionNotFound(session_id) from error
            raise

    def held(self, session_id: str) -> bool:
        try:
            return locks.holder_of(self._folders.lock(session_id)) is not None
        except OSError:
            # An unreadable lock hides no session; taking the lease reports it.
            return False

    def guess(self, session_id: str) -> SessionHeader:
        """Make up a damaged header from the entry in ``scopes.jsonl``."""
        return unknown_header(session_id, self._scopes.table().places.get(session_id, _NOWHERE))

    def named(self, name: str, wanted: SessionFilter) -> Iterator[str]:
        """Find the sessions with a name."""
        found = self._names(self._maybe_named(name, wanted))
        return (session_id for session_id, own_name in found if own_name == name)

    def _maybe_named(self, name: str, wanted: SessionFilter) -> Sequence[JournalFile]:
        """List the journals that may have a name: of a large archive those that the index names."""
        archived = None
        if wanted.statuses >= _ARCHIVED and self._folders.is_large(Folder.ARCHIVE):
            archived = self._index.archived_named(name)
        table = self._scopes.table()
        if archived is None:
            return self._files(wanted, table)
        others = msgspec.structs.replace(wanted, statuses=wanted.statuses - _ARCHIVED)
        files = [JournalFile(session_id, Folder.ARCHIVE, 0) for session_id in archived]
        named = [file for file in files if self._is_in_scope(file, wanted, table)]
        return [*self._files(others, table), *named]

    def _names(self, files: Iterable[JournalFile]) -> Iterator[tuple[str, str]]:
        for file in files:
            path = self._folders.journal(file.session_id, file.folder)
            try:
                with opened(
                    path, file.session_id, partial(unknown_header, file.session_id), held=False
                ) as journal:
                    yield file.session_id, journal.name()
            except StorageError:
                continue

    def ids(self, wanted: SessionFilter) -> Sequence[str]:
        """List the ids of the sessions in a filter's folders and scope, in no order."""
        table, folders = self._scopes.table(), {_FOLDERS[status] for status in wanted.statuses}
        files = self._folders.names(*folders)
        return [file.session_id for file in files if self._is_in_scope(file, wanted, table)]

    def files(self, wanted: SessionFilter) -> Sequence[JournalFile]:
        """List the journals that a filter passes, newest use first, without opening them."""
        return self._files(wanted, self._scopes.table())

    def _one(self, session_id: str, active: "_ActiveSessions") -> SessionEntry | None:
        # It may be moved while it is looked at.
        for _ in Folder:
            file = self._file(session_id)
            entry = self._entry(file, active) if file is not None else None
            if entry is not None:
                return entry
        return None

    def _file(self, session_id: str) -> JournalFile | None:
        with storage_errors(f"Cannot read session {session_id}"):
            try:
                folder, path = self._folders.find(session_id)
                used = storable_ns(path.lstat().st_mtime_ns)
                return JournalFile(session_id, folder, used)
            except (SessionNotFound, FileNotFoundError):
                return None

    def _active_sessions(self) -> "_ActiveSessions":
        return _ActiveSessions(self._folders, self._scopes.table(), self._scope_of)

    def _files(self, wanted: SessionFilter, table: ScopeTable) -> list[JournalFile]:
        files = self._candidates(wanted, table)
        return [file for file in files if self._is_in_scope(file, wanted, table)]

    def _candidates(self, wanted: SessionFilter, table: ScopeTable) -> list[JournalFile]:
        """List the journals that a filter passes, as far as can be told without opening them."""
        files = self._scanned(wanted, table)
        if wanted.used_before is None:
            return files
        # Rounded up; ``_fits`` compares exactly.
        limit = (int(_moment(wanted.used_before).timestamp()) + 1) * _SECOND
        return [file for file in files if file.mtime_ns < limit]

    def _scanned(self, wanted: SessionFilter, table: ScopeTable) -> list[JournalFile]:
        folders = {_FOLDERS[status] for status in wanted.statuses}
        if wanted.scope is None:
            return self._folders.scan(*folders)

        def may_belong(session_id: str) -> bool:
            place = table.places.get(session_id)
            return place is None or place.scope == wanted.scope

        return self._folders.scan(*folders, among=may_belong)

    def _is_in_scope(self, file: JournalFile, wanted: SessionFilter, table: ScopeTable) -> bool:
        return wanted.scope is None or self._scope_of(file, table) == wanted.scope

    def _scope_of(self, file: JournalFile, table: ScopeTable) -> str:
        place = table.places.get(file.session_id)
        if place is not None:
            return place.scope
        # An imported session has no place: its journal is opened, but only once.
        if file.session_id not in self._archived_scopes:
            self._archived_scopes[file.session_id] = _header(self._folders, file).scope
        return self._archived_scopes[file.session_id]

    @cached_property
    def _archived_scopes(self) -> dict[str, str]:
        """A cache of scopes that were read from headers, by the index or here."""
        is_large = self._folders.is_large(Folder.ARCHIVE)
        return self._index.archived_scopes() if is_large else {}

    def _entry(self, file: JournalFile, active: "_ActiveSessions") -> SessionEntry | None:
        """Make the entry of one session; ``None`` if it was moved meanwhile."""
        status, used = self._status(file), format_milliseconds(file.mtime_ns // MILLISECOND_NS)
        try:
            with odd_values(file.session_id):
                ends = self.ends(file.session_id, file.folder)
                scope = ends.session.header.scope
                is_active = status in KEPT and active.of(scope) == file.session_id
                return describe(ends.session, ends.first_prompt, status, used, active=is_active)
        except SessionNotFound:
            return None
        except StorageError:
            # Listed all the same: an unreadable session is not gone.
            header = self.guess(file.session_id)
            is_active = status in KEPT and active.of(header.scope) == file.session_id
            return describe_unreadable(header, status, used, active=is_active)

    def _may_fit(self, file: JournalFile, wanted: SessionFilter, table: ScopeTable) -> bool:
        """Check the scope, and the status of a kept session, before the rest of it is read."""
        if not self._is_in_scope(file, wanted, table):
            return False
        if file.folder is not Folder.SESSIONS or wanted.statuses >= KEPT:
            return True
        return self._status(file) in wanted.statuses

    def _status(self, file: JournalFile) -> Status:
        if file.folder is Folder.ARCHIVE:
            return "archived"
        if file.folder is Folder.TRASH:
            return "trashed"
        return "open" if self.held(file.session_id) else "closed"


class _ActiveSessions:
    """A cache of the active session of each scope, for one list."""

    def __init__(self, folders: Folders, table: ScopeTable, scope_of: _ScopeOf) -> None:
        self._folders = folders
        self._table = table
        self._scope_of = scope_of
        self._known: dict[str, str | None] = {}

    def of(self, scope: str) -> str | None:
        if scope not in self._known:
            chosen = self._table.chosen(scope)
            there = chosen and os.path.lexists(self._folders.journal(chosen, Folder.SESSIONS))
            self._known[scope] = chosen if there else self._most_recent(scope)
        return self._known[scope]

    def _most_recent(self, scope: str) -> str | None:
        with storage_errors(f"Cannot read the data directory {self._folders.root}"):
            there = list(self._folders.statuses(Folder.SESSIONS, self._ids.get(scope, ())))
        newest = min(there, key=lambda each: (-each[1].st_mtime_ns, each[0]), default=None)
        return newest[0] if newest is not None else None

    @cached_property
    def _ids(self) -> Mapping[str, Sequence[str]]:
        """The ids of the kept sessions of each scope."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for file in self._folders.names(Folder.SESSIONS):
            found[self._scope_of(file, self._table)].append(file.session_id)
        return found


def describe(
    session: Session, first_prompt: str, status: Status, used: str, *, active: bool
) -> SessionEntry:
    """Make the entry of a session; ``used`` is its last use if its records have none."""
    header = session.header
    last_used = session.last_used_at or used
    return SessionEntry(
        id=header.id,
        name=session.name,
        label=session.label(first_prompt),
        scope=header.scope,
        ordinal=header.ordinal,
        active=active,
        project_path=header.project_path,
        model=session.model,
        created_at=header.created_at,
        updated_at=session.updated_at or session.last_record_at or last_used,
        last_used_at=last_used,
        closed_at=None if status == "open" else session.closed_at or session.last_record_at,
        message_count=session.message_count,
        status=status,
        damaged=session.damaged,
        pinned=session.settings.pinned,
        imported_from=header.imported_from,
    )


def describe_unreadable(
    header: SessionHeader, status: Status, used: str, *, active: bool
) -> SessionEntry:
    """Make the entry of a session that cannot be read."""
    return SessionEntry(
        id=header.id,
        name="",
        label=UNREADABLE,
        scope=header.scope,
        ordinal=header.ordinal,
        active=active,
        project_path=header.project_path,
        model="",
        created_at="",
        updated_at=used,
        last_used_at=used,
        closed_at=None,
        message_count=0,
        status=status,
        damaged=1,
        imported_from=header.imported_from,
    )


def open_scopes(folders: Folders) -> Scopes:
    """Open the scopes of a data directory; journals' headers stand in for a missing file."""
    return Scopes(folders.scopes, folders.scopes_lock, _HeaderLines(folders).read)


class _HeaderLines:
    """A cache of the lines that headers give, until a journal comes or goes."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._lines: list[ScopeLine] = []
        self._read_at: tuple[int, ...] = ()

    def read(self) -> list[ScopeLine]:
        """Read the headers if a folder has changed."""
        changed = tuple(map(self._folders.changed, Folder))
        if changed != self._read_at:
            self._lines, self._read_at = _header_lines(self._folders), changed
        return self._lines


def _header_lines(folders: Folders) -> list[ScopeLine]:
    headers = [_header(folders, file) for file in folders.scan(*Folder)]
    # An imported session has no number yet.
    known = [header for header in headers if header.scope and header.ordinal]
    return [
        ScopeLine(header.scope, header.created_at, header.ordinal, header.id)
        for header in sorted(known, key=lambda each: (each.created_at, each.ordinal))
    ]


def _header(folders: Folders, file: JournalFile) -> SessionHeader:
    unknown = unknown_header(file.session_id)
    path = folders.journal(file.session_id, file.folder)
    try:
        with opened(path, file.session_id, lambda: unknown, held=False) as journal:
            return journal.header()
    except StorageError:
        return unknown


def unknown_header(session_id: str, place: ScopeNumber = _NOWHERE) -> SessionHeader:
    """Make a header for a session whose own cannot be read."""
    _, is_project, path = place.scope.partition(_PROJECT)
    return SessionHeader(
        version=VERSION,
        id=session_id,
        created_at="",
        scope=place.scope,
        ordinal=place.ordinal,
        project_path=path if is_project else "",
        model="",
    )


def _fits(entry: SessionEntry, wanted: SessionFilter) -> bool:
    """Check an entry against the parts of a filter that need the file's contents."""
    if entry.status not in wanted.statuses:
        return False
    return wanted.used_before is None or _is_before(entry.last_used_at, wanted.used_before)


def _is_before(time: str, limit: str) -> bool:
    moment = parse_utc(time)
    return moment is not None and moment < _moment(limit)


def _moment(limit: str) -> datetime:
    moment = parse_utc(limit)
    if moment is None:
        raise StorageError(f"Not a time: {limit}")
    return moment


_Place = tuple[bool, int, str]
"""A place in a list: below the pinned ones, time, id."""


_ORDERS: dict[Order, Callable[[ScopeTable, JournalFile], _Place]] = {
    "used": lambda _, file: (True, -file.mtime_ns, file.session_id),
    "pinned": lambda table, file: (
        file.session_id not in table.pinned,
        -file.mtime_ns,
        file.session_id,
    ),
    "closed": lambda _, file: (True, -file.ctime_ns, file.session_id),
}


def _sorted(files: list[JournalFile], order: Order, table: ScopeTable) -> Sequence[JournalFile]:
    """Put files, newest use first, into an order."""
    if order == "closed":
        return sorted(files, key=partial(_ORDERS["closed"], table))
    if order == "used" or not table.pinned:
        return files
    # A sort takes ten times as long, and few are pinned.
    pinned = [file for file in files if file.session_id in table.pinned]
    return [*pinned, *(file for file in files if file.session_id not in table.pinned)]


def _in_order(entries: list[SessionEntry], order: Order) -> tuple[SessionEntry, ...]:
    if order == "closed":
        # The files have an earlier order: a change of mode counts there as well.
        entries.sort(key=lambda entry: entry.closed_at or "", reverse=True)
    return tuple(entries)


def _read_cursor(cursor: str) -> _Place:
    try:
        return converted(parse(cursor.encode()), _Place)
    except ValueError as error:
        raise StorageError("This list cannot be continued: its cursor is invalid.") from error
