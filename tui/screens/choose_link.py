"""The choice of one link of several."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static

from tui.domain.text.safe_text import make_visible_line
from tui.screens.dialog import Dialog


class ChooseLinkScreen(Dialog[int | None]):
    """Lists links; the result is the index of the selected one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", show=False)]
    DEFAULT_CSS = """
    ChooseLinkScreen {
        align: center middle;
        #links { width: 90%; max-width: 100; height: auto; max-height: 90%; padding: 1 2;
                 background: $panel; border: round $primary; }
        OptionList { height: auto; max-height: 12; border: none; background: $panel; }
    }
    """

    def __init__(self, targets: Sequence[str]) -> None:
        super().__init__()
        self._targets = targets

    def compose(self) -> ComposeResult:
        with Vertical(id="links"):
            yield Static(Content("Open which link? Enter asks once more, Escape goes back."))
            yield OptionList(*[Content(make_visible_line(each)) for each in self._targets])

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_index)
