"""What is said in passing where a key does nothing."""

from textual.widget import Widget

from tui.widgets.textual_private.notifications import notifications

SECONDS = 3


def hint(widget: Widget, words: str) -> None:
    """Say why nothing happens, in a toast; a key that is held down says it once."""
    if not any(each.message == words for each in notifications(widget)):
        widget.notify(words, timeout=SECONDS, markup=False)
