"""Following the session on screen while another program writes to it.

Once a second it is asked whether the session has changed, and who holds it: a look at one file's
status and one lock. Only a change is read: the end of the journal, and back from there until it
joins on to what is at hand.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import VERSION
from tui.domain.journal.session import Entry, Holder, Stamp, Tail
from tui.domain.views.notice import Notice
from tui.engine.model_requests import answered
from tui.engine.sessions.loaded_pages import PAGE
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import WINDOW
from tui.engine.sessions.open_sessions import read_only_words
from tui.engine.sessions.workspace import Workspace
from tui.errors import SessionBusy, SessionNotFound, StorageError, UsageError
from tui.storage.journal import Journal

_MOST_PAGES = 20
"""So far is read back to join on; beyond that it is shown from its end."""


End = tuple[Tail, tuple[Entry, ...]]
"""The end of a session, and the entries of pages before it."""


class Change(msgspec.Struct, frozen=True):
    """A change of a followed session: the entries before, and those after.

    ``arriving`` are the answers that are being made, ``ended`` those that were.
    """

    before: tuple[Entry, ...]
    after: tuple[Entry, ...]
    arriving: frozenset[str]
    ended: frozenset[str]
    joined: bool

    @property
    def news(self) -> list[Entry]:
        """The entries that are new or have changed, in order."""
        messages = [each for each in self.before if isinstance(each, Message)]
        known = {each.id: each for each in messages if each.id not in self.ended}
        marks = [each for each in self.before if not isinstance(each, Message)]
        return [
            each
            for each in self.after
            if (known.get(each.id) != each if isinstance(each, Message) else each not in marks)
        ]


class Follower:
    """Looks what others have done with the session on screen, if it is not held here."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._store = workspace.reader

    async def look(self) -> Change | None:
        """Take in what others have written, and who holds it; ``None`` if nothing has changed.

        Raises ``StorageError`` if it cannot be read.
        """
        loaded = self._workspace.current
        if loaded.opened is not None:
            return None
        stamp, holder = await asyncio.to_thread(self._glance, loaded.id)
        held = holder is not None
        if stamp == loaded.access.stamp and held == loaded.access.held_elsewhere:
            return None
        end = await self._read(loaded, stamp, held=held) if stamp else None
        before = loaded.entries
        arriving = loaded.session.arriving
        take_in = partial(_take_in, loaded, stamp, holder, end)
        if not await self._workspace.follow(loaded, take_in):
            return None
        joined = not before or (before[0] in loaded.entries and not _left(before, loaded.entries))
        if not held and loaded.access.asked_for and not loaded.access.read_only:
            # What the other program left unfinished is kept. If another one was quicker, or too
            # many are open, the next change is the next try.
            with suppress(StorageError, UsageError):
                await self._workspace.take(loaded)
                await self._workspace.pool.try_save(loaded)
        return Change(
            before,
            loaded.entries,
            loaded.session.arriving,
            arriving - loaded.session.arriving,
            joined,
        )

    def _glance(self, session_id: str) -> tuple[Stamp | None, Holder | None]:
        """See what can be seen of a session without reading it; no stamp if it has gone."""
        try:
            return self._store.stamp(session_id), self._store.holder(session_id)
        except SessionNotFound:
            return None, None

    async def _read(self, loaded: LoadedSession, stamp: Stamp, *, held: bool) -> End:
        known = {each.id for each in loaded.entries if isinstance(each, Message)}
        if not stamp.goes_on_from(loaded.access.stamp):
            known = set[str]()
        tail, pages = await asyncio.to_thread(read_on, self._store.journal(loaded.id), known)
        return (tail if held else Tail(answered(tail.session), tail.cursor)), pages


def read_on(journal: Journal, known: set[str]) -> End:
    """Read the end, and back from there to a message that is known.

    Raises what ``Journal.tail`` and ``page`` raise.
    """
    tail = journal.tail(WINDOW)
    pages, read, cursor = tuple[Entry, ...](), tail.session.entries, tail.cursor
    for _ in range(_MOST_PAGES if known else 0):
        if cursor is None or any(isinstance(each, Message) and each.id in known for each in read):
            break
        page = journal.page(cursor, PAGE)
        read, cursor = page.entries, page.cursor
        pages = (*read, *pages)
    return Tail(tail.session, cursor), pages


def _left(before: Sequence[Entry], after: Sequence[Entry]) -> bool:
    """Tell whether another version is live: messages have left that no other one replaces."""
    messages = [each for each in after if isinstance(each, Message)]
    stayed = {each.id for each in messages} | {each.replaces for each in messages}
    return any(isinstance(each, Message) and each.id not in stayed for each in before)


def _take_in(
    loaded: LoadedSession, stamp: Stamp | None, holder: Holder | None, end: End | None
) -> None:
    seen_before, was_held = loaded.access.stamp, loaded.access.held_elsewhere
    if stamp is not None and end is not None:
        loaded.follow(*end, anew=not stamp.goes_on_from(seen_before))
    where = stamp.where if stamp else "gone"
    loaded.access.stamp, loaded.access.archived = stamp, where == "archived"
    moved = where != (seen_before.where if seen_before else "gone")
    if moved:
        loaded.say(Notice(_MOVED[where], "warning"))
    loaded.access.held_elsewhere = holder is not None
    if where not in ("closed", "archived"):
        loaded.access.read_only = "Read-only: deleted"
    elif holder is not None:
        loaded.access.read_only = read_only_words(SessionBusy(loaded.id, str(holder)))
    elif (was_held or moved) and loaded.session.header.version <= VERSION:
        if loaded.access.read_only and was_held:
            loaded.say(Notice("The other window is gone; you can write here"))
        loaded.access.read_only = ""


_MOVED = {
    "closed": "Another window restored this session",
    "archived": "Another window archived this session; it can still be read",
    "trashed": "Another window moved this session to the trash",
    "gone": "Another window deleted this session for good; only what is shown here is left",
}
