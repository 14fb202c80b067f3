"""The messages before the end of a session that were read, and the excerpt on screen."""

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry, Page, Surroundings, joined
from tui.storage.journal import BEGINNING, Journal

PAGE = 50
"""The number of messages in a page."""


class LoadedPages:
    """Pages read backwards from the end of a session, and an excerpt shown instead of that end.

    ``cursor`` leads to the page before ``earlier``; ``None`` if there is none. Without an
    ``excerpt`` the end is shown. The pages read on from one lead in both directions; when those
    towards the end reach ``latest``, what is loaded of it, they become its earlier pages.
    """

    def __init__(self, latest: Callable[[], Sequence[Entry]], cursor: str | None) -> None:
        self._latest = latest
        self.earlier: tuple[Entry, ...] = ()
        self.cursor = cursor
        self.excerpt: Surroundings | None = None

    @property
    def before(self) -> str | None:
        """Leads to what comes before what is shown; ``None`` if nothing does."""
        return self.excerpt.earlier if self.excerpt else self.cursor

    @property
    def aside(self) -> bool:
        """Tell whether a version is shown that is not live."""
        return self.excerpt is not None and self.excerpt.aside

    def has(self, message_id: str) -> bool:
        """Tell whether a message is among those at the end, with the pages read before them."""
        entries = (*self.earlier, *self._latest())
        return any(isinstance(each, Message) and each.id == message_id for each in entries)

    async def read_earlier(self, journal: Journal, count: int = PAGE) -> Page | None:
        """Read the page before what is shown; ``None`` if nothing was, or not any more.

        Raises ``StorageError``.
        """
        cursor = self.before
        if cursor is None:
            return None
        page = await asyncio.to_thread(journal.page, cursor, count)
        if cursor != self.before:
            # Asked twice, another place was gone to or the session was taken meanwhile.
            return None
        if now := self.excerpt:
            entries = (*page.entries, *now.entries)
            self.excerpt = replace(now, entries=entries, earlier=page.cursor)
        else:
            self.earlier, self.cursor = (*page.entries, *self.earlier), page.cursor
        return page

    # --- pages before the end

    def restart(self, entries: Sequence[Entry], cursor: str | None) -> None:
        """Replace the pages; the earlier ones no longer count."""
        self.earlier, self.cursor = tuple(entries), cursor

    def keep_before(self, entries: Sequence[Entry], cursor: str | None) -> None:
        """Keep what was read before ``entries``, the new end, if it joins on."""
        earlier = entries_before((*self.earlier, *self._latest()), entries)
        if earlier:
            self.earlier = earlier
        else:
            self.earlier, self.cursor = (), cursor

    # --- an excerpt

    def show_end(self) -> None:
        """Show the end of the session again."""
        self.excerpt = None

    def show(self, message_id: str, around: Surroundings) -> None:
        """Show a message, by an excerpt around it unless it is loaded."""
        self.excerpt = None if self.has(message_id) else around
        self._join()

    async def show_beginning(self, journal: Journal) -> None:
        """Show the first messages. Raises ``StorageError``."""
        page = await asyncio.to_thread(journal.page_after, BEGINNING, PAGE)
        self.excerpt = Surroundings(page.entries, None, page.cursor)
        self._join()

    async def read_later(self, journal: Journal) -> bool:
        """Read the page after an excerpt; at the end there is no excerpt any more.

        False if there is none: an earlier version ends with its own last message. Raises
        ``StorageError``.
        """
        excerpt = self.excerpt
        if excerpt is None:
            return True
        if excerpt.later is None:
            return False
        page = await asyncio.to_thread(journal.page_after, excerpt.later, PAGE)
        now = self.excerpt
        if now is not None and now.later == excerpt.later:
            self.excerpt = replace(now, entries=joined(now.entries, page), later=page.cursor)
            self._join()
        return True

    def _join(self) -> None:
        """Show the end of the session, if the excerpt has reached what is loaded of it."""
        excerpt, latest = self.excerpt, self._latest()
        if excerpt is None or excerpt.aside:
            return
        firsts = ((p, each.id) for p, each in enumerate(latest) if isinstance(each, Message))
        first, wanted = next(firsts, (len(latest), ""))
        places = {e.id: place for place, e in enumerate(excerpt.entries) if isinstance(e, Message)}
        reached = places.get(wanted)
        if reached is None and excerpt.later is not None:
            return
        earlier = list(excerpt.entries[:reached])
        while earlier and earlier[-1] in latest[:first]:
            # Marks before the first loaded message stand in both.
            earlier.pop()
        self.earlier, self.cursor = tuple(earlier), excerpt.earlier
        self.excerpt = None


def entries_before(known: Sequence[Entry], read: Sequence[Entry]) -> tuple[Entry, ...]:
    """Give the known entries before those that were read; none if they do not join."""
    places = {entry.id: place for place, entry in enumerate(known) if isinstance(entry, Message)}
    for count, entry in enumerate(read):
        place = places.get(entry.id) if isinstance(entry, Message) else None
        if place is None:
            continue
        for mark in reversed(read[:count]):
            place -= place > 0 and known[place - 1] == mark
        return tuple(known[:place])
    return ()
