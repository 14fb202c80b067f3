"""Going from session to session by keys."""

import time
from collections.abc import Callable, Sequence

from tui.domain.views.sidebar_rows import SessionRow, neighbour

_SECONDS = 3.0
"""For so long after a step the next one belongs to it."""
_NEAR_END = 20


class SessionSteps:
    """Steps through the rows of a list that changes by them: a session that is left may move down.

    While one step follows the other, the order is that of the first, so that the way back is the
    way there. ``aim`` is the session that was wanted last and is not on screen yet;
    ``led_nowhere`` says that the last step had nowhere to go.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.aim: str | None = None
        self.led_nowhere = False
        self._clock = clock
        self._order: list[str] = []
        self._here: str | None = None
        self._until = 0.0

    def step(self, rows: Sequence[SessionRow], shown: str, step: int) -> str | None:
        """Where a step leads from what was aimed at, or is shown; ``None`` without any rows."""
        here = self.aim or shown
        if here != self._here or self._clock() > self._until:
            self._order = []
        rows = self._ordered(rows)
        self._order = [row.id for row in rows]
        self._here = neighbour(rows, here, step)
        self.led_nowhere = self._here in (None, here)
        self._until = self._clock() + _SECONDS
        return self._here

    def nears_end(self) -> bool:
        """Whether it is time to read what comes after the last row."""
        return self._here in self._order[-_NEAR_END:]

    def _ordered(self, rows: Sequence[SessionRow]) -> Sequence[SessionRow]:
        known = {session_id: place for place, session_id in enumerate(self._order)}
        # What is new stands behind, in its own order.
        return sorted(rows, key=lambda row: known.get(row.id, len(known)))


def words_at_end(sessions: int, step: int) -> str:
    """Why a step led nowhere, in a list of so many."""
    if sessions <= 1:
        return "There is no other session in the list."
    return f"This is the {'last' if step > 0 else 'first'} session of the list."


def why_not(rows: Sequence[SessionRow], place: int, here: str) -> str:
    """Why the session at a place of the list is not gone to; empty if it is."""
    if place >= len(rows):
        return f"There is no session {place + 1} in the list."
    return f"Session {place + 1} is on screen." if rows[place].id == here else ""
