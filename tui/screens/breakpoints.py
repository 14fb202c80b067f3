"""How much of the chat screen there is room for."""

from typing import Any

from textual.geometry import Size
from textual.screen import Screen

LEAST_COLUMNS, LEAST_ROWS = 60, 15
SIDEBAR_FROM_COLUMNS = 80
KEY_LINE_FROM_ROWS = 20

TOO_SMALL = f"sibyl-tui needs {LEAST_COLUMNS} columns and {LEAST_ROWS} rows."


def fit(screen: Screen[Any], size: Size) -> bool:
    """Give the screen the classes that the style sheet has for a size; whether it is too small."""
    small = size.width < LEAST_COLUMNS or size.height < LEAST_ROWS
    screen.set_class(size.width < SIDEBAR_FROM_COLUMNS, "-narrow")
    screen.set_class(small, "-too-small")
    screen.set_class(size.height < KEY_LINE_FROM_ROWS, "-short")
    return small
