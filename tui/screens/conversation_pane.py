"""The container of conversation and prompt, beside the sidebar."""

from textual import on
from textual.containers import Vertical

from tui.widgets.find_line import FindLine
from tui.widgets.prompt import Prompt
from tui.widgets.transcript import Transcript


class ConversationPane(Vertical):
    """Conversation and prompt."""

    @on(Transcript.PromptWanted)
    def focus_prompt(self) -> None:
        """Focus the prompt, except from the conversation or while finding."""
        reads = self.query_one(Transcript).has_focus
        if not reads and not self.query_one(FindLine).has_focus_within:
            self.query_one(Prompt).focus()
