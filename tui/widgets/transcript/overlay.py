"""What the pane draws over its rows: the cursor at the left, and that there is more below."""

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.document.document import DocumentRow
from tui.widgets.transcript.rendering.canvas import Canvas

_CURSOR = "▌"
_BELOW = "↓"


def with_cursor(row: DocumentRow, page: Canvas) -> Strip:
    """A row of the message at the cursor; the blank one before the message is left as it is."""
    if row.is_before:
        return row.strip
    _, *rest = row.strip
    return Strip([Segment(_CURSOR, page.palette["cursor"]), *rest], row.strip.cell_length)


def more_words(new: int) -> str:
    """That there is more below, and how many messages of it came since the reader left the end."""
    return f" {_BELOW} {new} new " if new else f" {_BELOW} more below "


def with_more(strip: Strip, words: str, page: Canvas) -> Strip:
    """The last row while there is something below it; where its words need the room, an arrow."""
    mark = Strip([Segment(_shown(strip, words, page), page.palette["more"])])
    return Strip.join([strip.crop(0, page.width - mark.cell_length), mark])


def is_more(strip: Strip, words: str, page: Canvas, cell: int) -> bool:
    """Whether a cell of the last row is that mark."""
    return page.width - cell_len(_shown(strip, words, page)) <= cell < page.width


def _shown(strip: Strip, words: str, page: Canvas) -> str:
    room = page.width - cell_len(strip.text.rstrip())
    return words if room >= cell_len(words) else _BELOW
