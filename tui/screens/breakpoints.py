"""Breakpoints: classes of the screen by its size."""

from typing import Any

from textual.geometry import Size
from textual.screen import Screen

from tui.domain.screen_sizes import (
    KEY_LINE_FROM_ROWS,
    LEAST_COLUMNS,
    LEAST_ROWS,
    SIDEBAR_FROM_COLUMNS,
)

TOO_SMALL = f"sibyl-tui needs {LEAST_COLUMNS} columns and {LEAST_ROWS} rows."


def fit(screen: Screen[Any], size: Size) -> bool:
    """Set the size classes of the style sheet; true if the screen is too small."""
    small = size.width < LEAST_COLUMNS or size.height < LEAST_ROWS
    screen.set_class(size.width < SIDEBAR_FROM_COLUMNS, "-narrow")
    screen.set_class(small, "-too-small")
    screen.set_class(size.height < KEY_LINE_FROM_ROWS, "-short")
    return small
