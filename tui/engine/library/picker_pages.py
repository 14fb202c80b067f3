"""The sessions of the picker, read page by page: kept ones, then the archive, then the trash."""

import asyncio
from collections.abc import Container, Sequence

from tui.domain.journal.session import SessionEntry, Status
from tui.domain.views.session_picker import PickerView
from tui.engine.library.session_pages import PAGE, page_size
from tui.storage.protocol import KEPT, SessionFilter, SessionReader

_CLOSED: frozenset[Status] = frozenset({"closed"})
_ARCHIVED: frozenset[Status] = frozenset({"archived"})
_TRASHED: frozenset[Status] = frozenset({"trashed"})


class PickerPages:
    """The sessions of one view, of one scope or of all, as far as they were read.

    Those of ``hidden_projects`` are left out.
    """

    def __init__(
        self,
        reader: SessionReader,
        view: PickerView,
        scope: str | None,
        hidden_projects: Container[str] = (),
    ) -> None:
        self._hidden = hidden_projects
        self._reader = reader
        self._left = _sections(view, scope)
        self._cursor: str | None = None
        self._known: dict[str, SessionEntry] = {}
        self._reading = asyncio.Lock()

    @property
    def entries(self) -> Sequence[SessionEntry]:
        """The sessions read so far."""
        return tuple(self._known.values())

    @property
    def more(self) -> bool:
        """True while there are sessions to be read."""
        return bool(self._left)

    async def read_more(self, count: int = 0) -> None:
        """Read the next page, of at least ``count`` sessions. Raises ``StorageError``."""
        if self._reading.locked():
            return
        async with self._reading:
            wanted = len(self._known) + max(count, PAGE)
            while self._left and len(self._known) < wanted:
                await self._read_page(max(count, page_size(len(self._known))))

    async def _read_page(self, count: int) -> None:
        listing = await asyncio.to_thread(self._reader.list, self._left[0], self._cursor, count)
        self._cursor = listing.cursor
        if listing.cursor is None:
            self._left = self._left[1:]
        # A session that was moved meanwhile stays where it was read first.
        for entry in listing.entries:
            if entry.project_path not in self._hidden:
                self._known.setdefault(entry.id, entry)


def _sections(view: PickerView, scope: str | None) -> tuple[SessionFilter, ...]:
    match view:
        case "all":
            kept = SessionFilter(scope, KEPT, order="pinned")
            return kept, SessionFilter(scope, _ARCHIVED), SessionFilter(scope, _TRASHED)
        case "closed":
            return (SessionFilter(scope, _CLOSED, order="closed"),)
        case "archive":
            return (SessionFilter(scope, _ARCHIVED),)
        case "trash":
            return (SessionFilter(scope, _TRASHED),)
