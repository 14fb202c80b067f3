"""The scrollbar of a virtual list whose total height is an estimate."""

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def show_place(view: ScrollView, above: int, total: int) -> None:
    """Set the scrollbar to a position that was reached without it."""
    width, height = view.scrollable_content_region.size
    # An assignment would lay out the whole screen for each piece of an answer.
    virtual_size = Size(width, total)
    view.set_reactive(Widget.virtual_size, virtual_size)  # pyright: ignore[reportArgumentType]
    view.set_scroll(None, above)
    view.set_reactive(Widget.scroll_target_y, float(above))  # pyright: ignore[reportArgumentType]
    if view.show_vertical_scrollbar:
        bar = view.vertical_scrollbar
        bar.window_virtual_size, bar.window_size, bar.position = total, height, above
