"""Tables in notices: in columns, or two rows for each entry on a narrow screen."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.domain.text.safe_text import make_visible_line
from tui.domain.views.notice import Table
from tui.widgets.cells import fill
from tui.widgets.transcript.rendering.canvas import Canvas
from tui.widgets.transcript.rendering.row_blocks import RowBlock
from tui.widgets.wrapping import wrap_words

_UPPER = 2
"""The number of columns on the first of two rows."""

_LEAST = 8
"""The least width of a name, in cells."""

Cell = tuple[str, str]
"""A text and the name of its style."""


class NoticeTable(RowBlock):
    """Draws the rows of a table, with the main column in a style of its own."""

    def __init__(self, table: Table, mark: str = " ", *, spaced: bool = False) -> None:
        super().__init__(spaced=spaced)
        self.table = table
        self.mark = mark
        self._rows = [[make_visible_line(cell) for cell in row] for row in table.rows]
        self._natural = [max(map(cell_len, column)) for column in zip(*self._rows, strict=True)]

    def guess(self, width: int) -> int:
        one_row_each = self._widths(range(len(self._natural)), width, self.table.least)
        return len(self._rows) * (1 if one_row_each else 2)

    def draw(self, canvas: Canvas) -> list[Strip]:
        return [
            canvas.row(
                [Segment(text, canvas.palette[style]) for text, style in cells],
                " " if place else self.mark,
                canvas.palette["mark"],
            )
            for place, cells in enumerate(self._lines(canvas.text_width))
        ]

    def _lines(self, width: int) -> Iterator[list[Cell]]:
        every = range(len(self._natural))
        if widths := self._widths(every, width, self.table.least):
            for row in range(len(self._rows)):
                yield self._cells(row, every, widths)
            return
        inset = min(self._natural[0] + self.table.gap, width // 3)
        for row in range(len(self._rows)):
            yield from self._wrapped(row, every[:_UPPER], width)
            for cells in self._wrapped(row, every[_UPPER:], width - inset):
                yield [(" " * inset, "quiet"), *cells]

    def _wrapped(self, row: int, columns: Sequence[int], width: int) -> Iterator[list[Cell]]:
        """Columns of a row side by side, or one after the other."""
        if widths := self._widths(columns, width, _LEAST):
            yield self._cells(row, columns, widths)
        else:
            text = " ".join(self._rows[row][column] for column in columns)
            yield from ([(line, "quiet")] for line in wrap_words(text, width))

    def _widths(self, columns: Sequence[int], room: int, least: int) -> Sequence[int] | None:
        """The widths of columns side by side; none if the name would get too little room."""
        taken = sum(self._natural[column] + self.table.gap for column in columns) - self.table.gap
        name, widths = self.table.name, list(self._natural)
        if taken > room and name in columns:
            widths[name] -= taken - room
        fits = taken <= room or (name in columns and widths[name] >= least)
        return widths if fits else None

    def _cells(self, row: int, columns: Sequence[int], widths: Sequence[int]) -> list[Cell]:
        cells: list[Cell] = []
        for column in columns:
            text = self._aligned(row, column, widths[column])
            is_name = column == self.table.name and (row or not self.table.headed)
            cells.append((text, "text" if is_name else "quiet"))
            cells.append((" " * self.table.gap, "quiet"))
        return cells[:-1]

    def _aligned(self, row: int, column: int, width: int) -> str:
        text = self._rows[row][column]
        if column == 0 or column in self.table.right:
            return " " * (width - cell_len(text)) + text
        return fill(text, width)
