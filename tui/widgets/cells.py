"""Text from anywhere, made to fit a place of one line, in cells as Textual counts them."""

from rich.cells import cell_len

from tui.domain.labels import cut_to_cells
from tui.domain.safe_text import make_visible_line

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
