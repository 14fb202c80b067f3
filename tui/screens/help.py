"""The help screen, derived from the bindings, the command table and the marks."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.domain.commands import COMMANDS, Command
from tui.domain.text.safe_text import make_visible_line
from tui.screens.key_help import KeyHelpLine, key_lines
from tui.screens.page import TextDialog
from tui.screens.typed_text import PassOn
from tui.widgets.cells import fill, one_line
from tui.widgets.sidebar.row_drawing import BAR, SIGNS

_KEY_CELLS = 17
_TWO_COLUMNS_FROM = 120
_LEAST_COLUMNS = 40
_COMMANDS = "Commands, typed into the prompt"
_OWN = "Commands of your own"
_MARKS = "Marks in the list of sessions"
_LEFT = 3
"""Sections in the left of two columns."""

Section = tuple[str, Sequence[KeyHelpLine]]

_ASIDE = (
    KeyHelpLine("5m 3h 2d", "Time since it was last used; after a week, the date"),
    KeyHelpLine("6 msgs", "Number of messages, if the list is wide"),
)


class HelpScreen(TextDialog):
    """Keys, commands and marks; F1 also closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", priority=True),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 100%; max-width: 160; height: 100%; max-height: 64; padding: 0 1;
        scrollbar-size-vertical: 1;
        scrollbar-background: $surface; scrollbar-color: $foreground 30%;
    }
    HelpScreen Horizontal { height: auto; }
    HelpScreen Vertical { width: 1fr; height: auto; padding: 0 1; }
    HelpScreen .help--page { height: auto; }
    """

    def __init__(
        self,
        keys: Mapping[str, Sequence[BindingType]],
        chosen: Mapping[str, str],
        pass_on: PassOn,
        own: Sequence[Command] = (),
    ) -> None:
        """``keys`` are bindings by section, ``chosen`` and ``own`` the user's keys and commands."""
        super().__init__(pass_on)
        sections = [(where, list(key_lines(rows, chosen))) for where, rows in keys.items()]
        marks = [(sign, mark.value.capitalize()) for mark, (sign, _) in SIGNS.items() if mark]
        mark_lines = [KeyHelpLine(sign, words) for sign, words in ((BAR, "On screen"), *marks)]
        list_end = _LEFT + 1
        self.sections = [
            *sections[:_LEFT],
            _command_section(_COMMANDS, COMMANDS),
            *([_command_section(_OWN, own)] if own else []),
            *sections[_LEFT:list_end],
            (_MARKS, [*mark_lines, *_ASIDE]),
            *sections[list_end:],
        ]
        self._left = Static(classes="help--page", markup=False)
        self._right = Static(classes="help--page", markup=False)

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=True, classes="dialog") as page:
            page.border_title = "Help"
            with Horizontal():
                with Vertical():
                    yield self._left
                with Vertical() as column:
                    self._column = column
                    yield self._right

    def on_resize(self, event: events.Resize) -> None:
        # With a minimum: in a smaller window lines are cut off.
        width = max(_LEAST_COLUMNS, min(event.size.width, 160)) - 5
        two = event.size.width >= _TWO_COLUMNS_FROM
        self._column.display = two
        if two:
            width = width // 2 - 2
            self._left.update(_page(self.sections[:_LEFT], width))
            self._right.update(_page(self.sections[_LEFT:], width))
        else:
            self._left.update(_page(self.sections, width - 2))

    def text(self) -> str:
        """The whole page."""
        return _page(self.sections, 100).plain


def _command_section(heading: str, commands: Sequence[Command]) -> Section:
    return heading, [KeyHelpLine(each.line, make_visible_line(each.help)) for each in commands]


def _page(sections: Sequence[Section], width: int) -> Content:
    parts: list[Content] = []
    for heading, lines in sections:
        parts += [Content.styled(heading, "bold $text-primary"), Content("\n")]
        for line in lines:
            parts += _shown(line, min(_KEY_CELLS, width // 3), width)
        parts.append(Content("\n"))
    return Content("").join(parts[:-1])


def _shown(line: KeyHelpLine, cells: int, width: int) -> Iterator[Content]:
    """Format a line; both columns wrap with a hanging indent."""
    typed = one_line(line.typed)
    rows = textwrap.wrap(line.does, max(10, width - cells - 4)) or [""]
    indent = " " * (cells + 4)
    if len(typed) > cells:
        lines = textwrap.wrap(typed, width - 4, break_on_hyphens=False)
        yield Content.styled("  " + "\n    ".join(lines) + "\n", "$text-accent")
        yield Content(indent)
    else:
        yield Content.styled(f"  {fill(typed, cells)}  ", "$text-accent")
    yield Content(f"\n{indent}".join(rows) + "\n")
