"""Where the reader types which sessions to see."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.domain.safe_text import make_visible_line


class FilterLine(Input):
    """A line for the filter; Enter or Down leads to the rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "submit", "To the list", id="filter-done")
    ]

    def __init__(self) -> None:
        super().__init__(
            placeholder="filter",
            compact=True,
            select_on_focus=False,
            max_length=200,
        )
        self.display = False

    def replace(self, text: str, start: int, end: int) -> None:
        # Every way in leads here. An input shows what was pasted as it is.
        super().replace(make_visible_line(text), start, end)
