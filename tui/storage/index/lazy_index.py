"""A lazy proxy of the index: the first search loads SQLite, nothing before."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.storage.index.archive_list import ArchiveList
    from tui.storage.index.maintenance import IndexMaintenance
    from tui.storage.index.search_index import SearchIndex


class LazyIndex:
    """The search index of one data directory: each part is loaded when it is first used."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def search(self) -> "SearchIndex":
        """The searches, which know what this program has changed."""
        from tui.storage.index.search_index import SearchIndex

        return SearchIndex(self._root)

    @cached_property
    def archive(self) -> "ArchiveList":
        """The list of the archive."""
        from tui.storage.index.archive_list import ArchiveList

        return ArchiveList(self._root)

    @property
    def maintenance(self) -> "IndexMaintenance":
        """A writer of the index."""
        from tui.storage.index.maintenance import IndexMaintenance

        return IndexMaintenance(self._root)

    def changed(self, session_id: str) -> None:
        """Report a journal that this program has changed to the next search."""
        if "search" in self.__dict__:
            self.search.changed.add(session_id)
