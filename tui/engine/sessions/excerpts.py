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
from tui.storage.protocol import BEGINNING, SessionStore

PAGE = 50
"""How many messages are read at once."""


def at_hand(conversation: LoadedSession, message_id: str) -> bool:
    """Whether a message is among those at the end, with the pages read before them."""
    return message_id in _ids(conversation.entries)


def place_at(conversation: LoadedSession, message_id: str, around: Surroundings) -> None:
    """Let a conversation show a message, by what stands around it unless it is at hand."""
    if at_hand(conversation, message_id):
        conversation.excerpt = None
        return
    conversation.excerpt = around
    _join(conversation)


async def go_to_beginning(store: SessionStore, conversation: LoadedSession) -> None:
    """Let a conversation show its first messages. Raises ``StorageError``."""
    page = await asyncio.to_thread(store.page_after, conversation.id, BEGINNING, PAGE)
    conversation.excerpt = Surroundings(page.entries, None, page.cursor)
    _join(conversation)


async def read_earlier(store: SessionStore, conversation: LoadedSession) -> Sequence[Entry]:
    """Read the page before an excerpt. Raises ``StorageError``."""
    excerpt = conversation.excerpt
    if excerpt is None or excerpt.earlier is None:
        return ()
    page = await asyncio.to_thread(store.page, conversation.id, excerpt.earlier, PAGE)
    now = conversation.excerpt
    if now is None or now.earlier != excerpt.earlier:
        # Asked twice, or another place was gone to meanwhile.
        return ()
    conversation.excerpt = msgspec.structs.replace(
        now, entries=(*page.entries, *now.entries), earlier=page.cursor
    )
    return page.entries


async def read_later(store: SessionStore, conversation: LoadedSession) -> None:
    """Read the page after an excerpt; at the end there is no excerpt any more.

    Raises ``StorageError``.
    """
    excerpt = conversation.excerpt
    if excerpt is None or excerpt.later is None:
        return
    page = await asyncio.to_thread(store.page_after, conversation.id, excerpt.later, PAGE)
    now = conversation.excerpt
    if now is None or now.later != excerpt.later:
        return
    conversation.excerpt = msgspec.structs.replace(
        now, entries=joined(now.entries, page), later=page.cursor
    )
    _join(conversation)


def _join(conversation: LoadedSession) -> None:
    """Go on with the end of the session, if the excerpt has reached what is at hand of it."""
    excerpt, own = conversation.excerpt, conversation.latest
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
    conversation.earlier, conversation.page_cursor = tuple(earlier), excerpt.earlier
    conversation.excerpt = None


def _place_of(wanted: Entry, entries: Sequence[Entry]) -> int | None:
    key = wanted.id if isinstance(wanted, Message) else None
    places = (p for p, e in enumerate(entries) if isinstance(e, Message) and e.id == key)
    return next(places, None)


def _ids(entries: Sequence[Entry]) -> set[str]:
    return {entry.id for entry in entries if isinstance(entry, Message)}
