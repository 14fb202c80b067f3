"""Switches sessions by keys, such as Alt+Down, without the focus going to the sidebar."""

import time
from collections.abc import Callable, Sequence

import msgspec

from tui.domain.views.sidebar_rows import SessionRow, neighbour
from tui.widgets.intents import hint
from tui.widgets.prompt import Prompt
from tui.widgets.sidebar import Sidebar
from tui.widgets.sidebar.messages import MoreWanted, SessionSelected

_SECONDS = 3.0
"""A step within this time after another continues it."""
_NEAR_END = 20
_STEPS = {"session-next": 1, "session-previous": -1}


class SessionSteps(msgspec.Struct, eq=False):
    """Steps through the rows of the sidebar.

    A step reorders the list, as the session that is left may move down. Successive steps therefore
    use the order of the first one, so that Alt+Up undoes Alt+Down. ``aim`` is the session selected
    last, if it is not on screen yet; ``led_nowhere`` is true if the last step was at the end.
    """

    _clock: Callable[[], float] = time.monotonic
    aim: str | None = None
    led_nowhere: bool = False
    _order: Sequence[str] = ()
    _here: str | None = None
    _until: float = 0.0

    def step(self, rows: Sequence[SessionRow], shown: str, step: int) -> str | None:
        """Step from ``aim``, else from ``shown``, to a session; ``None`` without rows."""
        here = self.aim or shown
        if here != self._here or self._clock() > self._until:
            self._order = ()
        known = {session_id: place for place, session_id in enumerate(self._order)}
        # New rows come last, in their own order.
        rows = sorted(rows, key=lambda row: known.get(row.id, len(known)))
        self._order = [row.id for row in rows]
        self._here = neighbour(rows, here, step)
        self.led_nowhere = self._here in (None, here)
        self._until = self._clock() + _SECONDS
        return self._here

    def nears_end(self) -> bool:
        """True if the next page of rows should be loaded."""
        return self._here in self._order[-_NEAR_END:]


class SessionWalk(msgspec.Struct, eq=False):
    """Selects the session above or below, or one of the first rows of the list.

    ``shown`` is the session on screen.
    """

    _sidebar: Sidebar
    _prompt: Prompt
    _steps: SessionSteps = msgspec.field(default_factory=SessionSteps)
    shown: str = ""

    @property
    def ways(self) -> frozenset[str]:
        """The ids of the keys that lead to another session."""
        rows = self._sidebar.shown
        found = {key: neighbour(rows, self.shown, step) for key, step in _STEPS.items()}
        return frozenset(key for key, row in found.items() if row not in (None, self.shown))

    def arrive(self, session_id: str) -> None:
        """Note the session on screen."""
        self.shown = session_id
        self._sidebar.highlight(session_id)
        if self._steps.aim == session_id:
            self._steps.aim = None

    def stay(self) -> None:
        """Give up the session that was selected: it could not be shown."""
        self._steps.aim = None
        self._sidebar.highlight(self.shown)

    def step(self, step: int) -> None:
        """Select the session above or below the one that was selected last."""
        self._select(self._steps.step(self._sidebar.shown, self.shown, step))
        if self._sidebar.has_more and self._steps.nears_end():
            # A hidden sidebar does not notice that its end is near.
            self._sidebar.post_message(MoreWanted())
        elif self._steps.led_nowhere:
            which = "last" if step > 0 else "first"
            alone = len(self._sidebar.shown) <= 1
            words = f"This is the {which} session of the list."
            hint(self._sidebar, "There is no other session in the list" if alone else words)

    def go_to_row(self, place: int) -> None:
        """Select one of the first sessions of the list."""
        rows = self._sidebar.shown
        if place >= len(rows):
            hint(self._sidebar, f"There is no session {place + 1} in the list.")
            return
        if rows[place].id == (self._steps.aim or self.shown):
            hint(self._sidebar, f"Session {place + 1} is already on screen.")
        self._select(rows[place].id)

    def _select(self, session_id: str | None) -> None:
        self._steps.aim = session_id
        if session_id is not None:
            # In the order of typed keys: a binding that works everywhere would overtake them.
            selected = SessionSelected(session_id)
            self._prompt.editor.call_later(lambda: self._prompt.post_message(selected))
