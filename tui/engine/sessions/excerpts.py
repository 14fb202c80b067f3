"""A place in a session far from its end, and reading on from there until the two join.

A conversation with an ``excerpt`` shows that instead of its end. The pages read on from it lead in
both directions; when those towards the end reach what is at hand, they become its earlier pages.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry, Surroundings, joined
from tui.engine.sessions.loaded_session import LoadedSession
from tui.storage.protocol import BEGINNING, SessionReader

PAGE = 50
"""The number of messages in a page."""


def at_hand(loaded: LoadedSession, message_id: str) -> bool:
    """Tell whether a message is among those at the end, with the pages read before them."""
    return message_id in _ids(loaded.entries)


def place_at(loaded: LoadedSession, message_id: str, around: Surroundings) -> None:
    """Let a conversation show a message, by what stands around it unless it is at hand."""
    if at_hand(loaded, message_id):
        loaded.excerpt = None
        return
    loaded.excerpt = around
    _join(loaded)


async def go_to_beginning(store: SessionReader, loaded: LoadedSession) -> None:
    """Let a conversation show its first messages. Raises ``StorageError``."""
    page = await asyncio.to_thread(store.page_after, loaded.id, BEGINNING, PAGE)
    loaded.excerpt = Surroundings(page.entries, None, page.cursor)
    _join(loaded)


async def read_earlier(store: SessionReader, loaded: LoadedSession) -> Sequence[Entry]:
    """Read the page before an excerpt. Raises ``StorageError``."""
    excerpt = loaded.excerpt
    if excerpt is None or excerpt.earlier is None:
        return ()
    page = await asyncio.to_thread(store.page, loaded.id, excerpt.earlier, PAGE)
    now = loaded.excerpt
    if now is None or now.earlier != excerpt.earlier:
        # Asked twice, or another place was gone to meanwhile.
        return ()
    loaded.excerpt = msgspec.structs.replace(
        now, entries=(*page.entries, *now.entries), earlier=page.cursor
    )
    return page.entries


async def read_later(store: SessionReader, loaded: LoadedSession) -> None:
    """Read the page after an excerpt; at the end there is no excerpt any more.

    Raises ``StorageError``.
    """
    excerpt = loaded.excerpt
    if excerpt is None or excerpt.later is None:
        return
    page = await asyncio.to_thread(store.page_after, loaded.id, excerpt.later, PAGE)
    now = loaded.excerpt
    if now is None or now.later != excerpt.later:
        return
    loaded.excerpt = msgspec.structs.replace(
        now, entries=joined(now.entries, page), later=page.cursor
    )
    _join(loaded)


def _join(loaded: LoadedSession) -> None:
    """Go on with the end of the session, if the excerpt has reached what is at hand of it."""
    excerpt, own = loaded.excerpt, loaded.latest
    if excerpt is None:
        return
    first = next((place for place, entry in enumerate(own) if isinstance(entry, Message)), len(own))
    reached = _place_of(own[first], excerpt.entries) if first < len(own) else None
    if reached is None and excerpt.later is not None:
        return
    earlier = list(excerpt.entries[:reached])
    while earlier and earlier[-1] in own[:first]:
        # Marks before the first message at hand stand in both.
        earlier.pop()
    loaded.earlier, loaded.page_cursor = tuple(earlier), excerpt.earlier
    loaded.excerpt = None


def _place_of(wanted: Entry, entries: Sequence[Entry]) -> int | None:
    key = wanted.id if isinstance(wanted, Message) else None
    places = (p for p, e in enumerate(entries) if isinstance(e, Message) and e.id == key)
    return next(places, None)


def _ids(entries: Sequence[Entry]) -> set[str]:
    return {entry.id for entry in entries if isinstance(entry, Message)}
