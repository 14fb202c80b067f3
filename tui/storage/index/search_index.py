"""Search over index and journals; without a usable index, over the journals alone."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tui.domain.search.query import Query, SearchResult, parse, rank
from tui.domain.text.labels import plural
from tui.errors import StorageError
from tui.logs import milliseconds_since
from tui.storage.disk import storage_errors
from tui.storage.folders import Folders
from tui.storage.index.database import Unusable
from tui.storage.index.files import SEARCHED, scan
from tui.storage.index.index_query import QueryEffort, from_index, from_journals
from tui.storage.index.ingest import Pending, unread_bytes
from tui.storage.index.maintenance import IndexMaintenance

_log = logging.getLogger(__name__)

_MANY = 1000  # files; fewer are stat-ed for each search
_REST = 400  # times the duration of a scan, until the next one
# Other programs index what they write; only copied files are noticed late.
_LONGEST_REST = 30.0
_NOTICES = {
    "locked": "The search index is in use by another window: searching the sessions directly.",
    "newer": "A newer sibyl-tui made the search index: searching the sessions directly.",
    "out of reach": "The search index cannot be used ({0}): searching the sessions directly.",
    "damaged": "The search index was damaged ({0}): it was moved aside and is rebuilt.",
}


class SearchIndex:
    """Searches one data directory. Threads may use it at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders = Folders(root)
        self._maintenance = IndexMaintenance(root)
        self._told: set[str] = set()
        self._pending: Pending = []
        self._rested_at = 0.0
        self.changed: set[str] = set()
        """The journals that this program has changed since the last search."""

    def search(
        self,
        text: str,
        limit: int,
        seconds: float,
        wanted: Callable[[], bool] | None = None,
    ) -> SearchResult:
        """Search as ``SessionStore.search``; an unusable index is no failure."""
        begun = time.perf_counter()
        query = parse(text)
        if query.is_empty or not os.path.lexists(self._root):
            return SearchResult(notice=query.filters.fault)
        effort = QueryEffort(time.monotonic() + seconds, wanted, max(limit, 0))
        notice = ""
        with storage_errors("Cannot search the sessions"):
            try:
                found = self._with_index(query, limit, effort)
            except Unusable as error:
                notice = self._notice(error)
                self._pending = [(it, None) for it in scan(self._folders) if it.folder in SEARCHED]
                self._rested_at = 0.0
                ids = [file.session_id for file, _ in self._pending]
                found = rank(query, from_journals(self._folders, ids, query, effort)[0], limit)
        refused = plural(len(effort.refused), "session")
        refusal = f"{refused} could not be read. Run `sibyl-tui doctor`." if effort.refused else ""
        notices = filter(None, (notice, refusal))
        pending = unread_bytes(self._pending)
        found_count, took = plural(len(found.hits), "hit"), milliseconds_since(begun)
        _log.info("search: %s, %d bytes not indexed yet, %d ms", found_count, pending, took)
        return msgspec.structs.replace(
            found,
            late=effort.late,
            notice=" ".join(notices),
            pending=pending,
            is_behind=self._maintenance.is_behind,
        )

    def _with_index(self, query: Query, limit: int, effort: QueryEffort) -> SearchResult:
        with self._maintenance.opened() as connection:
            self._follow(connection)
            ids = [file.session_id for file, _ in self._pending]
            # Half of the time for journals not indexed yet, the rest for the index.
            first = effort.half()
            candidates, read = from_journals(self._folders, ids, query, first)
            effort.late = first.late
            candidates += from_index(connection, self._folders, query, read, effort)
            return rank(query, candidates, limit)

    def _follow(self, connection: sqlite3.Connection) -> None:
        begun = time.monotonic()
        changed, self.changed = self.changed, set[str]()
        if begun < self._rested_at:
            others = [each for each in self._pending if each[0].session_id not in changed]
            self._pending = (
                others + self._maintenance.follow(connection, changed) if changed else others
            )
            return
        self._pending = self._maintenance.follow(connection)
        took = time.monotonic() - begun
        rest = min(took * _REST, _LONGEST_REST) if self._maintenance.journals > _MANY else 0.0
        self._rested_at = begun + rest

    def _notice(self, error: Unusable) -> str:
        """Word a notice about an unusable index, once for each kind; set a damaged one aside."""
        # Only a damaged one is away afterwards, and built anew.
        self._maintenance.is_behind = error.kind == "damaged"
        if error.kind == "damaged":
            try:
                self._maintenance.set_aside()
            except (OSError, StorageError):
                return ""
        if error.kind in self._told or error.kind not in _NOTICES:
            return ""
        self._told.add(error.kind)
        return _NOTICES[error.kind].format(error)
