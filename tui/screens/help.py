"""Keys and commands, read off the bindings and the command table, so that they are true."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.keys import format_key
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.domain.commands import COMMANDS
from tui.domain.labels import pad_to_cells

_KEY_CELLS, _COMMAND_CELLS = 18, 28


class HelpScreen(ModalScreen[None]):
    """What can be done here; any of the closing keys leads back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1", "dismiss", "Close", priority=True),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 90%; max-width: 90; height: 90%; padding: 1 2;
        background: $panel; border: round $border;
    }
    """

    def __init__(
        self, keys: Mapping[str, Sequence[BindingType]], chosen: Mapping[str, str]
    ) -> None:
        """``keys`` are bindings by where they work, ``chosen`` the user's own keys by action."""
        super().__init__()
        self._keys = keys
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=True) as page:
            page.border_title = "Help"
            page.border_subtitle = "Escape closes this"
            yield Static(Content(self.text()), markup=False)

    def text(self) -> str:
        """The whole page."""
        lines: list[str] = []
        for where, bindings in self._keys.items():
            lines += [where, *self._key_lines(bindings), ""]
        commands = [_line(command.line, command.help, _COMMAND_CELLS) for command in COMMANDS]
        return "\n".join([*lines, "Commands", *commands])

    def _key_lines(self, bindings: Sequence[BindingType]) -> Iterator[str]:
        keys: dict[str, list[str]] = {}
        for binding in Binding.make_bindings(bindings):
            chosen = self._chosen.get(binding.id or "", binding.key).split(",")
            shown = binding.key_display or "".join(format_key(key.strip()) for key in chosen[:1])
            keys.setdefault(binding.description, []).append(shown)
        for description, shown in keys.items():
            if description:
                yield _line(", ".join(dict.fromkeys(shown)), description, _KEY_CELLS)


def _line(left: str, right: str, cells: int) -> str:
    return f"  {pad_to_cells(left, cells)} {right}"
