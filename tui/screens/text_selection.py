"""Selection by mouse: one that begins in the conversation stays in it, and scrolls it."""

from typing import TYPE_CHECKING

from textual.selection import SelectEnd

from tui.widgets.textual_bases import ScreenBase

if TYPE_CHECKING:
    from textual.selection import SelectState
    from textual.widget import Widget

    from tui.widgets.transcript import Transcript

_JUST_ABOVE = 0.01


class TextSelectionScreen(ScreenBase):
    """A screen with a conversation.

    Textual keeps the end of a selection at the text that was under the pointer when it last moved,
    even if that scrolled away, and extends it to widgets beside or below the conversation.
    """

    transcript: "Transcript"

    def adjusted_selection(self, state: "SelectState") -> "SelectState":
        if not self._is_reading(state) or not state.end:
            return state
        pane, pointer = self.transcript, state.screen_offset
        end = SelectEnd(state.start.container, pane, pane.offset_at(pointer))
        return state.update_end(pointer, end)

    def adjusted_scrolling(
        self, state: "SelectState", widget: "Widget", pointer: tuple[float, float]
    ) -> "tuple[Widget, tuple[float, float]]":
        if not self._is_reading(state):
            return widget, pointer
        region = self.transcript.content_region
        x, y = pointer
        x, y = max(x, region.x), max(y, region.y)
        # Just above the end of the last row: the distance sets the speed of scrolling.
        y = min(y, region.bottom - _JUST_ABOVE)
        return self.transcript, (min(x, region.right - 1), y)

    def _is_reading(self, state: "SelectState") -> bool:
        return state.start.content_widget is self.transcript
