"""What is said in passing where a key does nothing."""

from textual.widget import Widget

SECONDS = 3


def hint(widget: Widget, words: str) -> None:
    """Say why nothing happens, in a toast; a key that is held down says it once."""
    app = widget.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    # Nothing else tells what is on screen.
    toasts = app._notifications  # pyright: ignore[reportPrivateUsage] # noqa: SLF001
    if not any(each.message == words for each in toasts):
        widget.notify(words, timeout=SECONDS, markup=False)
