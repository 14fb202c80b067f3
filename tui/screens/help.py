"""The help screen, derived from the bindings, the command table and the marks."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.domain.commands import COMMANDS, Command
from tui.domain.text import make_visible_line
from tui.screens.dialog import Dialog
from tui.screens.key_help import KeyHelpLine, key_lines
from tui.widgets.cells import fill, one_line
from tui.widgets.line_input import LineInput
from tui.widgets.sidebar.session_list import BAR, SIGNS

_KEY_CELLS = 17
_TWO_COLUMNS_FROM = 120
_LEAST_COLUMNS = 40
_COMMANDS = "Commands, typed into the prompt"
_OWN = "Commands of your own"
_MARKS = "Marks in the list of sessions"
_LEFT = 3
"""Sections in the left of two columns."""
_MOVES = {"up": "scroll_up", "down": "scroll_down", "pageup": "page_up", "pagedown": "page_down"}
"""The keys that scroll, by the actions of Textual's container."""

Section = tuple[str, Sequence[KeyHelpLine]]

_ASIDE = (
    KeyHelpLine("5m 3h 2d", "Time since it was last used; after a week, the date"),
    KeyHelpLine("6 msgs", "Number of messages, if the list is wide"),
)


class HelpScreen(Dialog[None]):
    """Keys, commands and marks, filtered while the user types; F1 also closes it."""

    AUTO_FOCUS = "LineInput"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", priority=True),
        # With priority: the line binds some of them.
        *(Binding(key, f"move('{way}')", priority=True, show=False) for key, way in _MOVES.items()),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > Vertical {
        width: 100%; max-width: 160; height: 100%; max-height: 64; padding: 0 1;
        LineInput { height: 1; width: 100%; border: none; padding: 0; background: $panel; }
    }
    HelpScreen VerticalScroll {
        scrollbar-size-vertical: 1;
        scrollbar-background: $surface; scrollbar-color: $foreground 30%;
    }
    HelpScreen Horizontal { height: auto; }
    HelpScreen Horizontal Vertical { width: 1fr; height: auto; padding: 0 1; }
    HelpScreen .help--page { height: auto; }
    """

    def __init__(
        self,
        keys: Mapping[str, Sequence[BindingType]],
        chosen: Mapping[str, str],
        own: Sequence[Command] = (),
    ) -> None:
        """``keys`` are bindings by section, ``chosen`` and ``own`` the user's keys and commands."""
        super().__init__()
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
        self.filter = LineInput(
            placeholder="type to filter, or one key", compact=True, max_length=100
        )
        self._page = VerticalScroll(can_focus=False)
        self._left = Static(classes="help--page", markup=False)
        self._right = Static(classes="help--page", markup=False)
        self._column = Vertical(self._right)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = "Help"
            yield self.filter
            with self._page, Horizontal():
                with Vertical():
                    yield self._left
                yield self._column

    def key_words(self) -> str:
        return f"↑ ↓ scroll · {super().key_words()}"

    @on(events.Resize)
    @on(LineInput.Changed)
    def _show(self) -> None:
        found = matching(self.sections, self.filter.value.strip()) or [("Nothing matches", ())]
        # With a minimum: in a smaller window lines are cut off.
        width = max(_LEAST_COLUMNS, min(self.size.width, 160)) - 5
        two = self.size.width >= _TWO_COLUMNS_FROM
        self._column.display = two
        if two:
            width = width // 2 - 2
            left = _LEFT if len(found) == len(self.sections) else (len(found) + 1) // 2
            self._left.update(_page_of(found[:left], width))
            self._right.update(_page_of(found[left:], width))
        else:
            self._left.update(_page_of(found, width - 2))

    @on(LineInput.Changed)
    def _begin_at_top(self, event: LineInput.Changed) -> None:
        event.stop()
        self._page.scroll_home(animate=False)

    def action_move(self, way: str) -> None:
        getattr(self._page, f"action_{way}")()

    def text(self) -> str:
        """The whole page."""
        return _page_of(self.sections, 100).plain


def matching(sections: Sequence[Section], words: str) -> Sequence[Section]:
    """Keep the lines that have all words; for one character those of that key, if it is one."""
    wanted, with_key, with_all = words.casefold().split(), list[Section](), list[Section]()
    for where, lines in sections:
        of_key = [each for each in lines if words in each.typed.replace(" or ", ", ").split(", ")]
        if of_key and len(words) == 1:
            with_key.append((where, of_key))
        texts = {each: f"{where} {each.typed} {each.does}".casefold() for each in lines}
        if fitting := [each for each in lines if all(word in texts[each] for word in wanted)]:
            with_all.append((where, fitting))
    return with_key or with_all


def _command_section(heading: str, commands: Sequence[Command]) -> Section:
    return heading, [KeyHelpLine(each.line, make_visible_line(each.help)) for each in commands]


def _page_of(sections: Sequence[Section], width: int) -> Content:
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
