"""Time and tokens of answers: shown while the program runs, never stored."""

from collections.abc import Callable
from datetime import datetime

from tui.app.chat_view import ChatView
from tui.domain.views.usage import AnswerCost, ContextUse, SessionCost, Usage
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
        self._context_use: dict[str, ContextUse] = {}
        self._costs: dict[str, SessionCost] = {}

    def begin(self, session: LoadedSession, message_id: str) -> None:
        """Begin to time an answer."""
        self._begun[session] = message_id, self._stopwatch()

    def count(self, session: LoadedSession, usage: Usage) -> None:
        """Add the tokens of a complete answer."""
        self._counted[session] = usage
        before = self._costs.get(session.id) or SessionCost(self._clock())
        self._costs[session.id] = before.plus(usage)

    def end(self, session: LoadedSession) -> None:
        """Show time and tokens of the answer that has ended, if there was one."""
        begun = self._begun.pop(session, None)
        usage = self._counted.pop(session, None)
        if begun is None:
            return
        message_id, at = begun
        self._chat.transcript.show_cost(message_id, AnswerCost(self._stopwatch() - at, usage))
        if usage and session.model:
            tokens, window = usage.sent + usage.received, session.model.context_window
            use = ContextUse(session.status(), tokens, window)
            self._context_use[session.id] = use
            self._chat.status_bar.show_context_use(use)

    def context_use(self, session: LoadedSession) -> ContextUse | None:
        """Return the use of the model's context window, if known."""
        known = self._context_use.get(session.id)
        return known if known and known.holds_for(session.status()) else None

    def cost(self, session_id: str) -> SessionCost | None:
        """Return the total of a session's answers in this run."""
        return self._costs.get(session_id)
