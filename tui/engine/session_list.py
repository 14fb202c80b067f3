"""The sessions that a list shows, read page by page as they are asked for."""

import asyncio
from datetime import datetime

from tui.domain.session import SessionEntry
from tui.domain.timestamps import parse_utc
from tui.errors import SessionNotFound
from tui.storage.protocol import Listing, SessionFilter, SessionStore

PAGE = 50
MOST_AT_ONCE = 500


class SessionList:
    """Sessions of one scope, or of all, newest use first."""

    def __init__(self, store: SessionStore, scope: str) -> None:
        self._store = store
        self._scope = scope
        self._everywhere = False
        self._entries: tuple[SessionEntry, ...] = ()
        self._cursor: str | None = None
        self._lock = asyncio.Lock()

    @property
    def entries(self) -> tuple[SessionEntry, ...]:
        """What was read so far."""
        return self._entries

    def knows(self, session_id: str) -> bool:
        """Whether a session is among what was read."""
        return any(entry.id == session_id for entry in self._entries)

    @property
    def more(self) -> bool:
        """Whether there are older ones."""
        return self._cursor is not None

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
        if self._lock.locked():
            return
        async with self._lock:
            if self._cursor is None:
                return
            # As many again: a filter that looks at ten thousand is done after twenty pages.
            count = max(PAGE, min(len(self._entries), MOST_AT_ONCE))
            listing = await self._page(self._filter(), self._cursor, count)
            known = {entry.id for entry in self._entries}
            added = [entry for entry in listing.entries if entry.id not in known]
            self._entries = (*self._entries, *added)
            self._cursor = listing.cursor

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
        # What was above the end of this page and is not in it any more is gone.
        below = [e for e in self._entries if e.id not in newest and not _newer(e, end)]
        self._entries = (*listing.entries, *below)

    async def _begin_again(self, scope: str, *, everywhere: bool) -> None:
        listing = await self._page(_filter(scope, everywhere=everywhere), None)
        self._scope, self._everywhere = scope, everywhere
        self._entries, self._cursor = listing.entries, listing.cursor

    async def _page(self, wanted: SessionFilter, cursor: str | None, count: int = PAGE) -> Listing:
        return await asyncio.to_thread(self._store.list, wanted, cursor, count)

    def _filter(self) -> SessionFilter:
        return _filter(self._scope, everywhere=self._everywhere)


def _filter(scope: str, *, everywhere: bool) -> SessionFilter:
    return SessionFilter(None if everywhere else scope)


def _newer(entry: SessionEntry, end: datetime | None) -> bool:
    used = parse_utc(entry.last_used_at)
    return used is not None and end is not None and used > end
