"""Thinking, time and price of answers: shown while the program runs, never stored."""

from collections.abc import Callable

from tui.app.chat_view import ChatView
from tui.domain.journal.message import Message
from tui.domain.views.usage import AnswerCost
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.turns.events import (
    AnswerStarted,
    MessageSaved,
    SaveFailed,
    ThinkingAdded,
    TurnEvent,
)


class AnswerTimes:
    """Times the running answers and the thinking before them; ``stopwatch`` counts seconds.

    ``look_up`` finds the price of a saved answer that took so many seconds, and shows both.
    """

    def __init__(
        self,
        chat: ChatView,
        stopwatch: Callable[[], float],
        look_up: Callable[[Message, float], None],
    ) -> None:
        self._chat = chat
        self._stopwatch = stopwatch
        self._begun: dict[LoadedSession, tuple[str, float]] = {}
        self._thinking: dict[LoadedSession, tuple[str, float]] = {}
        self._look_up = look_up

    def note(self, session: LoadedSession, event: TurnEvent) -> None:
        """Show what an event says of thinking, time or price; any but thinking ends thinking."""
        if isinstance(event, ThinkingAdded):
            self._thinking.setdefault(session, (event.message_id, self._stopwatch()))
            self._chat.conversation.add_thinking(event.message_id, event.text)
            return
        self._end_thinking(session)
        match event:
            case AnswerStarted(message_id=message_id):
                self._begun[session] = message_id, self._stopwatch()
            case MessageSaved(message=Message(role="assistant") as answer):
                seconds = self._end_answer(session)
                if seconds is not None and answer.usage:
                    self._look_up(answer, seconds)
            case SaveFailed():
                self._end_answer(session)
            case _:
                pass

    def end(self, session: LoadedSession) -> None:
        """Show the times of the answer that has ended, if there was one."""
        self._end_thinking(session)
        self._end_answer(session)

    def _end_thinking(self, session: LoadedSession) -> None:
        begun = self._thinking.pop(session, None)
        if begun is not None:
            message_id, at = begun
            self._chat.conversation.end_thinking(message_id, self._stopwatch() - at)

    def _end_answer(self, session: LoadedSession) -> float | None:
        """Show the time of an answer that has ended, if there was one."""
        begun = self._begun.pop(session, None)
        if begun is None:
            return None
        message_id, at = begun
        seconds = self._stopwatch() - at
        self._chat.conversation.show_cost(message_id, AnswerCost(seconds))
        return seconds
