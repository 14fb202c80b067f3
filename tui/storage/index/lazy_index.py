"""A lazy proxy of the index: the first search loads SQLite, nothing before."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tui.domain.text.labels import plural
from tui.logs import milliseconds_since

if TYPE_CHECKING:
    from tui.domain.search.query import SearchResult
    from tui.storage.index.child import Progress
    from tui.storage.index.search_index import SearchIndex

_log = logging.getLogger(__name__)


class LazyIndex:
    """The search index of one data directory, opened by the first search."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def _index(self) -> "SearchIndex":
        from tui.storage.index.search_index import SearchIndex

        return SearchIndex(self._root)

    def search(
        self, text: str, limit: int, seconds: float, wanted: Callable[[], bool] | None
    ) -> "SearchResult":
        """Search as ``SessionStore.search``."""
        begun = time.perf_counter()
        found = self._index.search(text, limit, seconds, wanted)
        _log.info(
            "search: %s, %d bytes not indexed yet, %d ms",
            plural(len(found.hits), "hit"),
            found.pending,
            milliseconds_since(begun),
        )
        return found

    def build(self, builder: str, *, anew: bool) -> "Iterator[Progress]":
        """Build it as ``IndexMaintenance.build``."""
        from tui.storage.index.maintenance import IndexMaintenance

        return IndexMaintenance(self._root).build(builder, anew=anew)

    def catch_up(self, session_id: str) -> None:
        """Add what was written to a session as ``IndexMaintenance.catch_up``."""
        from tui.storage.index.maintenance import IndexMaintenance

        IndexMaintenance(self._root).catch_up(session_id)

    def archived(
        self, scope: str | None, after: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[str, int]] | None:
        """List archived sessions as ``archive_list.page``."""
        from tui.storage.index import archive_list

        return archive_list.page(self._root, scope, after, limit)

    def count_archived(self, scope: str | None) -> int | None:
        """Count archived sessions as ``archive_list.count``."""
        from tui.storage.index import archive_list

        return archive_list.count(self._root, scope)

    def archived_scopes(self) -> dict[str, str]:
        """The scopes of archived sessions as ``archive_list.scopes``."""
        from tui.storage.index import archive_list

        return archive_list.scopes(self._root)

    def archived_named(self, name: str) -> Sequence[str] | None:
        """Find archived sessions by their name as ``archive_list.named``."""
        from tui.storage.index import archive_list

        return archive_list.named(self._root, name)

    def changed(self, session_id: str) -> None:
        """Report a journal that this program has changed to the next search."""
        if "_index" in self.__dict__:
            self._index.changed(session_id)

    def note_forgetting(self) -> None:
        """Mark the index to be emptied before its next change. Raises ``StorageError``."""
        from tui.storage.index.maintenance import IndexMaintenance

        IndexMaintenance(self._root).note_forgetting()

    def forget(self) -> None:
        """Empty the index, after a purge. Raises ``StorageError``."""
        from tui.storage.index.maintenance import IndexMaintenance

        IndexMaintenance(self._root).forget()
