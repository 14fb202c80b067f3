"""The archive as the index lists it: a hundred thousand sessions without a look at each file.

The list counts while the folder is as it was when the index had all of its journals: a name that
comes or goes changes the folder's time, and whoever writes to a journal in it does the same
(``Folders.note_growth``).
"""

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tui.domain.search.query import spaced
from tui.domain.text import as_bytes, as_text
from tui.storage.folders import Folder, Folders
from tui.storage.index import database
from tui.storage.index.database import Unusable
from tui.storage.index.files import JournalStat, stat_of
from tui.storage.index.ingest import IndexedJournal

Stamp = tuple[int, int]
"""The inode of the folder, and the time of its last change in nanoseconds."""

# A file system with coarse times gives a later change the same one.
_SETTLED_NS = 2_000_000_000
_IN_SCOPE = " and project in (select number from projects where scope = :scope)"
_PAGE = """
    select id, mtime from sessions where folder = 'archive' and mtime <= :time
    and (mtime < :time or id > :id) {scope} order by mtime desc, id limit :limit
"""
_LATEST = (1 << 63) - 1


def archive_stamp(folders: Folders) -> Stamp:
    """Look at the folder; zeros if there is none."""
    try:
        status = os.stat(folders.of(Folder.ARCHIVE))
    except OSError:
        return 0, 0
    folder = stat_of("", "", status)
    return folder.inode, folder.mtime_ns


def is_listed(connection: sqlite3.Connection, folders: Folders) -> bool | None:
    """Check that the list of the archive counts; ``None`` if the index never had all of it."""
    noted = connection.execute("select inode, changed from archive").fetchone()
    if noted is None:
        return None
    is_readable = not folders.obstacle(Folder.ARCHIVE, os.R_OK | os.X_OK)
    return noted == archive_stamp(folders) and is_readable


def note_listed(
    connection: sqlite3.Connection,
    stamp: Stamp,
    files: Sequence[JournalStat],
    known: dict[str, IndexedJournal],
) -> None:
    """Note the folder's stamp from before a scan, if the index has all that the scan has found."""
    if time.time_ns() - stamp[1] < _SETTLED_NS:
        return
    unknown = {
        number for (number,) in connection.execute("select number from projects where scope = x''")
    }
    for file in files:
        row = known.get(file.session_id)
        # A row of today, with the scope of the header; its folder is noted.
        is_known = row is not None and row[2:6] == file[2:6] and row.project not in unknown
        if file.folder == Folder.ARCHIVE.value and not is_known:
            return
    connection.execute("begin immediate")
    connection.execute("delete from archive")
    connection.execute("insert into archive values(?, ?)", stamp)
    connection.execute("commit")


class ArchiveList:
    """The list of the archive of a data directory; a verb gives ``None`` if it does not count."""

    def __init__(self, root: Path) -> None:
        self._folders = Folders(root)
        self._path = root / database.NAME

    def page(
        self, scope: str | None, after: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[str, int]] | None:
        """The ids and times of sessions of a scope or of all, newest use first, after a place."""
        time_ns, session_id = after or (_LATEST, "")
        values = {"scope": as_bytes(scope or ""), "time": time_ns, "id": session_id, "limit": limit}
        return self._read(_PAGE.format(scope="" if scope is None else _IN_SCOPE), values)

    def count(self, scope: str | None) -> int | None:
        """The number of sessions of a scope or of all."""
        statement = "select count(*) from sessions where folder = 'archive'"
        statement += "" if scope is None else _IN_SCOPE
        found = self._read(statement, {"scope": as_bytes(scope or "")})
        return None if found is None else found[0][0]

    def scopes(self) -> dict[str, str]:
        """The scopes of archived sessions by their ids, also where the list does not count."""
        statement = """
            select id, scope from sessions join projects on projects.number = sessions.project
            where folder = 'archive' and scope != x''
        """
        rows = self._read(statement, {}, is_any=True) or []
        texts = {scope: as_text(scope) for _, scope in rows}
        return {session_id: texts[scope] for session_id, scope in rows}

    def named(self, name: str) -> Sequence[str] | None:
        """The ids of sessions whose name has the tokens of a name."""
        statement = "select id from sessions where folder = 'archive' and name = :name"
        try:
            found = self._read(statement, {"name": spaced(name)})
        except UnicodeEncodeError:
            return None
        return None if found is None else [session_id for (session_id,) in found]

    def _read(
        self, statement: str, values: dict[str, Any], *, is_any: bool = False
    ) -> list[Any] | None:
        """Read rows, if the list counts or ``is_any`` will do."""
        try:
            with closing(database.connect(self._path)) as connection:
                # One transaction: what is read is what was checked.
                connection.execute("begin")
                if is_any or is_listed(connection, self._folders):
                    return connection.execute(statement, values).fetchall()
        except (Unusable, sqlite3.Error):
            pass
        return None
