"""The part of the chat screen that controllers see, so that tests can take its place."""

from typing import Protocol

from tui.domain.views.notice import Shown
from tui.domain.views.usage import AnswerCost, ContextUse


class TranscriptView(Protocol):
    """Entries of the session on screen, and details of answers."""

    def put(self, entry: Shown) -> None:
        """Add an entry at the end, or replace the message with the same id."""
        ...

    def show_cost(self, message_id: str, cost: AnswerCost) -> None:
        """Add time and tokens to the details of an answer."""
        ...

    def show_wait(self, message_id: str, seconds: int) -> None:
        """Show for how many seconds the first word of an answer has been awaited."""
        ...


class StatusView(Protocol):
    """The use of the context window in the status bar."""

    def show_context_use(self, use: ContextUse) -> None:
        """Show the use of a session's context window."""
        ...


class ChatView(Protocol):
    """Values on the chat screen."""

    @property
    def transcript(self) -> TranscriptView:
        """The messages."""
        ...

    @property
    def status_bar(self) -> StatusView:
        """The last line."""
        ...
