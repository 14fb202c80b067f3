"""The mouse in the transcript: wheel, links, folds, code titles, and selecting by clicks."""

from textual import events

from tui.widgets.intents import CopyRequested
from tui.widgets.transcript import messages
from tui.widgets.transcript.document.document import DocumentRow
from tui.widgets.transcript.folding import Folding
from tui.widgets.transcript.rendering.code_blocks import Code, code_of
from tui.widgets.transcript.rendering.foldable import PictureLine
from tui.widgets.transcript.rendering.row_blocks import FoldLine
from tui.widgets.transcript.row_painter import RowPainter
from tui.widgets.transcript.scrolling import SIDE_CELLS, HorizontalScroll, Scrolling
from tui.widgets.transcript.selection import offset_row, whole
from tui.widgets.transcript.state import TranscriptState

_WHEEL_ROWS = 3


class Mouse:
    """Acts on the row under the pointer."""

    def __init__(
        self,
        state: TranscriptState,
        painter: RowPainter,
        scrolling: Scrolling,
        horizontal: HorizontalScroll,
        folding: Folding,
    ) -> None:
        self._state = state
        self._painter = painter
        self._scrolling = scrolling
        self._horizontal = horizontal
        self._folding = folding

    def turn_wheel(self, event: events.MouseEvent) -> None:
        """Scroll rows; with Shift, or a wheel that tilts, the code under the pointer."""
        back = isinstance(event, events.MouseScrollUp | events.MouseScrollLeft)
        step = -1 if back else 1
        tilted = isinstance(event, events.MouseScrollLeft | events.MouseScrollRight)
        if not tilted and not event.shift:
            self._scrolling.move(step * _WHEEL_ROWS)
        elif row := self._row_under(event):
            self._horizontal.move([row], None, step * SIDE_CELLS)

    def click(self, event: events.Click) -> None:
        """Act on the row; a double click selects a paragraph, a triple click a message."""
        if event.chain > 1:
            event.prevent_default()
        row = self._row_under(event)
        if row is None:
            return
        if self._is_more_at(row, event):
            self._scrolling.to_end()
        elif event.chain > 1:
            self._select(row, whole_item=event.chain > 2)
        elif not self._state.widget.text_selection:
            self._act_on(row, event)

    def _act_on(self, row: DocumentRow, event: events.Click) -> None:
        if code := self._code_to_copy_at(row, event):
            self._state.widget.post_message(CopyRequested(code))
        elif isinstance(row.block, FoldLine):
            self._folding.fold_item(row.spot.item, row.spot.block)
        elif isinstance(row.block, PictureLine):
            self._state.widget.post_message(messages.LinksWanted((), (row.block.picture,)))
        elif row.spot.item.message:
            self._open_link_at(row, event)

    def _is_more_at(self, row: DocumentRow, event: events.Click) -> bool:
        """True for a click on the mark for more rows below."""
        offset = event.get_content_offset(self._state.widget)
        if not offset or self._state.widget.text_selection:
            return False
        is_last = offset.y == self._state.document.reader.height - 1
        return is_last and self._painter.is_more_at(row, offset.x)

    def _code_to_copy_at(self, row: DocumentRow, event: events.Click) -> str:
        offset, block, item = event.get_content_offset(self._state.widget), row.block, row.spot.item
        if not isinstance(block, Code) or not offset:
            return ""
        if not block.copies_at(row.spot.row, row.strip, offset.x):
            return ""
        return code_of(block, item.blocks(), item.codes)

    def _open_link_at(self, row: DocumentRow, event: events.Click) -> None:
        offset, message = event.get_content_offset(self._state.widget), row.spot.item.message
        if message is None or offset is None or not _may_be_link(row, offset.x):
            return
        from tui.widgets.transcript.links import link_at, links_of

        place = len(row.strip.crop(0, offset.x).text)
        if links := link_at(links_of(message), row.strip.text, place):
            pairs = [(link.target, link.text) for link in links]
            self._state.widget.post_message(messages.LinksWanted(pairs))

    def _row_under(self, event: events.MouseEvent) -> DocumentRow | None:
        offset = event.get_content_offset(self._state.widget)
        rows = self._state.rows
        return rows[offset.y] if offset and 0 <= offset.y < len(rows) else None

    def _select(self, row: DocumentRow, *, whole_item: bool) -> None:
        spot, last = row.spot, len(row.spot.item.blocks()) - 1
        first, end = (0, last) if whole_item else (spot.block, spot.block)
        order = spot.item.order
        rows = whole(offset_row(order, first, 0), offset_row(order, end + 1, 0) - 1)
        self._state.widget.screen.selections = {self._state.widget: rows}


def _may_be_link(row: DocumentRow, cell: int) -> bool:
    """True if a cell is underlined or its row has an address: parsing the message is slower."""
    style = next((segment.style for segment in row.strip.crop(cell, cell + 1)), None)
    return bool(style and style.underline) or "://" in row.strip.text
