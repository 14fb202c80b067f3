"""Outside text made harmless, cut into pieces and wrapped to cells."""

import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells, get_character_cell_size

from tui.domain.safe_text import make_visible

PIECE = 8 * 1024
"""Characters of one block at most: what one touch may cost."""

_LINE_ENDS = re.compile("\r\n|[\u2028\u2029]")


def clean(text: str) -> str:
    """Text from outside as it may be shown: lines end with newlines, controls are marks."""
    return make_visible(_LINE_ENDS.sub("\n", text))


def wrap_words(line: str, width: int) -> list[str]:
    """One line as rows of at most ``width`` cells, broken at spaces where there are any."""
    rows: list[str] = []
    while True:
        fit = fitting(line, width)
        if fit >= len(line):
            rows.append(line)
            return rows
        cut = _break(line, fit)
        rows.append(line[:cut].rstrip(" "))
        line = line[cut:].lstrip(" ")


def fitting(line: str, width: int) -> int:
    """How many characters of a line go into ``width`` cells, at least one."""
    head = line[: width + 1]
    if head.isascii():
        return min(len(line), width)
    # Marks that combine take no cells; nobody needs more than a few for each letter.
    head = line[: width * 4 + 8]
    if cell_len(head) <= width:
        return len(head)
    return max(1, len(chop_cells(head, width)[0]))


def shorten(line: str, width: int) -> str:
    """One line in at most ``width`` cells, the last an ellipsis if anything was cut."""
    if fitting(line, width) >= len(line):
        return line
    return line[: fitting(line, width - 1)] + "…"


def cut_pieces(text: str, limit: int = PIECE) -> Iterator[str]:
    """Long text in pieces of at most ``limit`` characters, cut at a line's end or at a space."""
    start = 0
    while len(text) - start > limit:
        end = start + limit
        cut = text.rfind("\n", start, end)
        if cut <= start:
            cut = text.rfind(" ", start, end)
        if cut <= start:
            yield text[start:end]
            start = end
        else:
            yield text[start:cut]
            start = cut + 1
    yield text[start:]


def guess_rows(text: str, width: int) -> int:
    """About how many rows a text takes; cheap."""
    return text.count("\n") + 1 + len(text) // max(width, 1)


def _break(line: str, fit: int) -> int:
    """Where to break a line of which ``fit`` characters have room."""
    if line[fit] == " " or get_character_cell_size(line[fit]) > 1:
        return fit
    space = line.rfind(" ", 0, fit)
    return space if space > 0 and not line[:space].isspace() else fit
