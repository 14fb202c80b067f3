"""The palette itself, loaded when it is first opened: each kind of widget takes a while."""

from textual.app import ComposeResult
from textual.command import CommandInput, CommandList, CommandPalette

from tui.screens.dialog import Dialog
from tui.widgets.line_input import LineInput


class _Query(CommandInput, LineInput):
    """What is looked for. Textual dresses a widget by its first kind."""


class Palette(CommandPalette, Dialog[None]):  # pyright: ignore[reportIncompatibleMethodOverride] - of Textual's own
    """Textual's, with a line to type in as all others are."""

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if isinstance(widget, CommandInput):
                yield _Query(placeholder=widget.placeholder, select_on_focus=False)
            else:
                yield widget

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # A key may come before the rows have a size: Textual looks for one in vain, and ends.
        if action == "command_list" and not any(each.size for each in self.query(CommandList)):
            return False
        return super().check_action(action, parameters)
