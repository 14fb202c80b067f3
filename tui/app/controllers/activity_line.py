"""The activity line: progress of the answer on screen, painted a few times a second."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import App

from tui.app.chat_view import ChatView
from tui.engine.sessions.switching import Switcher

if TYPE_CHECKING:
    from textual.timer import Timer

_TICK_SECONDS = 0.25
_STILL_TICK_SECONDS = 1.0
"""Without motion only the seconds change."""


class ActivityLine:
    """Shows the work in progress in the session on screen.

    A model may think for minutes before its first word; the moving line shows that the
    program does not hang. There is no timer while nothing is in progress.
    """

    def __init__(
        self,
        app: App[None],
        chat: ChatView,
        switcher: Switcher,
        stopwatch: Callable[[], float],
    ) -> None:
        self._app = app
        self._chat = chat
        self._switcher = switcher
        self._stopwatch = stopwatch
        self._timer: Timer | None = None

    def show(self) -> None:
        """Paint the line, and keep the timer while there is something to show."""
        now = self._stopwatch()
        view = self._switcher.current.activity.view(now)
        self._chat.show_activity(view)
        self._tick(moves=view is not None and view.moves)

    def _tick(self, *, moves: bool) -> None:
        if moves and self._timer is None:
            still = self._app.animation_level == "none"
            seconds = _STILL_TICK_SECONDS if still else _TICK_SECONDS
            self._timer = self._app.set_interval(seconds, self.show)
        elif not moves and self._timer is not None:
            self._timer.stop()
            self._timer = None
