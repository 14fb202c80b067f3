"""Excerpts: messages far from the end of a session, read in both directions until they join it."""

import asyncio
from collections.abc import Sequence

from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry, Surroundings
from tui.engine.sessions.loaded_session import LoadedSession
from tui.storage.journal import BEGINNING
from tui.storage.protocol import SessionReader

PAGE = 50
"""The number of messages in a page."""


def is_loaded(loaded: LoadedSession, message_id: str) -> bool:
    """Tell whether a message is among those at the end, with the pages read before them."""
    return any(isinstance(e, Message) and e.id == message_id for e in loaded.entries)


def place_at(loaded: LoadedSession, message_id: str, around: Surroundings) -> None:
    """Let a session show a message, by an excerpt around it unless it is loaded."""
    if is_loaded(loaded, message_id):
        loaded.pages.show_end()
    else:
        loaded.pages.show(around, loaded.latest)


async def go_to_beginning(store: SessionReader, loaded: LoadedSession) -> None:
    """Let a session show its first messages. Raises ``StorageError``."""
    page = await asyncio.to_thread(store.journal(loaded.id).page_after, BEGINNING, PAGE)
    loaded.pages.show(Surroundings(page.entries, None, page.cursor), loaded.latest)


async def read_earlier(store: SessionReader, loaded: LoadedSession) -> Sequence[Entry]:
    """Read the page before an excerpt. Raises ``StorageError``."""
    excerpt = loaded.pages.excerpt
    if excerpt is None or excerpt.earlier is None:
        return ()
    page = await asyncio.to_thread(store.journal(loaded.id).page, excerpt.earlier, PAGE)
    return page.entries if loaded.pages.add_earlier(excerpt, page) else ()


async def read_later(store: SessionReader, loaded: LoadedSession) -> bool:
    """Read the page after an excerpt; at the end there is no excerpt any more.

    False if there is none: an earlier version ends with its own last message. Raises
    ``StorageError``.
    """
    excerpt = loaded.pages.excerpt
    if excerpt is None:
        return True
    if excerpt.later is None:
        return False
    page = await asyncio.to_thread(store.journal(loaded.id).page_after, excerpt.later, PAGE)
    loaded.pages.add_later(excerpt, page, loaded.latest)
    return True
