"""Finding a text in the whole of one session, from its end upwards, a page at a time."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry
from tui.domain.search.find_matches import MessageMatches
from tui.domain.search.find_query import Needle, count_in
from tui.storage.journal import Journal

PAGE = 250
"""Messages read at once: a few milliseconds, so that another search need not wait."""

_FIRST_PAGE = 50


class Stretch(msgspec.Struct, frozen=True):
    """Matches of some entries, newest first.

    ``below`` is how many of them stand at the reader's message or below it, if that is here.
    """

    found: tuple[MessageMatches, ...]
    below: int | None = None


class RecentCounts:
    """A cache of match counts at a session's end: only changed messages are counted again."""

    def __init__(self, needle: Needle) -> None:
        self._needle = needle
        self._known: dict[str, tuple[Message, int]] = {}

    def of(self, entries: Sequence[Entry], reader: str | None = None) -> Stretch:
        """Count the matches as of now."""
        known, self._known = self._known, {}
        for message in entries:
            if isinstance(message, Message):
                before = known.get(message.id)
                same = before is not None and before[0] is message
                count = before[1] if before and same else count_in(self._needle, message)
                self._known[message.id] = message, count
        return _stretch([(key, count) for key, (_, count) in self._known.items()], reader)


async def find_earlier(
    journal: Journal, cursor: str | None, needle: Needle, reader: str | None
) -> AsyncGenerator[Stretch]:
    """Look through all that stands before a cursor; ``reader`` is the message he reads.

    One page is in memory at a time. Raises ``StorageError``.
    """

    def look_through(cursor: str, size: int) -> tuple[Stretch, str | None]:
        page = journal.page(cursor, size)
        messages = [entry for entry in page.entries if isinstance(entry, Message)]
        return _stretch([(m.id, count_in(needle, m)) for m in messages], reader), page.cursor

    size = _FIRST_PAGE
    while cursor is not None:
        stretch, cursor = await asyncio.to_thread(look_through, cursor, size)
        yield stretch
        size = PAGE


def _stretch(counted: Sequence[tuple[str, int]], reader: str | None) -> Stretch:
    found: list[MessageMatches] = []
    below: int | None = None
    for message_id, count in reversed(counted):
        if count:
            found.append(MessageMatches(message_id, count))
        if message_id == reader:
            below = len(found)
    return Stretch(tuple(found), below)
