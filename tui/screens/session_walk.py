"""Switches sessions by keys, such as Alt+Down, without the focus going to the sidebar."""

import time
from collections.abc import Callable, Sequence

import msgspec

from tui.domain.views.session_rows import neighbour
from tui.widgets.intents import MoreWanted, SessionSelected, hint
from tui.widgets.prompt import Prompt
from tui.widgets.sidebar import Sidebar

_SECONDS = 3.0
"""A step within this time after another continues it."""
_NEAR_END = 20
_STEPS = {"session-next": 1, "session-previous": -1}


class SessionWalk(msgspec.Struct, eq=False):
    """Selects the session above or below, or one of the first rows of the list.

    A step reorders the list, as the session that is left may move down. Successive steps therefore
    use the order of the first one, so that Alt+Up undoes Alt+Down. ``shown`` is the session on
    screen, ``aim`` the one selected last, if it is not on screen yet.
    """

    _sidebar: Sidebar
    _prompt: Prompt
    _clock: Callable[[], float] = time.monotonic
    shown: str = ""
    aim: str | None = None
    _order: Sequence[str] = ()
    _here: str | None = None
    _until: float = 0.0

    @property
    def ways(self) -> frozenset[str]:
        """The ids of the keys that lead to another session."""
        rows = self._sidebar.rows.shown
        found = {key: neighbour(rows, self.shown, step) for key, step in _STEPS.items()}
        return frozenset(key for key, row in found.items() if row not in (None, self.shown))

    def arrive(self, session_id: str) -> None:
        """Note the session on screen."""
        self.shown = session_id
        self._sidebar.rows.highlight(session_id)
        if self.aim == session_id:
            self.aim = None

    def stay(self) -> None:
        """Give up the session that was selected: it could not be shown."""
        self.aim = None
        self._sidebar.rows.highlight(self.shown)

    def step(self, step: int) -> None:
        """Select the session above or below the one that was selected last."""
        here = self.aim or self.shown
        if here != self._here or self._clock() > self._until:
            self._order = ()
        known = {session_id: place for place, session_id in enumerate(self._order)}
        # New rows come last, in their own order.
        rows = sorted(self._sidebar.rows.shown, key=lambda row: known.get(row.id, len(known)))
        self._order = [row.id for row in rows]
        self._here = neighbour(rows, here, step)
        self._until = self._clock() + _SECONDS
        self._select(self._here)
        loaded = self._sidebar.rows.loaded
        if loaded and loaded.more and self._here in self._order[-_NEAR_END:]:
            # A hidden sidebar does not notice that its end is near.
            self._sidebar.post_message(MoreWanted())
        elif self._here in (None, here):
            which = "last" if step > 0 else "first"
            alone = len(rows) <= 1
            words = f"This is the {which} session of the list."
            hint(self._sidebar, "There is no other session in the list" if alone else words)

    def go_to_row(self, place: int) -> None:
        """Select one of the first sessions of the list."""
        rows = self._sidebar.rows.shown
        if place >= len(rows):
            hint(self._sidebar, f"There is no session {place + 1} in the list.")
            return
        if rows[place].id == (self.aim or self.shown):
            hint(self._sidebar, f"Session {place + 1} is already on screen.")
        self._select(rows[place].id)

    def _select(self, session_id: str | None) -> None:
        self.aim = session_id
        if session_id is not None:
            # In the order of typed keys: a binding that works everywhere would overtake them.
            selected = SessionSelected(session_id)
            self._prompt.editor.call_later(lambda: self._prompt.post_message(selected))
