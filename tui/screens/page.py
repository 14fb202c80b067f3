"""Pages of text over the conversation: reports, the list of notices, and the help."""

import math
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.domain.commands import COMMANDS, Command
from tui.domain.text import make_visible_line
from tui.domain.views.notice import LoggedNotice
from tui.screens.dialog import Dialog
from tui.screens.keys import KeyHelpLine, key_lines
from tui.screens.typed_text import PassOn, is_free_text
from tui.widgets.cells import clean, fill, one_line, wrap_hanging, wrap_words
from tui.widgets.key_line import NOTICE_SIGNS
from tui.widgets.line_input import LineInput
from tui.widgets.sidebar.session_list import BAR, SIGNS

_FRAME = 5
"""Cells beside the text: border, padding and scrollbar."""
_SCROLL = "↑ ↓ scroll · "
_STYLES = {"information": "", "warning": "$text-warning", "error": "$text-error"}


class PageScreen(Dialog[None]):
    """A page of text that subclasses lay out by its width.

    It is there until Esc or the next typed text, which ``pass_on`` gives to the prompt; keys typed
    before it was seen do not close it. The last two rows of the screen below, notices and status,
    stay visible.
    """

    KEYS_BEFORE = _SCROLL
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", priority=True),
    ]
    DEFAULT_CSS = """
    PageScreen {
        align: center middle;

        & > VerticalScroll {
            width: 100%; max-width: 120; height: auto; max-height: 100%; padding: 0 1;
            scrollbar-size-vertical: 1;
            scrollbar-background: $surface; scrollbar-color: $foreground 30%;
        }
        Static { height: auto; }
    }
    """

    def __init__(self, title: str, pass_on: PassOn) -> None:
        super().__init__()
        self._pass_on = pass_on
        self._seen_from = math.inf
        self._title = title
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=True, classes="dialog") as page:
            page.border_title = Content(self._title)
            yield self._text

    def on_mount(self) -> None:
        self.call_after_refresh(lambda: setattr(self, "_seen_from", time.monotonic()))

    @property
    def is_seen(self) -> bool:
        """True once text closes it."""
        return self._seen_from < math.inf

    def takes_key(self, event: events.Key | events.Paste) -> bool:
        """Pass free text on, and close for it."""
        if not is_free_text(event, self):
            return False
        self._pass_on(event)
        if event.time >= self._seen_from:
            self.dismiss()
        return True

    def on_resize(self, event: events.Resize) -> None:
        self._text.update(self.lay_out(max(1, min(event.size.width, 120) - _FRAME)))

    def lay_out(self, width: int) -> Content:
        """Lay out the text in lines of at most so many cells."""
        raise NotImplementedError


class ReportScreen(PageScreen):
    """Shows a text of several lines."""

    def __init__(self, title: str, text: str, pass_on: PassOn) -> None:
        super().__init__(title, pass_on)
        self.text = text

    def lay_out(self, width: int) -> Content:
        lines = clean(self.text).split("\n")
        return Content("\n".join(row for line in lines for row in wrap_hanging(line, width)))


class NoticeList(PageScreen):
    """Each notice with its time, and with its session if that was not on screen; F8 closes it."""

    def __init__(
        self,
        notices: Sequence[LoggedNotice],
        now: datetime,
        pass_on: PassOn,
    ) -> None:
        super().__init__("Notices", pass_on)
        self._notices = notices
        self._today = now.astimezone().date()

    def lay_out(self, width: int) -> Content:
        if not self._notices:
            return Content("No notices yet.")
        return Content("\n").join(
            line for each in self._notices for line in self._lines(each, width)
        )

    def _lines(self, logged: LoggedNotice, width: int) -> Iterator[Content]:
        at, notice = logged.at.astimezone(), logged.notice
        time = f"{at:%H:%M}" if at.date() == self._today else f"{at:%d %b %H:%M}"
        lead = f"{time} {NOTICE_SIGNS[notice.severity]} "
        title = f'"{logged.title}": ' if logged.title else ""
        lines = map(make_visible_line, f"{title}{notice.text}".splitlines())
        rows = (row for line in lines for row in wrap_words(line, max(1, width - len(lead))))
        for number, text in enumerate(rows):
            margin = " " * len(lead) if number else lead
            yield Content.assemble((margin, "$text-muted"), (text, _STYLES[notice.severity]))


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
    KEYS_BEFORE = _SCROLL
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
            self._left.update(page_of(found[:left], width))
            self._right.update(page_of(found[left:], width))
        else:
            self._left.update(page_of(found, width - 2))

    @on(LineInput.Changed)
    def _begin_at_top(self, event: LineInput.Changed) -> None:
        event.stop()
        self._page.scroll_home(animate=False)

    def action_move(self, way: str) -> None:
        getattr(self._page, f"action_{way}")()


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


def page_of(sections: Sequence[Section], width: int) -> Content:
    """Lay out sections in lines of so many cells."""
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
