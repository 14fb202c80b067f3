"""The container of conversation and prompt, beside the sidebar."""

from textual import on
from textual.containers import Vertical

from tui.widgets.find_line import FindLine
from tui.widgets.prompt import Prompt
from tui.widgets.transcript import Transcript

_TOAST_CELLS = 60


class ConversationPane(Vertical):
    """Conversation and prompt; toasts are kept within its width."""

    def on_resize(self) -> None:
        for rack in self.screen.query("ToastRack"):
            width = min(self.region.width, _TOAST_CELLS)
            rack.styles.width = width
            rack.styles.margin = (0, 0, 0, self.region.right - width)

    @on(Transcript.PromptWanted)
    def focus_prompt(self) -> None:
        """Focus the prompt, except from the conversation or while finding."""
        reads = self.query_one(Transcript).has_focus
        if not reads and not self.query_one(FindLine).has_focus_within:
            self.query_one(Prompt).focus()
