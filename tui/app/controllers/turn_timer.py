"""The seconds that answers take, shown once a second."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import App

from tui.app.chat_view import ChatView
from tui.app.controllers.session_view import SessionPresenter
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import Switcher

if TYPE_CHECKING:
    from textual.timer import Timer

_TICK_SECONDS = 1.0


class TurnTimer:
    """Counts the seconds of all running answers, and shows those of the one on screen.

    A model may think for minutes before its first word; the moving seconds tell it from a program
    that hangs.
    """

    def __init__(
        self,
        app: App[None],
        chat: ChatView,
        presenter: SessionPresenter,
        switcher: Switcher,
        stopwatch: Callable[[], float],
    ) -> None:
        self._app = app
        self._chat = chat
        self._presenter = presenter
        self._switcher = switcher
        self._stopwatch = stopwatch
        self._begun: dict[LoadedSession, float] = {}
        self._timer: Timer | None = None

    def begin(self, session: LoadedSession) -> None:
        """Start counting for a session."""
        session.activity.count_seconds(0)
        self._begun[session] = self._stopwatch()
        if self._timer is None:
            self._timer = self._app.set_interval(_TICK_SECONDS, self._tick)

    def end(self, session: LoadedSession) -> None:
        """Stop counting for a session."""
        self._begun.pop(session, None)
        if not self._begun and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _tick(self) -> None:
        now = self._stopwatch()
        for session, begun in self._begun.items():
            session.activity.count_seconds(int(now - begun))
        current = self._switcher.current
        if current not in self._begun or current.opened is None:
            return
        self._presenter.show_status()
        if arriving := current.opened.arriving:
            self._chat.transcript.show_wait(arriving, current.activity.answering_for)
