"""The input line of the filter."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from tui.widgets.keys import FILTER
from tui.widgets.line_input import LineInput


class FilterLine(LineInput):
    """An input line for the filter; Enter or Down leads to the rows."""

    BINDINGS: ClassVar[list[BindingType]] = [*FILTER]

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=False, max_length=200)


class FilterRow(Horizontal):
    """The filter with its label; hidden while nothing is filtered."""

    DEFAULT_CSS = """
    FilterRow {
        height: 1;
        & > Static { width: auto; }
        & > FilterLine { width: 1fr; }
    }
    """

    def __init__(self, line: FilterLine) -> None:
        super().__init__()
        self._line = line
        self.display = False

    def compose(self) -> ComposeResult:
        yield Static(Content("Filter: "))
        yield self._line
