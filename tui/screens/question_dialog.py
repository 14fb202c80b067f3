"""A question of a server of tools over another dialog."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui.screens.dialog import Dialog
from tui.widgets.question_panel import QuestionPanel


class QuestionDialog(Dialog[None]):
    """Shows a panel in the middle of the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "refuse", "Refuse", priority=True),
    ]
    DEFAULT_CSS = """
    QuestionDialog {
        align: center middle;
        QuestionPanel { width: 100%; max-width: 76; }
    }
    """

    def __init__(self, panel: QuestionPanel) -> None:
        super().__init__()
        self._panel = panel

    def compose(self) -> ComposeResult:
        self._panel.add_class("dialog")
        yield self._panel

    def on_mount(self) -> None:
        # No button: a key that was meant for the dialog below answers nothing.
        self._panel.focus()

    def action_refuse(self) -> None:
        self._panel.action_refuse()
