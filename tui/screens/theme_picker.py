"""The theme picker: a theme is shown while it is highlighted."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.widgets import OptionList

from tui.screens.list_dialog import ListDialog

if TYPE_CHECKING:
    from textual.timer import Timer

SETTLED_SECONDS = 0.05
"""Debounce of the highlight: to change the theme takes longer than a held key repeats."""


class ThemePicker(ListDialog):
    """Lists themes at the side, and calls ``preview`` with the highlighted one."""

    DEFAULT_CSS = """
    ThemePicker {
        align: right middle;
        Vertical { max-width: 32; }
    }
    """

    def __init__(
        self, names: Sequence[str], current: str, preview: Callable[[str], object]
    ) -> None:
        super().__init__("Theme", names, names.index(current))
        self._names = names
        self._preview = preview
        self._timer: Timer | None = None

    @on(OptionList.OptionHighlighted)
    def _show_later(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        name = self._names[event.option_index]
        self._timer = self.set_timer(SETTLED_SECONDS, lambda: self._preview(name))
