"""Finding in the session on screen: the search in the background, and what comes of it."""

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tui.app.controllers.controller import Controller
from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry, Surroundings
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import StorageError

if TYPE_CHECKING:
    from textual.timer import Timer

    # Only who looks for something needs them.
    from tui.domain.search.find import Match, Matches, Needle, ReadingPosition
    from tui.engine.library.conversation import RecentCounts

RECOUNT_SECONDS = 0.3
"""The interval at which matches at the end are counted again: answers grow."""

_AROUND = 50
_SHOWN_SECONDS = 0.1
_WORKER = "find"


class _Search(msgspec.Struct, eq=False):
    """One search: its session, its text, and the matches so far.

    ``first`` is the message that the end of the session begins with, once that was counted.
    ``placed`` says that the reader was taken to a match; ``steps`` are those he still wants.
    """

    session: LoadedSession
    needle: "Needle"
    recent: "RecentCounts"
    matches: "Matches"
    first: str | None = None
    placed: bool = False
    steps: int = 0
    aside: str = ""


class FindController(Controller):
    """Looks for what is typed into the find line; the latest search is the only one."""

    _search: _Search | None = None
    _origin: str | None = None
    _timer: "Timer | None" = None
    _shown_at: float = 0.0

    def look_for(self, text: str) -> None:
        """Look for a text from where the reader was; for nothing if it is empty."""
        from tui.domain.search.find import ReadingPosition, needle

        wanted, finder = needle(text), self._chat.transcript.finder
        finder.look_for(wanted)
        if wanted is None:
            self._pause()
            return
        if self._timer is None:
            self._timer = self._app.set_interval(RECOUNT_SECONDS, self._recount)
        search = self._search
        if search and search.session is self._workspace.current and search.needle == wanted:
            self._recount()
            return
        reading = finder.reading()
        # As more is typed it begins where it began, not where that has led to.
        self._origin = self._origin or reading.message_id
        moved = reading.message_id != self._origin
        self._begin(wanted, ReadingPosition(self._origin) if moved else reading)

    def step(self, count: int) -> None:
        """Go to the next match, or to the one before."""
        search = self._search
        if search is None or self._timer is None:
            return
        current, finder = search.matches.current, self._chat.transcript.finder
        if current and finder.has(current.message_id) and current not in finder.in_sight():
            # The reader has gone elsewhere: from there.
            search = self._begin(search.needle, finder.reading())
            search.placed = True
        search.steps += count
        self._go_on(search)

    # --- the search

    def _begin(self, needle: "Needle", reading: "ReadingPosition") -> _Search:
        from tui.domain.search.find import Matches
        from tui.engine.library.conversation import RecentCounts

        search = _Search(self._workspace.current, needle, RecentCounts(needle), Matches(reading))
        self._search = search
        self._app.run_worker(
            partial(self._run, search, reading.message_id),
            name="find",
            group=_WORKER,
            exclusive=True,
        )
        return search

    async def _run(self, search: _Search, reader: str | None) -> None:
        from tui.engine.library.conversation import find_earlier

        entries, cursor = search.session.latest, search.session.cursor
        stretch = await asyncio.to_thread(search.recent.of, entries, reader)
        search.matches.begin(stretch.found, stretch.below)
        search.first = _first(entries)
        self._go_on(search)
        journal = self._workspace.reader.journal(search.session.id)
        try:
            async for stretch in find_earlier(journal, cursor, search.needle, reader):
                search.matches.take(stretch.found, stretch.below)
                self._go_on(search)
        except StorageError as error:
            self._presenter.say(str(error), "error")
        search.matches.end()
        self._go_on(search)

    def _go_on(self, search: _Search) -> None:
        """Go where the reader wants to be, as far as that is known by now, and say where he is."""
        if search is not self._search:
            return
        matches = search.matches
        if not search.placed and (match := matches.go_to_nearest()):
            search.placed = True
            self._show(search, match, unfold=False)
        while search.placed and search.steps:
            step = 1 if search.steps > 0 else -1
            found = matches.step(step)
            if found is None:
                break
            search.steps -= step
            match, round_the_end = found
            self._origin = match.message_id
            search.aside = _ROUND[step] if round_the_end else ""
            self._show(search, match, unfold=True)
        if matches.whole and not matches.total:
            search.steps = 0
        now = time.monotonic()
        if matches.whole or now - self._shown_at >= _SHOWN_SECONDS:
            self._shown_at = now
            self._chat.find_line.show_count(_words(matches, search.aside))

    def _show(self, search: _Search, match: "Match", *, unfold: bool) -> None:
        if not self._chat.transcript.finder.show(match, unfold=unfold):
            self._app.run_worker(
                partial(self._bring, search, match, unfold=unfold),
                name="go to the match",
                group="bring",
                exclusive=True,
            )

    async def _bring(self, search: _Search, match: "Match", *, unfold: bool) -> None:
        """Load a match if needed, and go there unless the reader has moved meanwhile."""
        session = search.session
        around: Surroundings | None = None
        try:
            if not session.pages.has(match.message_id):
                journal = self._workspace.reader.journal(session.id)
                place = match.message_id
                around = await asyncio.to_thread(journal.around, place, _AROUND, _AROUND)
        except StorageError as error:
            self._presenter.say(str(error), "error")
            return
        if search is not self._search or search.matches.current != match or not self._timer:
            return
        if around is None:
            self._presenter.show_end()
        else:
            session.pages.show(match.message_id, around)
            self._presenter.show_session()
        self._chat.transcript.finder.show(match, unfold=unfold)

    # --- while the line is there

    def _pause(self) -> None:
        """Nothing is looked for now; what was found counts again if the same is."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if not self._chat.find_line.display:
            self._origin = None
        if self._search and not self._search.matches.whole:
            self._app.workers.cancel_group(self._app, _WORKER)  # pyright: ignore[reportUnknownMemberType]
            self._search = None
        self._chat.find_line.show_count("")

    def _recount(self) -> None:
        """Count what has come since, and what has become of the end of the session."""
        search = self._search
        if search is None or search.first is None:
            return
        entries = search.session.latest
        if _first(entries) != search.first:
            # It was opened since, and others had written to it: another end than the one known.
            placed = self._begin(search.needle, self._chat.transcript.finder.reading())
            placed.placed = True
            return
        search.matches.renew(search.recent.of(entries).found)
        self._go_on(search)


_ROUND = {1: "from the top", -1: "from the end"}


def _words(matches: "Matches", aside: str) -> str:
    if not matches.whole:
        return f"searching, {matches.total} so far"
    if not matches.total:
        return "no match"
    place = f"{matches.position or '-'} / {matches.total}"
    return f"{aside}: {place}" if aside else place


def _first(entries: tuple[Entry, ...]) -> str:
    ids = (entry.id for entry in entries if isinstance(entry, Message))
    return next(ids, "")
