"""Hints: short notifications that say why a key does nothing."""

from textual.widget import Widget

from tui.widgets.textual_private.notifications import notifications

SECONDS = 3


def hint(widget: Widget, words: str) -> None:
    """Show a hint, unless it is on screen already: a key may be held down."""
    if not any(each.message == words for each in notifications(widget)):
        widget.notify(words, timeout=SECONDS, markup=False)
