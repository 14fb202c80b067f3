"""Horizontal scrolling of code that is wider than the pane."""

from collections.abc import Sequence

from tui.widgets.transcript.document.document import Document, DocumentRow
from tui.widgets.transcript.document.items import Item
from tui.widgets.transcript.rendering.code_blocks import Code, Sideways
from tui.widgets.transcript.state import TranscriptState

SIDE_CELLS = 8


class HorizontalScroll:
    """Moves code to the left and right."""

    def __init__(self, state: TranscriptState) -> None:
        self._state = state

    def step(self, count: int) -> None:
        """Move the code of the message at the cursor, else all code on screen."""
        self.move(self._state.rows, self._state.cursor.item, count * SIDE_CELLS)

    def move(self, rows: Sequence[DocumentRow], item: Item | None, cells: int) -> bool:
        """Move the code of an item among the rows, else of all; false if nothing moved."""
        codes = {block: row.spot.item for row in rows if isinstance(block := row.block, Code)}
        if item in codes.values():
            codes = {block: owner for block, owner in codes.items() if owner is item}
        moved = False
        for sideways, (owner, room) in _fences(codes).items():
            if sideways.move(cells, room):
                redraw_fence(self._state.document, owner, sideways)
                moved = True
        if moved:
            self._state.redraw()
        return moved


def redraw_fence(document: Document, item: Item, sideways: Sideways) -> None:
    """Draw the rows of a code fence anew, as it has been moved."""
    blocks = item.blocks()
    document.redraw([p for p in blocks if isinstance(p, Code) and p.sideways is sideways])


def _fences(codes: dict[Code, Item]) -> dict[Sideways, tuple[Item, int]]:
    return {block.sideways: (item, block.room) for block, item in codes.items()}
