"""The welcome: keys in the middle of an empty transcript."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.rendering.canvas import GUTTER, Canvas
from tui.widgets.wrapping import wrap_words

_GAP = 3
# In a narrower column each word would have a row of its own.
_WORDS_CELLS = 12


class Welcome:
    """Keys and their effects as rows; no rows where there is no room."""

    def __init__(self, lines: Sequence[tuple[str, str]]) -> None:
        self._lines = lines
        self._keys = max((cell_len(key) for key, _ in lines), default=0) + _GAP
        self._rows: tuple[int, Sequence[tuple[str, str]]] = (0, ())

    def row(self, y: int, height: int, canvas: Canvas) -> Strip:
        """One row of an empty transcript of ``height`` rows."""
        rows = self._rows_within(canvas.text_width - 1 - self._keys)
        number = y - (height - len(rows)) // 2
        if len(rows) >= height or not 0 <= number < len(rows):
            return canvas.blank()
        key, does = rows[number]
        cells = self._keys + max(cell_len(does) for _, does in rows)
        return canvas.row(
            [
                Segment(" " * ((canvas.width - cells) // 2 - GUTTER), canvas.palette["text"]),
                Segment(key.ljust(self._keys), canvas.palette["mark"]),
                Segment(does, canvas.palette["quiet"]),
            ]
        )

    def _rows_within(self, cells: int) -> Sequence[tuple[str, str]]:
        """The rows with so many cells for the effect of a key; longer words wrap."""
        if cells < _WORDS_CELLS:
            return ()
        if self._rows[0] != cells:
            rows: list[tuple[str, str]] = []
            for key, does in self._lines:
                first, *others = wrap_words(does, cells)
                rows += [(key, first), *(("", other) for other in others)]
            self._rows = cells, rows
        return self._rows[1]
