"""Where the conversation and the prompt stand, beside the list of sessions."""

from textual.containers import Vertical

_TOAST_CELLS = 60


class ConversationPane(Vertical):
    """The conversation and the prompt; toasts keep to it."""

    def on_resize(self) -> None:
        for rack in self.screen.query("ToastRack"):
            width = min(self.region.width, _TOAST_CELLS)
            rack.styles.width = width
            rack.styles.margin = (0, 0, 0, self.region.right - width)
