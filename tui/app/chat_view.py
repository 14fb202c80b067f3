"""The part of the chat screen that controllers see, so that tests can take its place."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tui.domain.file_names import FileListing
from tui.domain.journal.session import Entry
from tui.domain.references import NO_WORDS
from tui.domain.views.activity_view import ActivityView
from tui.domain.views.attached import AttachedView
from tui.domain.views.costs import AnswerCost
from tui.domain.views.shown_session import PromptQueue, SessionView
from tui.domain.views.sidebar_rows import SessionRows
from tui.widgets.prompt import Paste


class TranscriptView(Protocol):
    """Entries of the session on screen, and details of answers."""

    def put(self, entry: Entry) -> None:
        """Add an entry at the end, or replace the message with the same id."""
        ...

    def add_text(self, message_id: str, text: str, model: str | None = None) -> None:
        """Add to an answer that is arriving."""
        ...

    def add_thinking(self, message_id: str, text: str) -> None:
        """Add to the thinking before an answer."""
        ...

    def end_thinking(self, message_id: str, seconds: float) -> None:
        """Show that the thinking before an answer has ended."""
        ...

    def show_cost(self, message_id: str, cost: AnswerCost) -> None:
        """Add time and tokens to the details of an answer."""
        ...


class StatusView(Protocol):
    """The status bar."""

    def show_indexing(self, progress: str) -> None:
        """Show the progress of the search index; an empty text hides it."""
        ...


class PromptView(Protocol):
    """The text in the prompt."""

    @property
    def text(self) -> str:
        """The text in the prompt."""
        ...

    @property
    def draft(self) -> str:
        """The unsent draft."""
        ...

    def set_text(
        self, text: str, pastes: Sequence[str] = (), own: frozenset[str] = NO_WORDS
    ) -> None:
        """Show another draft; ``own`` are the references in it that are the user's own."""
        ...

    def replace_text(self, text: str, own: frozenset[str] = NO_WORDS) -> None:
        """Replace the user's text, who can undo it."""
        ...

    def show_attached(self, attached: AttachedView | None) -> None:
        """Show what the text will attach."""
        ...

    def insert_reference(self, reference: str) -> None:
        """Insert a reference at the caret."""
        ...

    def replace_paste(self, paste: Paste, text: str) -> None:
        """Put another text in the place of a paste."""
        ...

    def show_files(self, listing: FileListing) -> None:
        """Offer files for the reference that is being typed."""
        ...


class ChatView(Protocol):
    """Values on the chat screen."""

    @property
    def conversation(self) -> TranscriptView: ...

    def show_activity(self, activity: ActivityView | None) -> None:
        """Show the work in the session on screen."""
        ...

    @property
    def status_bar(self) -> StatusView: ...

    @property
    def prompt(self) -> PromptView: ...

    def show_rows(self, rows: SessionRows, now: datetime) -> None:
        """Show the list of sessions."""
        ...

    def show_session(self, view: SessionView) -> None:
        """Show a session from its end."""
        ...

    def show_changes(self, view: SessionView) -> None:
        """Show the changes of the session on screen."""
        ...

    def show_prompt(self, view: SessionView) -> None:
        """Show to-dos, approval and prompt history."""
        ...

    def show_queue(self, queue: PromptQueue) -> None:
        """Show the prompts that wait to be sent."""
        ...

    def settle_draft(self) -> None:
        """Note that the draft is to be kept soon."""
        ...
