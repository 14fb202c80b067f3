"""Cuts text to cells, as Textual counts them, for places of one line."""

from rich.cells import cell_len

from tui.domain.text.labels import cut_to_cells
from tui.domain.text.patterns import late_pattern
from tui.domain.text.safe_text import make_visible_line
from tui.widgets.rich_private import adjust_cells, wrap_narrow_widgets

_PICTURE = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_JOINER, _NO_WIDTH = "\u200d", "\u200b"


# To Rich every joiner joins, and the next character takes no cell: a letter was invisible.
# It counts two joiners in a row in two ways, and fails when it cuts such a text to cells.
# A joiner that begins a text may join to the text before it in another colour.
_LOOSE_JOINER = late_pattern(f"(?<=[^{_PICTURE}\ufe0f])\u200d|\u200d(?![{_PICTURE}])")


def _without_loose_joiners(text: str) -> str:
    return _LOOSE_JOINER.sub(_NO_WIDTH, text) if _JOINER in text else text


adjust_cells(_without_loose_joiners)
wrap_narrow_widgets()

# More than any terminal is wide.
_CHARACTERS = 1000


def one_line(text: str) -> str:
    """The beginning of a text as one line, without control characters."""
    return make_visible_line(text[:_CHARACTERS])


def cut(line: str, cells: int) -> str:
    """Cut a line to at most so many cells, with an ellipsis if anything was cut."""
    for limit in range(cells, 0, -1):
        shorter = cut_to_cells(line, limit)
        # Textual and wcwidth differ on a few characters; Textual draws.
        if cell_len(shorter) <= cells:
            return shorter
    return ""


def cut_start(line: str, cells: int) -> str:
    """Cut the beginning of a line: of a path, an id or an address the end says most."""
    end = line
    while end and cell_len(end if end is line else f"…{end}") > cells:
        end = end[max(1, len(end) - cells) :]
    return end if end is line or not end else f"…{end}"


def cut_middle(line: str, cells: int) -> str:
    """Cut the middle of a line: of two names with one beginning the ends differ."""
    if cell_len(line) <= cells:
        return line
    end = cut_start(line, cells // 2).removeprefix("…")
    return cut(line, cells - cell_len(end)) + end


def fill(line: str, cells: int) -> str:
    """Cut or pad a line to exactly so many cells."""
    shorter = cut(line, cells)
    return shorter + " " * (cells - cell_len(shorter))
