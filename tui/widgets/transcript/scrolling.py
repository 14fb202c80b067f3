"""Vertical scrolling by keys, wheel and scrollbar."""

from tui.widgets.transcript import messages
from tui.widgets.transcript.view import TranscriptView

_FEW_ROWS = 3
"""A scrollbar that moves by more rows than this is being dragged."""


class Scrolling:
    """Moves the viewport; the message cursor stays in sight."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view

    def move(self, rows: int) -> None:
        """Scroll down by rows, or up if negative."""
        self._view.document.reader.move(rows)
        self._settle()

    def page(self, pages: int) -> None:
        """Scroll by screens, with one row in common."""
        self._view.hint_if_empty()
        self.move(pages * max(1, self._view.document.reader.height - 1))

    def to_top(self) -> None:
        """Go to the beginning of the session, which may have to be loaded first."""
        self._view.hint_if_empty()
        if self._view.ends.earlier:
            self._view.widget.post_message(messages.BeginningWanted())
            return
        self.show_beginning()
        self._view.cursor.go_to_first()
        self._view.redraw()

    def show_beginning(self, *, cursor: bool = False) -> None:
        """Show the first row; with ``cursor``, put the cursor on its message."""
        self._view.document.reader.scroll_to(0)
        self._view.draw()
        if cursor:
            self._view.cursor.go_into_sight(self._view.rows)
            self._view.cursor.go_to_first()
        self._view.redraw()

    def to_end(self) -> None:
        """Go to the end of the session and follow it; it may have to be loaded first."""
        if self._view.ends.later:
            self._view.widget.post_message(messages.EndWanted())
            return
        self._view.document.reader.to_end()
        self._view.cursor.go_to_last()
        self._view.redraw()

    def follow_scrollbar(self, old: int, new: int, *, at_end: bool) -> None:
        """Move as the scrollbar has moved."""
        reader = self._view.document.reader
        if at_end:
            reader.to_end()
        elif abs(new - old) <= _FEW_ROWS:
            # Not by row number: while heights are estimates, that would jump.
            reader.move(new - old)
        else:
            reader.scroll_to(new)
        self._settle()

    def _settle(self) -> None:
        self._view.draw()
        if self._view.cursor.come_along(self._view.rows):
            self._view.redraw()
