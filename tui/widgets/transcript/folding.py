"""Folding: tool calls, results, summaries, and the details of messages."""

from tui.domain.views.message_details import details
from tui.widgets.hints import hint
from tui.widgets.transcript.document.items import Item
from tui.widgets.transcript.rendering.row_blocks import Details
from tui.widgets.transcript.view import NO_MESSAGE, TranscriptView


class Folding:
    """Shows and hides parts of messages."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view

    def fold(self) -> None:
        """Open a tool call, a result or a summary, or fold it."""
        item = self._view.cursor.foldable(self._view.rows)
        if item:
            self.fold_item(item)
        else:
            hint(self._view.widget, "Nothing to open or fold here.")

    def fold_item(self, item: Item) -> None:
        """Open an item, or fold it."""
        self._view.document.fold(item)
        self._view.draw()

    def details(self) -> None:
        """Show or hide time, model and more of the message at the cursor, or of one in sight."""
        if self._view.cursor.item is None:
            self._view.cursor.go_into_sight(self._view.rows)
        item = self._view.cursor.item
        if item is None or item.message is None:
            hint(self._view.widget, NO_MESSAGE)
            return
        if not item.informed or self._shows_details_of(item):
            self._view.document.inform(item, shown=not item.informed)
            self._view.redraw()
        if item.informed and not self._shows_details_of(item):
            # They are at the message's beginning, out of sight: scrolling there was not asked for.
            hint(self._view.widget, details(item.message, item.cost))

    def all_details(self) -> None:
        """Show or hide the details of all messages."""
        self._view.hint_if_empty()
        self._view.document.inform_all()
        self._view.redraw()

    def _shows_details_of(self, item: Item) -> bool:
        rows = self._view.rows
        return any(isinstance(row.part, Details) and row.spot.item is item for row in rows)
