"""The palette, imported when it is first opened to keep the start fast."""

from textual.app import ComposeResult
from textual.command import CommandInput, CommandList, CommandPalette

from tui.screens.dialog import Dialog
from tui.screens.palette import Actions, OwnCommands, SessionCommands, ThemeCommands
from tui.widgets.line_input import LineInput


class _PaletteInput(CommandInput, LineInput):
    """The query line. ``CommandInput`` is the first base: Textual styles a widget by that."""


class Palette(CommandPalette, Dialog[None]):  # pyright: ignore[reportIncompatibleMethodOverride] - of Textual's own
    """Textual's palette, with the line editor of this program."""

    def __init__(self) -> None:
        super().__init__({Actions, OwnCommands, SessionCommands, ThemeCommands})

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if isinstance(widget, CommandInput):
                yield _PaletteInput(placeholder=widget.placeholder, select_on_focus=False)
            else:
                yield widget

    def on_mount(self) -> None:
        # Textual's own keys, which nobody can rebind.
        self.query_one(CommandList).border_subtitle = "↑ ↓ choose · Enter run · Esc close"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # Textual crashes on a key that arrives before the rows have a size.
        if action == "command_list" and not any(each.size for each in self.query(CommandList)):
            return False
        return super().check_action(action, parameters)
