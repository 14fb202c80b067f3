"""The part of the chat screen that controllers see, so that tests can take its place."""

from typing import Protocol

from tui.domain.views.usage import Effort, Filled


class TranscriptView(Protocol):
    """Details of answers in the transcript."""

    def show_effort(self, message_id: str, effort: Effort) -> None:
        """Add time and tokens to the details of an answer."""
        ...

    def show_wait(self, message_id: str, seconds: int) -> None:
        """Show for how many seconds the first word of an answer has been awaited."""
        ...


class StatusView(Protocol):
    """The use of the context window in the status bar."""

    def show_filled(self, filled: Filled) -> None:
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
