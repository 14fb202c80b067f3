"""Vertical scrolling by keys, wheel and scrollbar."""

from tui.widgets.transcript import messages
from tui.widgets.transcript.state import TranscriptState

_FEW_ROWS = 3
"""A scrollbar that moves by more rows than this is being dragged."""


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
