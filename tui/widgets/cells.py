"""Text from anywhere, made to fit a place of one line, in cells as Textual counts them."""

import re
from typing import Any

import rich.cells
from rich.cells import cell_len

from tui.domain.labels import cut_to_cells
from tui.domain.safe_text import make_visible_line

# Rich counts a joiner behind another in two ways, and fails where it cuts such a text to cells.
_JOINER_AGAIN = re.compile("(?<=\u200d)\u200d")
_NO_WIDTH = "\u200b"
_split_graphemes = rich.cells.split_graphemes


def _split_any_graphemes(text: str, *version: Any) -> tuple[list[rich.cells.CellSpan], int]:
    return _split_graphemes(_JOINER_AGAIN.sub(_NO_WIDTH, text), *version)


rich.cells.split_graphemes = _split_any_graphemes

# More of a text than any terminal is wide.
_CHARACTERS = 1000


def one_line(text: str) -> str:
    """The beginning of a text as one line that is harmless to the terminal."""
    return make_visible_line(text[:_CHARACTERS])


def cut(line: str, cells: int) -> str:
    """A line cut to so many cells at most, an ellipsis in place of what was cut."""
    for limit in range(cells, 0, -1):
        shorter = cut_to_cells(line, limit)
        # Textual and wcwidth differ on a few characters, and Textual draws.
        if cell_len(shorter) <= cells:
            return shorter
    return ""


def fill(line: str, cells: int) -> str:
    """A line cut to or filled up with spaces to exactly so many cells."""
    shorter = cut(line, cells)
    return shorter + " " * (cells - cell_len(shorter))
