"""Lists of sessions, from a scan of the folders and the two ends of each file shown."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from tui.domain.labels import label
from tui.domain.records import VERSION, SessionHeader
from tui.domain.session import Session, SessionEntry, Status
from tui.domain.timestamps import format_utc
from tui.errors import SessionDamaged, SessionNotFound, StorageError
from tui.storage import locks
from tui.storage.disk import storage_errors
from tui.storage.folders import Folder, Folders, JournalFile
from tui.storage.journal import Ends, opened
from tui.storage.protocol import KEPT, Listing, SessionFilter
from tui.storage.scopes import Place, ScopeLine, Scopes, ScopeTable

_PROJECT = "project:"
_UNREADABLE = "(unreadable)"
_NOWHERE = Place("", 0)
_FOLDERS: dict[Status, Folder] = {
    "open": Folder.SESSIONS,
    "closed": Folder.SESSIONS,
    "archived": Folder.ARCHIVE,
    "trashed": Folder.TRASH,
}


class Directory:
    """Reads what lists show of the sessions in a data directory."""

    def __init__(self, folders: Folders, scopes: Scopes) -> None:
        self._folders = folders
        self._scopes = scopes

    def page(self, wanted: SessionFilter, cursor: str | None, limit: int) -> Listing:
        """One page, newest use first. Raises ``StorageError`` for a cursor that is none."""
        after = _read_cursor(cursor) if cursor is not None else None
        table = self._scopes.table()
        entries: list[SessionEntry] = []
        last: JournalFile | None = None
        for file in self._files(wanted, table):
            if after is not None and _order(file) <= after:
                continue
            if last is not None and len(entries) == limit:
                return Listing(tuple(entries), json.dumps(_order(last)))
            last = file
            entry = self.entry(file, table)
            if entry is not None and entry.status in wanted.statuses:
                entries.append(entry)
        return Listing(tuple(entries), None)

    def one(self, session_id: str) -> SessionEntry:
        """What a list shows of one session, wherever it is. Raises ``SessionNotFound``."""
        folder, path = self._folders.find(session_id)
        with storage_errors(f"Cannot read session {session_id}"):
            file = JournalFile(session_id, folder, path.lstat().st_mtime_ns)
        entry = self.entry(file, self._scopes.table())
        if entry is None:
            raise SessionNotFound(session_id)
        return entry

    def entry(self, file: JournalFile, table: ScopeTable) -> SessionEntry | None:
        """What a list shows of one session; ``None`` if it was moved meanwhile."""
        try:
            ends = self.ends(file.session_id, file.folder)
        except SessionNotFound:
            return None
        except StorageError:
            # It stands in the list all the same: what cannot be read is not gone.
            return self._unreadable(file, table)
        return self._entry(file, table, ends)

    def ends(self, session_id: str, folder: Folder) -> Ends:
        """The two ends of a journal. Raises ``SessionNotFound`` if it is not in this folder."""
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
            # Who cannot be asked for hides no session; taking the lease tells what is wrong.
            return False

    def guess(self, session_id: str) -> SessionHeader:
        """What a damaged header must have said, as far as ``scopes.jsonl`` knows."""
        return unknown_header(session_id, self._scopes.table().places.get(session_id, _NOWHERE))

    def names(self, wanted: SessionFilter) -> Iterator[tuple[str, str]]:
        """The id and the name of each session."""
        for file in self._files(wanted, self._scopes.table()):
            path = self._folders.journal(file.session_id, file.folder)
            try:
                with opened(
                    path, file.session_id, partial(unknown_header, file.session_id), held=False
                ) as journal:
                    yield file.session_id, journal.name()
            except StorageError:
                continue

    def files(self, wanted: SessionFilter) -> Sequence[JournalFile]:
        """The journals a filter lets through, newest use first; none of them is opened."""
        return self._files(wanted, self._scopes.table())

    def _files(self, wanted: SessionFilter, table: ScopeTable) -> list[JournalFile]:
        folders = {_FOLDERS[status] for status in wanted.statuses}
        if wanted.scope is None:
            return self._folders.scan(*folders)

        def may_belong(session_id: str) -> bool:
            place = table.places.get(session_id)
            return place is None or place.scope == wanted.scope

        files = self._folders.scan(*folders, among=may_belong)
        return [file for file in files if self._scope_of(file, table) == wanted.scope]

    def _scope_of(self, file: JournalFile, table: ScopeTable) -> str:
        place = table.places.get(file.session_id)
        return place.scope if place is not None else _header(self._folders, file).scope

    def _entry(self, file: JournalFile, table: ScopeTable, ends: Ends) -> SessionEntry:
        status = self._status(file)
        active = status in KEPT and table.active.get(ends.session.header.scope) == file.session_id
        return describe(ends.session, ends.first_prompt, status, _time_of(file), active=active)

    def _unreadable(self, file: JournalFile, table: ScopeTable) -> SessionEntry:
        header, status = self.guess(file.session_id), self._status(file)
        active = status in KEPT and table.active.get(header.scope) == file.session_id
        return describe_unreadable(header, status, _time_of(file), active=active)

    def _status(self, file: JournalFile) -> Status:
        if file.folder is Folder.ARCHIVE:
            return "archived"
        if file.folder is Folder.TRASH:
            return "trashed"
        return "open" if self.held(file.session_id) else "closed"


def describe(
    session: Session, first_prompt: str, status: Status, used: str, *, active: bool
) -> SessionEntry:
    """What a list shows of a session; ``used`` is its last use unless its records know."""
    header = session.header
    last_used = session.last_used_at or used
    return SessionEntry(
        id=header.id,
        name=session.name,
        label=label(session.name, _summary_text(session), first_prompt),
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
    )


def describe_unreadable(
    header: SessionHeader, status: Status, used: str, *, active: bool
) -> SessionEntry:
    """What a list shows of a session that cannot be read: it is not gone."""
    return SessionEntry(
        id=header.id,
        name="",
        label=_UNREADABLE,
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
    )


def open_scopes(folders: Folders) -> Scopes:
    """The scopes of a data directory, rebuilt from the headers of its journals if need be."""
    return Scopes(folders.scopes, folders.scopes_lock, lambda: _header_lines(folders))


def _header_lines(folders: Folders) -> list[ScopeLine]:
    headers = [_header(folders, file) for file in folders.scan(*Folder)]
    known = [header for header in headers if header.scope]
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


def unknown_header(session_id: str, place: Place = _NOWHERE) -> SessionHeader:
    """A header for a session whose own cannot be read."""
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


def _summary_text(session: Session) -> str:
    return session.summary.text if session.summary else ""


def _time_of(file: JournalFile) -> str:
    try:
        return format_utc(datetime.fromtimestamp(file.mtime_ns / 1_000_000_000, UTC))
    except (ValueError, OverflowError, OSError):
        # Beyond the year 9999: somebody else's time, and no reason to show no list.
        return ""


_Order = tuple[int, str]


def _order(file: JournalFile) -> _Order:
    return -file.mtime_ns, file.session_id


def _read_cursor(cursor: str) -> _Order:
    try:
        value: Any = json.loads(cursor)
        time, session_id = value
        return int(time), str(session_id)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise StorageError("This list cannot be continued: its cursor is none.") from error
