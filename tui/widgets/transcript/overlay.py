"""Overlays on the rows: the cursor at the left, and the mark for more rows below."""

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.document.document import DocumentRow
from tui.widgets.transcript.rendering.canvas import Canvas

_CURSOR = "▌"
_BELOW = "↓"


def with_cursor(row: DocumentRow, canvas: Canvas) -> Strip:
    """A row of the message at the cursor; the blank row before the message stays as it is."""
    if row.is_before:
        return row.strip
    _, *rest = row.strip
    return Strip([Segment(_CURSOR, canvas.palette["cursor"]), *rest], row.strip.cell_length)


def more_words(new: int) -> str:
    """The words of the mark for more rows below, with the number of unseen messages."""
    return f" {_BELOW} {new} new " if new else f" {_BELOW} latest "


def with_more(strip: Strip, words: str, canvas: Canvas) -> Strip:
    """The last row with that mark; where the row's text leaves no room, with an arrow."""
    mark = Strip([Segment(_shown(strip, words, canvas), canvas.palette["more"])])
    return Strip.join([strip.crop(0, canvas.width - mark.cell_length), mark])


def is_more(strip: Strip, words: str, canvas: Canvas, cell: int) -> bool:
    """True if a cell of the last row belongs to that mark."""
    return canvas.width - cell_len(_shown(strip, words, canvas)) <= cell < canvas.width


def _shown(strip: Strip, words: str, canvas: Canvas) -> str:
    room = canvas.width - cell_len(strip.text.rstrip())
    return words if room >= cell_len(words) else _BELOW
