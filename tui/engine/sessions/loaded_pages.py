"""The messages before the end of a session that were read, and the excerpt on screen."""

from collections.abc import Sequence

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry, Page, Surroundings, joined


class LoadedPages:
    """Pages read backwards from the end of a session, and an excerpt shown instead of that end.

    ``cursor`` leads to the page before ``earlier``; ``None`` if there is none. The pages read on
    from an excerpt lead in both directions; when those towards the end reach what is loaded of it,
    they become its earlier pages.
    """

    def __init__(self, cursor: str | None) -> None:
        self.earlier: tuple[Entry, ...] = ()
        self.cursor = cursor
        self.excerpt: Surroundings | None = None

    @property
    def has_earlier(self) -> bool:
        """Tell whether there is more before what is shown."""
        return (self.excerpt.earlier if self.excerpt else self.cursor) is not None

    # --- pages before the end

    def add_page(self, page: Page) -> None:
        """Put the page at ``cursor`` before the others."""
        self.earlier, self.cursor = (*page.entries, *self.earlier), page.cursor

    def restart(self, entries: Sequence[Entry], cursor: str | None) -> None:
        """Replace the pages; the earlier ones no longer count."""
        self.earlier, self.cursor = tuple(entries), cursor

    def keep_before(
        self, latest: Sequence[Entry], entries: Sequence[Entry], cursor: str | None
    ) -> None:
        """Keep what was read before ``entries``, the new end for ``latest``, if it joins on."""
        earlier = entries_before((*self.earlier, *latest), entries)
        if earlier:
            self.earlier = earlier
        else:
            self.earlier, self.cursor = (), cursor

    def extend(self, entries: Sequence[Entry]) -> None:
        """Add entries between the pages and the end."""
        self.earlier = (*self.earlier, *entries)

    # --- an excerpt

    def show_end(self) -> None:
        """Show the end of the session again."""
        self.excerpt = None

    def show(self, excerpt: Surroundings, latest: Sequence[Entry]) -> None:
        """Show an excerpt, unless it reaches ``latest``, the loaded end of the session."""
        self.excerpt = excerpt
        self._join(latest)

    def add_earlier(self, excerpt: Surroundings, page: Page) -> bool:
        """Put a page before the excerpt; false if ``excerpt`` is not the one that was read from."""
        now = self.excerpt
        if now is None or now.earlier != excerpt.earlier:
            return False  # asked twice, or another place was gone to meanwhile
        self.excerpt = msgspec.structs.replace(
            now, entries=(*page.entries, *now.entries), earlier=page.cursor
        )
        return True

    def add_later(self, excerpt: Surroundings, page: Page, latest: Sequence[Entry]) -> None:
        """Put a page behind the excerpt, unless another one is shown meanwhile."""
        now = self.excerpt
        if now is None or now.later != excerpt.later:
            return
        entries = joined(now.entries, page)
        self.show(msgspec.structs.replace(now, entries=entries, later=page.cursor), latest)

    def _join(self, latest: Sequence[Entry]) -> None:
        """Show the end of the session, if the excerpt has reached what is loaded of it."""
        excerpt = self.excerpt
        if excerpt is None or excerpt.aside:
            return
        places = (place for place, entry in enumerate(latest) if isinstance(entry, Message))
        first = next(places, len(latest))
        reached = _place_of(latest[first], excerpt.entries) if first < len(latest) else None
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


def _place_of(wanted: Entry, entries: Sequence[Entry]) -> int | None:
    key = wanted.id if isinstance(wanted, Message) else None
    places = (p for p, e in enumerate(entries) if isinstance(e, Message) and e.id == key)
    return next(places, None)
