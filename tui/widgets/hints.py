"""Hints: a line for some seconds that says why a key does nothing."""

from textual.message import Message
from textual.widget import Widget


class HintGiven(Message):
    """A hint is to be shown."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


def hint(widget: Widget, words: str) -> None:
    """Show a hint in the line of notices; the list of notices does not keep it."""
    widget.post_message(HintGiven(words))
