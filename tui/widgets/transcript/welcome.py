"""What stands in a conversation while nothing was said: keys, in the middle of the pane."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.page import GUTTER, Page

_GAP = 3


class Welcome:
    """Keys and what they do, as rows; none where they have no room."""

    def __init__(self, lines: Sequence[tuple[str, str]]) -> None:
        self._lines = lines
        self._keys = max((cell_len(key) for key, _ in lines), default=0) + _GAP
        self._cells = self._keys + max((cell_len(does) for _, does in lines), default=0)

    def row(self, y: int, height: int, page: Page) -> Strip:
        """What stands in the row of an empty pane of so many rows."""
        number = y - (height - len(self._lines)) // 2
        has_room = len(self._lines) < height and self._cells < page.text_width
        if not has_room or not 0 <= number < len(self._lines):
            return page.blank()
        key, does = self._lines[number]
        left = (page.width - self._cells) // 2 - GUTTER
        return page.row(
            [
                Segment(" " * left, page.palette["text"]),
                Segment(key.ljust(self._keys), page.palette["mark"]),
                Segment(does, page.palette["quiet"]),
            ]
        )
