"""Hints: a line for some seconds that says why a key does nothing."""

from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget


@dataclass(eq=False, repr=False)
class HintGiven(Message):
    """A hint is to be shown."""

    words: str


def hint(widget: Widget, words: str) -> None:
    """Show a hint in the line of notices; the list of notices does not keep it."""
    widget.post_message(HintGiven(words))
