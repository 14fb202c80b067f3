"""Lists sessions: a scan of the folders, and the two ends of each file shown."""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, cached_property, partial
from itertools import islice

import msgspec

from tui.domain.imports import ImportLine, came_from
from tui.domain.journal.fold import Fold
from tui.domain.journal.records import SessionHeader
from tui.domain.journal.session import SessionEntry, Status, describe
from tui.domain.json_text import converted, parse
from tui.domain.timestamps import MILLISECOND_NS, format_milliseconds, parse_utc, storable_ns
from tui.errors import AmbiguousSession, SessionNotFound, StorageError
from tui.storage.disk import storage_errors
from tui.storage.folders import STATUSES, Folder, Folders, JournalFile
from tui.storage.index.lazy_index import LazyIndex
from tui.storage.journal import opened
from tui.storage.protocol import KEPT, Listing, Order, SessionFilter
from tui.storage.scopes import Scopes, ScopeTable, read_header

_SECOND = 1_000_000_000
_FOLDERS: dict[Status, Folder] = {
    "open": Folder.SESSIONS,
    **{status: folder for folder, status in STATUSES.items()},
}
_ActiveOf = Callable[[str], str | None]
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
        active_of, table = self.active_sessions(), self._scopes.table()
        entries: list[SessionEntry] = []
        last: JournalFile | None = None
        for file in self.files(wanted, table, after):
            if last is not None and len(entries) == limit:
                more = json.dumps(_ORDERS[wanted.order](table, last))
                return Listing(_in_order(entries, wanted.order), more)
            last = file
            entry = self._entry(file, active_of)
            if entry is not None and _fits(entry, wanted):
                entries.append(entry)
        return Listing(_in_order(entries, wanted.order), None)

    def _indexed_page(
        self, wanted: SessionFilter, after: "_Place | None", limit: int
    ) -> Listing | None:
        """Read a page of the archive by the index; ``None`` if that cannot be."""
        table = self._scopes.table()
        pinned = (self._folders.journal(key, Folder.ARCHIVE) for key in table.pinned)
        if wanted.used_before or wanted.order == "closed" or any(map(os.path.lexists, pinned)):
            return None
        behind = (-after[1], after[2]) if after is not None else None
        rows = self._index.archive.page(wanted.scope, behind, limit + 1)
        if rows is None:
            return None
        active_of = self.active_sessions()
        files = [JournalFile(key, Folder.ARCHIVE, mtime_ns) for key, mtime_ns in rows[:limit]]
        entries = [entry for file in files if (entry := self._entry(file, active_of))]
        if len(entries) < len(files):
            # Moved meanwhile.
            return None
        has_more = files and len(rows) > limit
        more = json.dumps(_ORDERS[wanted.order](table, files[-1])) if has_more else None
        return Listing(tuple(entries), more)

    def count(self, wanted: SessionFilter) -> int:
        """Count the sessions that a filter passes, by file names alone where possible."""
        if wanted.used_before is not None:
            return len(self.page(wanted, None, sys.maxsize).entries)
        if wanted.statuses == _ARCHIVED and self._folders.is_large(Folder.ARCHIVE):
            count = self._index.archive.count(wanted.scope)
            if count is not None:
                return count
        table = self._scopes.table()
        files = self._folders.names(*{_FOLDERS[each] for each in wanted.statuses})
        return sum(self.may_fit(file, wanted, table) for file in files)

    def some(self, session_ids: Iterable[str]) -> Iterator[SessionEntry]:
        """Make the entries of some sessions, in any folder; unknown ones are left out."""
        active_of = self.active_sessions()
        for session_id in session_ids:
            # It may be moved while it is looked at.
            for _ in Folder:
                file = self._file(session_id)
                entry = self._entry(file, active_of) if file is not None else None
                if entry is not None:
                    yield entry
                    break

    def _file(self, session_id: str) -> JournalFile | None:
        with storage_errors(f"Cannot read session {session_id}"):
            try:
                folder, path = self._folders.find(session_id)
                used = storable_ns(path.lstat().st_mtime_ns)
                return JournalFile(session_id, folder, used)
            except (SessionNotFound, FileNotFoundError):
                return None

    def active_sessions(self) -> _ActiveOf:
        """Make the look-up of a scope's active session, for one list: it keeps its finds.

        That is the one that was opened last, else the most recently used.
        """
        table = self._scopes.table()

        @cache
        def ids() -> Mapping[str, Sequence[str]]:
            found: defaultdict[str, list[str]] = defaultdict(list)
            for file in self._folders.names(Folder.SESSIONS):
                found[self._scope_of(file, table)].append(file.session_id)
            return found

        @cache
        def active_of(scope: str) -> str | None:
            chosen = table.chosen(scope)
            if chosen and os.path.lexists(self._folders.journal(chosen, Folder.SESSIONS)):
                return chosen
            with storage_errors(f"Cannot read the data directory {self._folders.root}"):
                there = list(self._folders.statuses(Folder.SESSIONS, ids().get(scope, ())))
            newest = min(there, key=lambda each: (-each[1].st_mtime_ns, each[0]), default=None)
            return newest[0] if newest is not None else None

        return active_of

    def files(
        self, wanted: SessionFilter, table: ScopeTable, after: "_Place | None" = None
    ) -> Iterator[JournalFile]:
        """Find the journals behind a place that a filter may pass, in its order."""
        place_of = partial(_ORDERS[wanted.order], table)
        for file in self._scanned(wanted, table):
            is_before = after is not None and place_of(file) <= after
            if not is_before and self.may_fit(file, wanted, table):
                yield file

    def _scanned(self, wanted: SessionFilter, table: ScopeTable) -> list[JournalFile]:
        """List a filter's folders in its order, but those that are known not to pass."""

        def may_belong(session_id: str) -> bool:
            place = table.places.get(session_id)
            return place is None or place.scope == wanted.scope

        among = None if wanted.scope is None else may_belong
        files = self._folders.scan(*{_FOLDERS[each] for each in wanted.statuses}, among=among)
        if wanted.used_before is not None:
            # Rounded up; ``_fits`` compares exactly.
            limit = (int(_moment(wanted.used_before).timestamp()) + 1) * _SECOND
            files = [file for file in files if file.mtime_ns < limit]
        if wanted.order == "closed":
            return sorted(files, key=partial(_ORDERS["closed"], table))
        if wanted.order == "used" or not table.pinned:
            return files
        # A sort takes ten times as long, and few are pinned.
        pinned = [file for file in files if file.session_id in table.pinned]
        return [*pinned, *(file for file in files if file.session_id not in table.pinned)]

    def may_fit(self, file: JournalFile, wanted: SessionFilter, table: ScopeTable) -> bool:
        """Check the scope, and the status of a kept session, before the rest of it is read."""
        if wanted.scope is not None and self._scope_of(file, table) != wanted.scope:
            return False
        if file.folder is not Folder.SESSIONS or wanted.statuses >= KEPT:
            return True
        return ("open" if self._folders.is_held(file.session_id) else "closed") in wanted.statuses

    def _scope_of(self, file: JournalFile, table: ScopeTable) -> str:
        place = table.places.get(file.session_id)
        if place is not None:
            return place.scope
        # An imported session has no place: its journal is opened, but only once.
        if file.session_id not in self._archived_scopes:
            self._archived_scopes[file.session_id] = read_header(self._folders, file).scope
        return self._archived_scopes[file.session_id]

    @cached_property
    def _archived_scopes(self) -> dict[str, str]:
        """A cache of scopes that were read from headers, by the index or here."""
        is_large = self._folders.is_large(Folder.ARCHIVE)
        return self._index.archive.scopes() if is_large else {}

    def _entry(self, file: JournalFile, active_of: _ActiveOf) -> SessionEntry | None:
        """Make the entry of one session; ``None`` if it was moved meanwhile."""
        session_id, path = file.session_id, self._folders.journal(file.session_id, file.folder)
        guess, held = partial(self._scopes.guess, session_id), self._folders.is_held(session_id)
        status: Status = (
            "open" if held and file.folder is Folder.SESSIONS else STATUSES[file.folder]
        )
        used = format_milliseconds(file.mtime_ns // MILLISECOND_NS)
        try:
            with opened(path, session_id, guess, held=held) as journal:
                session, first_prompt = journal.ends()
                is_active = status in KEPT and active_of(session.header.scope) == session_id
                return describe(session, first_prompt, status, used, active=is_active)
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            # Listed all the same: an unreadable session is not gone.
            header = guess()
            is_active = status in KEPT and active_of(header.scope) == session_id
            return describe_unreadable(header, status, used, active=is_active)


class FileCatalog(msgspec.Struct, eq=False):
    """A ``tui.domain.targets.SessionLookups``; ``wanted`` narrows names and prefixes, not ids."""

    _folders: Folders
    _scopes: Scopes
    _index: LazyIndex
    _directory: Directory
    _wanted: SessionFilter
    _imports: Callable[[str], Iterable[ImportLine]]

    def has(self, session_id: str) -> bool:
        return self._folders.exists(session_id)

    def beginning(self, prefixes: tuple[str, ...]) -> Iterable[str]:
        table = self._scopes.table()
        files = self._folders.names(*{_FOLDERS[each] for each in self._wanted.statuses})
        return [
            file.session_id
            for file in files
            if file.session_id.startswith(prefixes)
            and self._directory.may_fit(file, self._wanted, table)
        ]

    def numbered(self, scope: str, ordinal: int) -> str | None:
        there = [*filter(self.has, self._scopes.table().with_ordinal(scope, ordinal))]
        if len(there) > 1:
            # Only a file copied from elsewhere can have a number given twice.
            raise AmbiguousSession(f"{scope}#{ordinal}", sorted(there))
        return there[0] if there else None

    def scopes(self) -> Collection[str]:
        return self._scopes.table().highest.keys()

    def named(self, name: str) -> Iterable[str]:
        for file in self._maybe_named(name):
            path = self._folders.journal(file.session_id, file.folder)
            guess = partial(self._scopes.guess, file.session_id)
            with (
                suppress(StorageError),
                opened(path, file.session_id, guess, held=False) as journal,
            ):
                if journal.name() == name:
                    yield file.session_id

    def _maybe_named(self, name: str) -> Iterable[JournalFile]:
        """List the journals that may have a name: of a large archive those that the index names."""
        archived, wanted, table = None, self._wanted, self._scopes.table()
        if wanted.statuses >= _ARCHIVED and self._folders.is_large(Folder.ARCHIVE):
            archived = self._index.archive.named(name)
        if archived is None:
            return self._directory.files(wanted, table)
        others = msgspec.structs.replace(wanted, statuses=wanted.statuses - _ARCHIVED)
        files = [JournalFile(session_id, Folder.ARCHIVE, 0) for session_id in archived]
        named = [file for file in files if self._directory.may_fit(file, wanted, table)]
        return [*self._directory.files(others, table), *named]

    def imported(self, name: str) -> Iterable[str]:
        return came_from(name, self._imports(name))

    def newest(self, count: int) -> Sequence[str]:
        files = self._directory.files(self._wanted, self._scopes.table())
        return [file.session_id for file in islice(files, count)]

    def newest_names(self, count: int) -> Mapping[str, str]:
        entries = self._directory.page(self._wanted, None, count).entries
        return {entry.name: entry.id for entry in reversed(entries) if entry.name}


def describe_unreadable(
    header: SessionHeader, status: Status, used: str, *, active: bool
) -> SessionEntry:
    """Make the entry of a session that cannot be read."""
    header = msgspec.structs.replace(header, model="", created_at="")
    lost = Fold(header, whole=True, damaged=1).session()
    return describe(lost, "", status, used, active=active)


def _fits(entry: SessionEntry, wanted: SessionFilter) -> bool:
    """Check an entry against the parts of a filter that need the file's contents."""
    if entry.status not in wanted.statuses:
        return False
    if wanted.used_before is None:
        return True
    moment = parse_utc(entry.last_used_at)
    return moment is not None and moment < _moment(wanted.used_before)


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
