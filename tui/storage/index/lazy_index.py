"""The index as the store holds it: SQLite is loaded by who searches, and by nobody before."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.domain.search.query import SearchResult
    from tui.storage.index.search_index import SearchIndex


class LazyIndex:
    """The search index of one data directory, opened when it is first asked."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def _index(self) -> "SearchIndex":
        from tui.storage.index.search_index import SearchIndex

        return SearchIndex(self._root)

    def search(
        self, text: str, limit: int, seconds: float, wanted: Callable[[], bool] | None
    ) -> "SearchResult":
        """What ``SessionStore.search`` promises."""
        return self._index.search(text, limit, seconds, wanted)

    def changed(self, session_id: str) -> None:
        """Say that a journal was changed here: the next search looks at it."""
        if "_index" in self.__dict__:
            self._index.changed(session_id)

    def note_forgetting(self) -> None:
        """Have it forget by itself, should nobody come to ask it. Raises ``StorageError``."""
        from tui.storage.index.maintenance import Upkeep

        Upkeep(self._root).note_forgetting()

    def forget(self) -> None:
        """Destroy what the index knows, after a purge. Raises ``StorageError``."""
        from tui.storage.index.maintenance import Upkeep

        Upkeep(self._root).forget()
