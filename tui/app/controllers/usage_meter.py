"""What answers take: timed, counted and shown while the program runs, and never kept."""

from collections.abc import Callable
from datetime import datetime

from tui.domain.views.usage import Effort, Filled, Spent, Usage
from tui.engine.sessions.loaded_session import LoadedSession
from tui.screens.chat import ChatScreen


class UsageMeter:
    """Times answers and counts their tokens; ``stopwatch`` counts seconds."""

    def __init__(
        self, chat: ChatScreen, clock: Callable[[], datetime], stopwatch: Callable[[], float]
    ) -> None:
        self._chat = chat
        self._clock = clock
        self._stopwatch = stopwatch
        self._begun: dict[LoadedSession, tuple[str, float]] = {}
        self._counted: dict[LoadedSession, Usage] = {}
        self._filled: dict[str, Filled] = {}
        self._spent: dict[str, Spent] = {}

    def begin(self, conversation: LoadedSession, message_id: str) -> None:
        """Begin to time an answer."""
        self._begun[conversation] = message_id, self._stopwatch()

    def count(self, conversation: LoadedSession, usage: Usage) -> None:
        """Add the tokens of an answer that has all come."""
        self._counted[conversation] = usage
        before = self._spent.get(conversation.id) or Spent(self._clock())
        self._spent[conversation.id] = before.plus(usage)

    def end(self, conversation: LoadedSession) -> None:
        """Nothing more comes of an answer, if there was one."""
        begun = self._begun.pop(conversation, None)
        usage = self._counted.pop(conversation, None)
        if begun is None:
            return
        message_id, at = begun
        self._chat.transcript.show_effort(message_id, Effort(self._stopwatch() - at, usage))
        if usage and conversation.model:
            tokens, window = usage.sent + usage.received, conversation.model.context_window
            filled = Filled(conversation.status(), tokens, window)
            self._filled[conversation.id] = filled
            self._chat.status_bar.show_filled(filled)

    def filled(self, conversation: LoadedSession) -> Filled | None:
        """How full the model's window is, if that is known."""
        known = self._filled.get(conversation.id)
        return known if known and known.holds_for(conversation.status()) else None

    def spent(self, session_id: str) -> Spent | None:
        """What the answers took that were made here since the program was started."""
        return self._spent.get(session_id)
