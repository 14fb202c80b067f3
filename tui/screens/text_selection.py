"""Selecting with the mouse: what is begun in the conversation stays in it, and scrolls it."""

from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.selection import SelectEnd

if TYPE_CHECKING:
    from textual.selection import SelectState
    from textual.widget import Widget

    from tui.widgets.transcript import Transcript


_JUST_ABOVE = 0.01


class TextSelectionScreen(Screen[None]):
    """A screen with a conversation.

    Textual leaves the end of a selection at the words that the pointer was on when it moved last,
    though they are scrolled away from under it, and takes for selected what is beside or below
    the conversation once the pointer is there.
    """

    transcript: "Transcript"

    def _watch__select_state(self, select_state: "SelectState | None") -> None:
        if select_state is not None and self._is_reading(select_state) and select_state.end:
            pane, pointer = self.transcript, select_state.screen_offset
            end = SelectEnd(select_state.start.container, pane, pane.offset_at(pointer))
            select_state = select_state.update_end(pointer, end)
            self.set_reactive(Screen._select_state, select_state)  # pyright: ignore[reportArgumentType] # noqa: SLF001
        super()._watch__select_state(select_state)

    def _check_auto_scroll(
        self, select_widget: "Widget", mouse_coordinate: tuple[float, float], delta_y: float
    ) -> None:
        state = self._select_state
        if state is not None and self._is_reading(state):
            region = self.transcript.content_region
            x, y = mouse_coordinate
            x, y = max(x, region.x), max(y, region.y)
            # At the very end of the last row: how far down in it says how fast.
            y = min(y, region.bottom - _JUST_ABOVE)
            select_widget, mouse_coordinate = self.transcript, (min(x, region.right - 1), y)
        super()._check_auto_scroll(select_widget, mouse_coordinate, delta_y)

    def _is_reading(self, state: "SelectState") -> bool:
        return state.start.content_widget is self.transcript
