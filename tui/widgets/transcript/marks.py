"""What the pane draws over its rows: the cursor at the left, and that there is more below."""

from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.conversation import Row
from tui.widgets.transcript.page import Page

_CURSOR = "▌"
_MORE = " ↓ more "


def with_cursor(row: Row, page: Page) -> Strip:
    """A row of the message at the cursor; the blank one before it is left as it is."""
    if row.spot.row == 0 and row.part.spaced:
        return row.strip
    _, *rest = row.strip
    return Strip([Segment(_CURSOR, page.palette["cursor"]), *rest], row.strip.cell_length)


def with_more(strip: Strip, page: Page) -> Strip:
    """The last row while something has come below it."""
    mark = Strip([Segment(_MORE, page.palette["more"])])
    return Strip.join([strip.crop(0, page.width - mark.cell_length), mark])
