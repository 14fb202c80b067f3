"""Time and tokens of answers: shown while the program runs, never stored."""

from collections.abc import Callable
from datetime import datetime

from tui.app.chat_view import ChatView
from tui.domain.views.usage import Effort, Filled, Spent, Usage
from tui.engine.sessions.loaded_session import LoadedSession


class UsageMeter:
    """Times answers and counts their tokens; ``stopwatch`` counts seconds."""

    def __init__(
        self, chat: ChatView, clock: Callable[[], datetime], stopwatch: Callable[[], float]
    ) -> None:
        self._chat = chat
        self._clock = clock
        self._stopwatch = stopwatch
        self._begun: dict[LoadedSession, tuple[str, float]] = {}
        self._counted: dict[LoadedSession, Usage] = {}
        self._filled: dict[str, Filled] = {}
        self._spent: dict[str, Spent] = {}

    def begin(self, session: LoadedSession, message_id: str) -> None:
        """Begin to time an answer."""
        self._begun[session] = message_id, self._stopwatch()

    def count(self, session: LoadedSession, usage: Usage) -> None:
        """Add the tokens of a complete answer."""
        self._counted[session] = usage
        before = self._spent.get(session.id) or Spent(self._clock())
        self._spent[session.id] = before.plus(usage)

    def end(self, session: LoadedSession) -> None:
        """Show time and tokens of the answer that has ended, if there was one."""
        begun = self._begun.pop(session, None)
        usage = self._counted.pop(session, None)
        if begun is None:
            return
        message_id, at = begun
        self._chat.transcript.show_effort(message_id, Effort(self._stopwatch() - at, usage))
        if usage and session.model:
            tokens, window = usage.sent + usage.received, session.model.context_window
            filled = Filled(session.status(), tokens, window)
            self._filled[session.id] = filled
            self._chat.status_bar.show_filled(filled)

    def filled(self, session: LoadedSession) -> Filled | None:
        """Return the use of the model's context window, if known."""
        known = self._filled.get(session.id)
        return known if known and known.holds_for(session.status()) else None

    def spent(self, session_id: str) -> Spent | None:
        """Return the total of a session's answers in this run."""
        return self._spent.get(session_id)
