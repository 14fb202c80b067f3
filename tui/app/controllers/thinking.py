"""Shows the thinking of models in the conversation; it is kept nowhere else."""

from collections.abc import Callable

from tui.app.chat_view import ChatView
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.turns.events import ThinkingAdded, TurnEvent


class Thinking:
    """Shows thinking while it arrives; anything else that happens in the answer ends it."""

    def __init__(self, chat: ChatView, stopwatch: Callable[[], float]) -> None:
        self._chat = chat
        self._stopwatch = stopwatch
        self._begun: dict[LoadedSession, tuple[str, float]] = {}

    def note(self, session: LoadedSession, event: TurnEvent) -> None:
        """Show what an event adds to the thinking in a session, or that it has ended."""
        if isinstance(event, ThinkingAdded):
            self._begun.setdefault(session, (event.message_id, self._stopwatch()))
            self._chat.transcript.add_thinking(event.message_id, event.text)
        else:
            self.end(session)

    def end(self, session: LoadedSession) -> None:
        """Show that the thinking in a session has ended, if there was some."""
        begun = self._begun.pop(session, None)
        if begun is not None:
            message_id, at = begun
            self._chat.transcript.end_thinking(message_id, self._stopwatch() - at)
