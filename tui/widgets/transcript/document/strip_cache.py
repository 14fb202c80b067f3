"""A cache of drawn rows."""

from collections import OrderedDict

from textual.strip import Strip

from tui.widgets.transcript.rendering.canvas import Canvas
from tui.widgets.transcript.rendering.row_blocks import RowBlock

ROWS = 4000
"""The size of the cache: some hundred screens, a few megabytes."""


class StripCache:
    """Draws blocks on a canvas, and keeps the strips used last, up to ``ROWS`` rows."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.rows = 0
        self._strips: OrderedDict[RowBlock, list[Strip]] = OrderedDict()

    def strips(self, block: RowBlock) -> list[Strip]:
        found = self._strips.get(block)
        if found is not None:
            self._strips.move_to_end(block)
            return found
        drawn = self._strips[block] = block.strips(self.canvas)
        self.rows += len(drawn)
        while self.rows > ROWS and len(self._strips) > 1:
            _, dropped = self._strips.popitem(last=False)
            self.rows -= len(dropped)
        return drawn

    def forget(self, block: RowBlock) -> None:
        """Drop the rows of a block."""
        self.rows -= len(self._strips.pop(block, ()))
