"""The text of a widget that draws its lines, as it is on the screen."""

from textual.widget import Widget


def visible_text(widget: Widget) -> list[str]:
    return [
        widget.render_line(y).text.rstrip() for y in range(widget.scrollable_content_region.height)
    ]
