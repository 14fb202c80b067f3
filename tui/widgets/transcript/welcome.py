"""What stands in a conversation while nothing was said: keys, in the middle of the pane."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.rendering.canvas import GUTTER, Canvas
from tui.widgets.wrapping import wrap_words

_GAP = 3
# Narrower than this, what a key does would be a column of single words.
_WORDS_CELLS = 12


class Welcome:
    """Keys and what they do, as rows; none where they have no room."""

    def __init__(self, lines: Sequence[tuple[str, str]]) -> None:
        self._lines = lines
        self._keys = max((cell_len(key) for key, _ in lines), default=0) + _GAP
        self._rows: tuple[int, Sequence[tuple[str, str]]] = (0, ())

    def row(self, y: int, height: int, page: Canvas) -> Strip:
        """What stands in the row of an empty pane of so many rows."""
        rows = self._rows_within(page.text_width - 1 - self._keys)
        number = y - (height - len(rows)) // 2
        if len(rows) >= height or not 0 <= number < len(rows):
            return page.blank()
        key, does = rows[number]
        cells = self._keys + max(cell_len(does) for _, does in rows)
        return page.row(
            [
                Segment(" " * ((page.width - cells) // 2 - GUTTER), page.palette["text"]),
                Segment(key.ljust(self._keys), page.palette["mark"]),
                Segment(does, page.palette["quiet"]),
            ]
        )

    def _rows_within(self, cells: int) -> Sequence[tuple[str, str]]:
        """The rows where what keys do has so many cells; what is longer goes on below."""
        if cells < _WORDS_CELLS:
            return ()
        if self._rows[0] != cells:
            rows: list[tuple[str, str]] = []
            for key, does in self._lines:
                first, *others = wrap_words(does, cells)
                rows += [(key, first), *(("", other) for other in others)]
            self._rows = cells, rows
        return self._rows[1]
