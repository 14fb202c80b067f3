"""The prompts of a project, newest first, read from the ends of its journals as they are wanted."""

from bisect import bisect_left, insort
from collections.abc import Iterable
from operator import attrgetter, itemgetter

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import SessionHeader
from tui.domain.journal.session import Entry, Status
from tui.domain.references import NO_WORDS
from tui.engine.sessions.loaded_session import LoadedSession, references_of
from tui.errors import StorageError
from tui.storage.protocol import KEPT, SessionFilter, SessionReader

PAGE = 20
"""Prompts that are read at a time, messages of a session, and sessions of a list at first."""
MOST_LISTED = 500
MOST_READS = 100
"""The reads of one call, whatever they find."""
MOST_CHARACTERS = 10_000_000
"""The length of all prompts after which no more are read."""

_ARCHIVED: frozenset[Status] = frozenset({"archived"})
_LATEST = "~"
"""Later than any time."""


class _Rest(msgspec.Struct):
    """The part of a session, or without ``session_id`` of a list, that was not read."""

    at: str
    """Nothing in it is later."""
    session_id: str = ""
    wanted: SessionFilter = SessionFilter()
    cursor: str | None = None
    header: SessionHeader | None = None


class PromptHistory:
    """Merges the prompts of a project's sessions by time; of archived and imported ones as well.

    A session is read only as far as its prompts may be the next ones. Prompts of sessions in the
    trash are left out, and those of private ones, but for the session on screen.
    """

    def __init__(self, reader: SessionReader, session: LoadedSession) -> None:
        """``session`` is on screen: its project is meant, and it may have unsaved prompts."""
        self._reader = reader
        header = session.session.header
        lists = (SessionFilter(header.scope, statuses) for statuses in (KEPT, _ARCHIVED))
        self._rests = [_Rest(_LATEST, session.id), *(_Rest(_LATEST, wanted=each) for each in lists)]
        self._listed = {session.id}
        self._seen: set[str] = set()
        self._found: list[tuple[str, str]] = []
        self._room = MOST_CHARACTERS
        self.prompts: list[str] = []
        """The prompts that were read, newest first."""
        self.own_words = NO_WORDS
        """The user's own references in them."""
        self._add(session.entries, header)

    @property
    def more(self) -> bool:
        """Tell whether there may be older prompts."""
        return bool(self._rests) and self._room > 0

    def read_more(self) -> None:
        """Read the next prompts, perhaps none of those that there may be; blocks."""
        wanted = len(self.prompts) + PAGE
        for _ in range(MOST_READS):
            if not self.more or len(self.prompts) >= wanted:
                break
            rest = self._rests.pop()
            if rest.session_id:
                self._read_session(rest)
            else:
                self._read_list(rest)
            self._settle()

    def _read_list(self, rest: _Rest) -> None:
        count = min(max(PAGE, len(self._listed)), MOST_LISTED)
        try:
            listing = self._reader.list(rest.wanted, rest.cursor, count)
        except StorageError:
            # Of a server that is away no session can be read either.
            self._rests.clear()
            return
        for entry in listing.entries:
            if entry.id not in self._listed:
                self._listed.add(entry.id)
                self._leave(_Rest(entry.last_used_at, entry.id))
        if listing.cursor is not None and listing.entries:
            rest.at, rest.cursor = listing.entries[-1].last_used_at, listing.cursor
            self._leave(rest)

    def _read_session(self, rest: _Rest) -> None:
        journal = self._reader.journal(rest.session_id)
        try:
            if rest.header is None or rest.cursor is None:
                tail = journal.tail(PAGE)
                rest.header = tail.session.header
                entries, rest.cursor = tail.session.entries, tail.cursor
            else:
                page = journal.page(rest.cursor, PAGE)
                entries, rest.cursor = page.entries, page.cursor
        except StorageError:
            # A session that is gone, new or damaged hides no other one.
            return
        self._add(entries, rest.header)
        if rest.cursor is not None:
            times = (each.timestamp for each in entries if isinstance(each, Message))
            rest.at = min(rest.at, *times, _LATEST)
            self._leave(rest)

    def _leave(self, rest: _Rest) -> None:
        insort(self._rests, rest, key=attrgetter("at"))

    def _add(self, entries: Iterable[Entry], header: SessionHeader) -> None:
        for each in entries:
            if not isinstance(each, Message) or each.role != "user" or each.id in self._seen:
                continue
            self._seen.add(each.id)
            if each.typed_text.strip():
                self._found.append((each.timestamp, each.typed_text))
                self.own_words |= references_of(header, each)
        # By time alone: of one time they are in the order of the conversation.
        self._found.sort(key=itemgetter(0))

    def _settle(self) -> None:
        """Give out what is no older than anything that was not read."""
        until = self._rests[-1].at if self._rests else ""
        place = bisect_left(self._found, until, key=itemgetter(0))
        ready = [text for _, text in reversed(self._found[place:])]
        del self._found[place:]
        self.prompts += ready
        self._room -= sum(map(len, ready))
