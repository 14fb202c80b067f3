"""The sessions that sidebar and picker show, read page by page as they are asked for."""

import asyncio
import re
from collections.abc import Container
from typing import TYPE_CHECKING, Literal

import msgspec

from tui.domain.journal.session import SessionEntry, Status
from tui.domain.text import late_pattern
from tui.domain.timestamps import parse_utc
from tui.engine.sessions.workspace import Workspace
from tui.errors import SessionNotFound
from tui.storage.protocol import KEPT, Listing, SessionFilter, SessionReader

if TYPE_CHECKING:
    from tui.domain.views.session_rows import PickerView

PAGE = 50
MOST_AT_ONCE = 500
MOST_OTHERS = 200

Aside = Literal["archived", "trashed"]
"""The sessions that are counted, and read only once that is asked for."""
_ASIDES: tuple[Aside, ...] = ("archived", "trashed")


class SessionCounts(msgspec.Struct, frozen=True):
    """Numbers of sessions: in the archive, in the trash, and in scopes that are not shown."""

    archived: int = 0
    trashed: int = 0
    elsewhere: int = 0


class SessionPager:
    """Sessions of one scope, or of all, pinned ones first; then archived and deleted ones.

    The latter are counted, and read only once that is asked for.
    """

    def __init__(self, store: SessionReader, scope: str) -> None:
        self._store = store
        self._scope = scope
        self._everywhere = False
        self._entries: tuple[SessionEntry, ...] = ()
        self._cursor: str | None = None
        self._aside: dict[Aside, Listing] = {}
        self.is_counted = False
        self.counts = SessionCounts()
        """The sessions that are not read, once they are counted."""
        self.others: tuple[SessionEntry, ...] = ()
        """The sessions of all scopes that were used last, as far as they were counted."""
        self._lock = asyncio.Lock()
        self._paging = asyncio.Lock()  # is held while a page is read or waited for

    @property
    def entries(self) -> tuple[SessionEntry, ...]:
        """The entries read so far, those of archive and trash last."""
        entries = self._entries
        for status in _ASIDES:
            if (listing := self._aside.get(status)) is not None:
                entries = _joined(entries, listing.entries)
        return entries

    def knows(self, session_id: str) -> bool:
        """Tell whether a session is among what was read."""
        return any(entry.id == session_id for entry in self._entries)

    @property
    def more(self) -> bool:
        """Tell whether there are older ones, or more of archive or trash, where asked for."""
        aside = any(listing.cursor is not None for listing in self._aside.values())
        return self._cursor is not None or aside

    @property
    def scope(self) -> str:
        """The scope whose sessions these are; empty for all."""
        return "" if self._everywhere else self._scope

    async def refresh(self) -> None:
        """Read the newest page again; what was read below it stays. Raises ``StorageError``."""
        async with self._lock:
            await self._refresh()

    async def read_more(self) -> None:
        """Read the next page, unless that is being done. Raises ``StorageError``."""
        if self._paging.locked():
            return
        async with self._paging, self._lock:
            # Archive and trash first: a user who has unfolded them is at the end of the list.
            for status, listing in self._aside.items():
                if listing.cursor is not None:
                    known, size = listing.entries, _page_size(len(listing.entries))
                    more = await self._page(self._filter(frozenset({status})), listing.cursor, size)
                    self._aside[status] = Listing(_joined(known, more.entries), more.cursor)
                    return
            if self._cursor is not None:
                known = self._entries
                listing = await self._page(self._filter(), self._cursor, _page_size(len(known)))
                self._entries, self._cursor = _joined(known, listing.entries), listing.cursor

    async def read_aside(self, status: Aside) -> None:
        """Read the newest page of archive or trash, if it was not. Raises ``StorageError``."""
        async with self._lock:
            if status not in self._aside:
                self._aside[status] = await self._page(self._filter(frozenset({status})), None)

    async def note_moved(self, session_id: str) -> None:
        """Read again where a session was and where it is by now. Raises ``StorageError``."""
        async with self._lock:
            self._entries = tuple(e for e in self._entries if e.id != session_id)
            await self._refresh()
            await self._count()

    async def count(self) -> None:
        """Count what is archived and what other scopes have. Raises ``StorageError``."""
        async with self._lock:
            await self._count()

    async def read_again(self, session_id: str) -> None:
        """Read one of them again; what is not there any more stays. Raises ``StorageError``."""
        if all(entry.id != session_id for entry in self._entries):
            return
        async with self._lock:
            try:
                found = await asyncio.to_thread(self._store.entry, session_id)
            except SessionNotFound:
                return
            self._entries = tuple(found if e.id == session_id else e for e in self._entries)

    async def show(self, scope: str) -> None:
        """Read the newest page of this scope, if not of all. Raises ``StorageError``."""
        async with self._lock:
            if scope == self._scope or self._everywhere:
                self._scope = scope
                await self._refresh()
                await self._count()
            else:
                await self._begin_again(scope, everywhere=False)

    async def toggle_scope(self) -> None:
        """Change between one scope and all. Raises ``StorageError``, and then stays."""
        async with self._lock:
            await self._begin_again(self._scope, everywhere=not self._everywhere)

    async def _refresh(self) -> None:
        listing = await self._page(self._filter(), None)
        newest = {entry.id for entry in listing.entries}
        if listing.cursor is None or newest.isdisjoint(entry.id for entry in self._entries):
            # Nothing is below, or what is there does not join on.
            self._entries, self._cursor = listing.entries, listing.cursor
            return
        end = parse_utc(listing.entries[-1].last_used_at)
        below: list[SessionEntry] = []
        for entry in self._entries:
            used = parse_utc(entry.last_used_at)
            # What was above the end of this page and is not in it any more is gone.
            is_above = used is not None and end is not None and used > end
            if entry.id not in newest and not is_above:
                below.append(entry)
        self._entries = (*listing.entries, *below)

    async def _begin_again(self, scope: str, *, everywhere: bool) -> None:
        shown = None if everywhere else scope
        listing = await self._page(SessionFilter(shown, order="pinned"), None)
        aside: dict[Aside, Listing] = {
            status: await self._page(SessionFilter(shown, frozenset({status})), None)
            for status in self._aside
        }
        self._scope, self._everywhere = scope, everywhere
        self._entries, self._cursor = listing.entries, listing.cursor
        self._aside = aside
        await self._count()

    async def _count(self) -> None:
        before = self.counts
        self.counts = await asyncio.to_thread(self._counted)
        self.is_counted = True
        for status in self._aside:
            if getattr(before, status) != getattr(self.counts, status):
                self._aside[status] = await self._page(self._filter(frozenset({status})), None)

    def _counted(self) -> SessionCounts:
        filters = (self._filter(frozenset({status})) for status in _ASIDES)
        archived, trashed = map(self._store.count, filters)
        if self._everywhere:
            return SessionCounts(archived, trashed)
        kept = self._store.count(SessionFilter()) - self._store.count(self._filter())
        if kept and (kept != self.counts.elsewhere or not self.others):
            self.others = self._store.list(SessionFilter(), None, MOST_OTHERS).entries
        return SessionCounts(archived, trashed, elsewhere=kept)

    async def _page(self, wanted: SessionFilter, cursor: str | None, count: int = PAGE) -> Listing:
        return await asyncio.to_thread(self._store.list, wanted, cursor, count)

    def _filter(self, statuses: frozenset[Status] = KEPT) -> SessionFilter:
        return SessionFilter(None if self._everywhere else self._scope, statuses, order="pinned")


class PickerPages:
    """The sessions of one view of the picker, of one scope or of all, as far as they were read.

    Those of ``hidden_projects`` are left out.
    """

    def __init__(
        self,
        reader: SessionReader,
        view: "PickerView",
        scope: str | None,
        hidden_projects: Container[str] = (),
    ) -> None:
        self._hidden = hidden_projects
        self._reader = reader
        archived = SessionFilter(scope, frozenset({"archived"}))
        trashed = SessionFilter(scope, frozenset({"trashed"}))
        sections: dict[PickerView, tuple[SessionFilter, ...]] = {
            "all": (SessionFilter(scope, KEPT, order="pinned"), archived, trashed),
            "closed": (SessionFilter(scope, frozenset({"closed"}), order="closed"),),
            "archive": (archived,),
            "trash": (trashed,),
        }
        self._left = sections[view]
        self._cursor: str | None = None
        self.entries: tuple[SessionEntry, ...] = ()

    @property
    def more(self) -> bool:
        """True while there are sessions to be read."""
        return bool(self._left)

    async def read_more(self, count: int = 0) -> None:
        """Read the next page, of at least ``count`` sessions. Raises ``StorageError``."""
        wanted = len(self.entries) + max(count, PAGE)
        while self._left and len(self.entries) < wanted:
            size = max(count, _page_size(len(self.entries)))
            listing = await asyncio.to_thread(self._reader.list, self._left[0], self._cursor, size)
            self._cursor = listing.cursor
            if listing.cursor is None:
                self._left = self._left[1:]
            # A session that was moved meanwhile stays where it was read first.
            shown = tuple(e for e in listing.entries if e.project_path not in self._hidden)
            self.entries = _joined(self.entries, shown)


def _joined(
    entries: tuple[SessionEntry, ...], others: tuple[SessionEntry, ...]
) -> tuple[SessionEntry, ...]:
    known = {entry.id for entry in entries}
    return (*entries, *(entry for entry in others if entry.id not in known))


def _page_size(known: int) -> int:
    """The size of the next page, as many as are known.

    A filter that looks at ten thousand is done after twenty pages.
    """
    return max(PAGE, min(known, MOST_AT_ONCE))


_NAMED_BY_ID = late_pattern(r"\b[Ss]ession ([A-Za-z0-9](?:[\w.-]*\w)?)")


class SessionTitles(msgspec.Struct, eq=False):
    """Knows the titles of open and listed sessions.

    The words of an error name an id, which the command line can copy and needs.
    """

    _workspace: Workspace
    _pages: SessionPager

    def named(self, text: str) -> str:
        """Replace ``Session ID`` and ``session ID`` by the title, as far as it is known."""
        return _NAMED_BY_ID.sub(self._title, text)

    def _title(self, found: re.Match[str]) -> str:
        session_id = found[1]
        loaded = self._workspace.switcher.find(session_id)
        if loaded is not None:
            return f'"{loaded.label()}"'
        labels = (entry.label for entry in self._pages.entries if entry.id == session_id)
        label = next(labels, "")
        return f'"{label}"' if label else found[0]
