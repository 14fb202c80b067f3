"""Dialogs to choose one row of a list; the one of the themes shows each that is highlighted."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static

from tui.domain.text import make_visible, make_visible_line
from tui.screens.dialog import Dialog

if TYPE_CHECKING:
    from textual.timer import Timer

SETTLED_SECONDS = 0.05
"""Debounce of the highlight: to change the theme takes longer than a held key repeats."""


class ListDialog(Dialog[int | None]):
    """A title, what it is about, and rows; the result is the index of the chosen row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: the list binds the same key, and names it nowhere.
        Binding("enter", "choose", "Choose", priority=True),
        Binding("escape", "dismiss", "Back"),
    ]
    DEFAULT_CSS = """
    ListDialog {
        align: center middle;
        Vertical { width: 100%; max-width: 100; height: auto; max-height: 100%; padding: 0 1; }
        .list-dialog--detail { color: $text-muted; margin-bottom: 1; }
        OptionList {
            height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
            scrollbar-size-vertical: 1;
            scrollbar-background: $surface; scrollbar-color: $foreground 30%;
            &:focus { border: none; background-tint: $foreground 0%; }
        }
    }
    """

    def __init__(
        self, title: str, rows: Sequence[str], highlighted: int = 0, *, detail: str = ""
    ) -> None:
        super().__init__()
        self._title = title
        self._detail = detail
        self.list = OptionList(*[Content(make_visible_line(row)) for row in rows], markup=False)
        self.list.highlighted = highlighted

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._title)
            if self._detail:
                yield Static(Content(make_visible(self._detail)), classes="list-dialog--detail")
            yield self.list

    def action_choose(self) -> None:
        self.list.action_select()

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_index)


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
