"""Time and price of answers: shown while the program runs, never stored."""

from collections.abc import Callable

from tui.app.chat_view import ChatView
from tui.domain.views.usage import AnswerCost
from tui.engine.sessions.loaded_session import LoadedSession


class UsageMeter:
    """Times the running answers; ``stopwatch`` counts seconds."""

    def __init__(self, chat: ChatView, stopwatch: Callable[[], float]) -> None:
        self._chat = chat
        self._stopwatch = stopwatch
        self._begun: dict[LoadedSession, tuple[str, float]] = {}
        self._priced: dict[LoadedSession, float | None] = {}

    def begin(self, session: LoadedSession, message_id: str) -> None:
        """Begin to time an answer."""
        self._begun[session] = message_id, self._stopwatch()

    def price(self, session: LoadedSession, dollars: float | None) -> None:
        """Note the price of an answer; the last one counts."""
        self._priced[session] = dollars

    def end(self, session: LoadedSession) -> None:
        """Show time and price of the answer that has ended, if there was one."""
        begun = self._begun.pop(session, None)
        dollars = self._priced.pop(session, None)
        if begun is not None:
            message_id, at = begun
            cost = AnswerCost(self._stopwatch() - at, dollars)
            self._chat.transcript.show_cost(message_id, cost)
