"""The text of screens and widgets that draw their lines, as it is on the terminal."""

from textual.screen import Screen
from textual.widget import Widget


def visible_text(widget: Widget) -> list[str]:
    return [
        widget.render_line(y).text.rstrip() for y in range(widget.scrollable_content_region.height)
    ]


def results_text(screen: Screen) -> str | None:
    """The query of the results on the search screen, which may not be there yet."""
    results = getattr(screen, "_results", None)
    return results.text if results else None
