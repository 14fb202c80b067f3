"""Folding: files, tool calls, results, summaries, and the details of messages."""

from tui.domain.views.message_details import details
from tui.widgets.hints import hint
from tui.widgets.transcript.document.items import Item
from tui.widgets.transcript.rendering.row_blocks import Details
from tui.widgets.transcript.state import TranscriptState


class Folding:
    """Shows and hides blocks of messages."""

    def __init__(self, state: TranscriptState) -> None:
        self._state = state

    def fold(self) -> None:
        """Open files, a tool call, a result or a summary, or fold them."""
        item = self._state.cursor.foldable(self._state.rows)
        if item:
            self.fold_item(item)

    def fold_item(self, item: Item, block: int | None = None) -> None:
        """Open an item, or fold it; ``block`` is the line of the one part that is meant."""
        self._state.document.fold(item, block)
        self._state.draw()

    def details(self) -> None:
        """Show or hide time, model and more of the message at the cursor, or of one in sight."""
        if self._state.cursor.item is None:
            self._state.cursor.go_into_sight(self._state.rows)
        item = self._state.cursor.item
        if item is None or item.message is None:
            return
        if not item.informed or self._shows_details_of(item):
            self._state.document.inform(item, shown=not item.informed)
            self._state.redraw()
        if item.informed and not self._shows_details_of(item):
            # They are at the message's beginning, out of sight: scrolling there was not asked for.
            hint(self._state.widget, details(item.message, item.cost))

    def all_details(self) -> None:
        """Show or hide the details of all messages."""
        self._state.hint_if_empty()
        self._state.document.inform_all()
        self._state.redraw()

    def _shows_details_of(self, item: Item) -> bool:
        rows = self._state.rows
        return any(isinstance(row.block, Details) and row.spot.item is item for row in rows)
