"""A screen whose subclasses decide where a mouse selection ends."""

from typing import TYPE_CHECKING

from textual.screen import Screen

if TYPE_CHECKING:
    from textual.selection import SelectState
    from textual.widget import Widget


class ScreenBase(Screen[None]):
    """Textual knows only the widget under the pointer, and says of it in no message."""

    def adjusted_selection(self, state: "SelectState") -> "SelectState":
        """A selection as it is to be shown; called whenever the pointer moves or scrolls."""
        return state

    def adjusted_scrolling(
        self,
        state: "SelectState",  # noqa: ARG002 - for subclasses
        widget: "Widget",
        pointer: tuple[float, float],
    ) -> "tuple[Widget, tuple[float, float]]":
        """The widget that a selection scrolls, and the place of the pointer over it."""
        return widget, pointer

    def _watch__select_state(self, select_state: "SelectState | None") -> None:
        if select_state is not None:
            select_state = self.adjusted_selection(select_state)
            self.set_reactive(Screen._select_state, select_state)  # pyright: ignore[reportArgumentType]
        super()._watch__select_state(select_state)

    def _check_auto_scroll(
        self, select_widget: "Widget", mouse_coordinate: tuple[float, float], delta_y: float
    ) -> None:
        state = self._select_state
        if state is not None:
            select_widget, mouse_coordinate = self.adjusted_scrolling(
                state, select_widget, mouse_coordinate
            )
        super()._check_auto_scroll(select_widget, mouse_coordinate, delta_y)
