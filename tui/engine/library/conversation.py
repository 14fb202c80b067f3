"""Whole conversations, read or searched in the memory of a few pages.

A store reads exactly from the end only: later messages say which earlier ones they replace. So the
pages are found from the end, and read again from the beginning; a text is found from the end up.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from itertools import chain, islice

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset
from tui.domain.journal.session import Entry, Session, SessionEntry, Versions
from tui.domain.search.find import MessageMatches, Needle, count_in
from tui.domain.search.query import parse
from tui.domain.search.search_results import Preview, preview
from tui.engine.model_requests import missing_results
from tui.errors import StorageError
from tui.storage.journal import Journal
from tui.storage.protocol import JournalReader, SessionReader

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


_PAGE = 200


class ConversationEntry(msgspec.Struct, frozen=True):
    """An entry of a conversation."""

    entry: Entry
    is_live: bool = True
    """False before a reset and in an earlier version."""
    is_earlier_version: bool = False


class StoredConversation(msgspec.Struct, frozen=True):
    """A session that is read part by part."""

    reader: SessionReader
    listed: SessionEntry
    end: Session
    """The session, of which only the last messages are read."""
    last: Sequence[Entry]
    versions: Versions
    damaged: int
    cursors: Sequence[str] = ()
    """Those of the pages before the end, oldest first."""
    skipped: int = 0
    """Entries at the beginning that do not count."""
    resets: int = 0
    """Resets behind them."""
    aside: frozenset[str] = frozenset()
    """Ids of the messages of earlier versions."""

    def parts(self) -> Iterator[ConversationEntry]:
        """Read the parts, oldest first."""
        left = self.resets
        journal = self.reader.journal(self.end.id)
        pages = (journal.page(cursor, _PAGE).entries for cursor in self.cursors)
        entries = chain(chain.from_iterable(pages), self.last)
        for entry in islice(entries, self.skipped, None):
            left -= isinstance(entry, Reset)
            aside = isinstance(entry, Message) and entry.id in self.aside
            yield ConversationEntry(entry, is_live=not left and not aside, is_earlier_version=aside)

    @property
    def cut_off(self) -> tuple[Message, ...]:
        """Stand-ins for the results of tools that never came."""
        return missing_results(self.end) if self.listed.status != "open" else ()


def live_conversation(reader: SessionReader, listed: SessionEntry) -> StoredConversation:
    """Find the messages since the last reset.

    Raises ``SessionNotFound`` and ``SessionDamaged``, like the other functions here.
    """
    return _found(reader, listed, reader.journal(listed.id).versions(), to_reset=True)


def whole_conversation(reader: SessionReader, listed: SessionEntry) -> StoredConversation:
    """Find all messages, also those before a reset and of earlier versions.

    A session with earlier versions is loaded: its pages are of one version each.
    """
    journal = reader.journal(listed.id)
    versions = journal.versions()
    if not versions:
        return _found(reader, listed, versions, to_reset=False)
    session = journal.load()
    every = session.everything or session.entries
    live = {entry.id for entry in session.entries if isinstance(entry, Message)}
    return StoredConversation(
        reader,
        listed,
        session,
        every,
        versions,
        session.damaged,
        resets=sum(isinstance(entry, Reset) for entry in every),
        aside=frozenset(e.id for e in every if isinstance(e, Message) and e.id not in live),
    )


def _found(
    reader: SessionReader, listed: SessionEntry, versions: Versions, *, to_reset: bool
) -> StoredConversation:
    """Find the pages before the end, all of them or those back to the last reset."""
    journal = reader.journal(listed.id)
    tail = journal.tail(_PAGE)
    end, cursor = tail.session, tail.cursor
    cursors: list[str] = []
    damaged, counted, skipped = end.damaged, 0, 0
    while cursor is not None:
        page = journal.page(cursor, _PAGE)
        cursors.append(cursor)
        damaged += page.damaged
        resets = [place for place, e in enumerate(page.entries, 1) if isinstance(e, Reset)]
        if resets and to_reset:
            skipped = resets[-1]
            break
        counted += len(resets)
        cursor = page.cursor
    return StoredConversation(
        reader, listed, end, end.entries, versions, damaged, cursors[::-1], skipped, counted
    )


_AROUND = 6


def preview_of(
    reader: JournalReader, session_id: str, message_id: str | None = None, query: str = ""
) -> Preview:
    """The messages around one, or the last ones; the words of ``query`` are marked.

    What cannot be read is a preview that says why. Blocks on the disk.
    """
    try:
        journal = reader.journal(session_id)
        if message_id is None:
            entries = journal.tail(2 * _AROUND).session.entries
        else:
            entries = journal.around(message_id, _AROUND, _AROUND).entries
    except StorageError as error:
        return Preview(message_id, error=str(error))
    messages = [entry for entry in entries if isinstance(entry, Message)]
    return preview(parse(query), message_id, messages)
