"""The activity line: progress of the answer on screen, painted a few times a second."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import App

from tui.app.chat_view import ChatView
from tui.engine.sessions.activity import Activity
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import Switcher
from tui.engine.turns.events import (
    AnswerStarted,
    AttemptRepeated,
    TextAdded,
    ThinkingAdded,
    ToolReturned,
    ToolServersAwaited,
    ToolStarted,
    TurnEvent,
)

if TYPE_CHECKING:
    from textual.timer import Timer

_TICK_SECONDS = 0.25
_STILL_TICK_SECONDS = 1.0
"""Without motion only the seconds change."""


class ActivityLine:
    """Tracks the progress of answers, and shows it for the session on screen.

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
        self.stopwatch = stopwatch
        self._timer: Timer | None = None

    def begin(self, session: LoadedSession) -> None:
        """Begin an answer of the session's model."""
        model = session.model.name if session.model else ""
        session.activity.begin_answer(model.partition(":")[2] or model, self.stopwatch())

    def begin_reading(self, session: LoadedSession) -> None:
        """Begin an answer with the files of its prompt."""
        self.begin(session)
        session.activity.enter("reading", self.stopwatch())

    def end_reading(self, session: LoadedSession) -> None:
        session.activity.enter("saving", self.stopwatch())

    def begin_summary(self, session: LoadedSession) -> None:
        session.activity.begin_summary(self.stopwatch())

    def note(self, session: LoadedSession, event: TurnEvent) -> None:
        """Update the progress of an answer from an event.

        A new phase is shown at once, everything else with the next tick.
        """
        before = session.activity.phase
        self._note(session.activity, event)
        if session.activity.phase != before and session is self._switcher.current:
            self.show()

    def _note(self, activity: Activity, event: TurnEvent) -> None:
        now = self.stopwatch()
        match event:
            case TextAdded(text=text):
                activity.receive("answering", text, now)
            case ThinkingAdded(text=text):
                activity.receive("thinking", text, now)
            case AnswerStarted():
                activity.enter("waiting", now)
            case AttemptRepeated():
                activity.repeat(event.attempt, event.reason, now + event.seconds, now)
            case ToolServersAwaited(names=names):
                activity.enter("starting", now, ", ".join(names))
            case ToolStarted(title=title):
                activity.enter("tool", now, title)
            case ToolReturned():
                activity.enter("saving", now)
            case _:
                pass

    def show(self) -> None:
        """Paint the line, and keep the timer while there is something to show."""
        now = self.stopwatch()
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
