"""How much of the chat screen there is room for."""

from collections.abc import Mapping

from textual.geometry import Size

LEAST_COLUMNS, LEAST_ROWS = 60, 15
SIDEBAR_FROM_COLUMNS = 80
KEY_LINE_FROM_ROWS = 20

TOO_SMALL = f"sibyl-tui needs {LEAST_COLUMNS} columns and {LEAST_ROWS} rows."


def size_classes(size: Size) -> Mapping[str, bool]:
    """The classes that the style sheet knows, and whether a screen of this size has them."""
    return {
        "-narrow": size.width < SIDEBAR_FROM_COLUMNS,
        "-too-small": size.width < LEAST_COLUMNS or size.height < LEAST_ROWS,
        "-short": size.height < KEY_LINE_FROM_ROWS,
    }
