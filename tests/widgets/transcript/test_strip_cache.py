"""The rows that stay drawn."""

from rich.style import Style
from textual.strip import Strip

from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.document import ROWS, StripCache
from tui.widgets.transcript.row_blocks import RowBlock


class Tall(RowBlock):
    """A block of so many rows; it counts how often it was drawn."""

    rows: int
    drawn: int = 0

    def draw(self, canvas):
        self.drawn += 1
        return [Strip.blank(1)] * self.rows


def drawn(blocks, frames):
    cache = StripCache(Canvas(40, dict.fromkeys(NAMES, Style())))
    for _ in range(frames):
        for block in blocks:
            cache.strips(block)
    return [block.drawn for block in blocks], cache.rows


def test_the_blocks_on_screen_are_drawn_once_however_many_rows_they_have():
    assert drawn([Tall(ROWS) for _ in range(3)], 3) == ([1, 1, 1], 3 * ROWS)


def test_of_many_blocks_only_the_rows_used_last_stay():
    _, rows = drawn([Tall(ROWS // 10) for _ in range(50)], 2)
    assert rows == ROWS
