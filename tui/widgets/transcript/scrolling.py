"""Scrolling by keys, wheel and scrollbar; sideways in tables and code."""

from collections.abc import Sequence

from tui.widgets.transcript import messages
from tui.widgets.transcript.document.document import Document, DocumentRow
from tui.widgets.transcript.document.items import Item
from tui.widgets.transcript.rendering.code_blocks import Code, Sideways
from tui.widgets.transcript.state import TranscriptState

_FEW_ROWS = 3
"""A scrollbar that moves by more rows than this is being dragged."""

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


class Scrolling:
    """Moves the viewport; the message cursor stays in sight."""

    def __init__(self, state: TranscriptState) -> None:
        self._state = state

    def move(self, rows: int) -> None:
        """Scroll down by rows, or up if negative."""
        self._state.document.reader.move(rows)
        self._settle()

    def page(self, pages: int) -> None:
        """Scroll by screens, with one row in common."""
        self._state.hint_if_empty()
        self.move(pages * max(1, self._state.document.reader.height - 1))

    def to_top(self) -> None:
        """Go to the beginning of the session, which may have to be loaded first."""
        self._state.hint_if_empty()
        if self._state.ends.earlier:
            self._state.widget.post_message(messages.BeginningWanted())
            return
        self.show_beginning()
        self._state.cursor.go_to_first()
        self._state.redraw()

    def show_beginning(self, *, cursor: bool = False) -> None:
        """Show the first row; with ``cursor``, put the cursor on its message."""
        self._state.document.reader.scroll_to(0)
        self._state.draw()
        if cursor:
            self._state.cursor.go_into_sight(self._state.rows)
            self._state.cursor.go_to_first()
        self._state.redraw()

    def to_end(self) -> None:
        """Go to the end of the session and follow it; it may have to be loaded first."""
        if self._state.ends.later:
            self._state.widget.post_message(messages.EndWanted())
            return
        self._state.document.reader.to_end()
        self._state.cursor.go_to_last()
        self._state.redraw()

    def follow_scrollbar(self, old: int, new: int, *, at_end: bool) -> None:
        """Move as the scrollbar has moved."""
        reader = self._state.document.reader
        if at_end:
            reader.to_end()
        elif abs(new - old) <= _FEW_ROWS:
            # Not by row number: while heights are estimates, that would jump.
            reader.move(new - old)
        else:
            reader.scroll_to(new)
        self._settle()

    def _settle(self) -> None:
        self._state.draw()
        if self._state.cursor.come_along(self._state.rows):
            self._state.redraw()
