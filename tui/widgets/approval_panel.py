"""The panel above the prompt that asks for the approval of a tool call.

It never takes the focus by itself: a user who is typing when it appears goes on typing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.tool_servers import Choice, Question
from tui.widgets.cells import cut, one_line
from tui.widgets.hints import hint
from tui.widgets.key_names import short_key_name
from tui.widgets.keys import APPROVAL
from tui.widgets.wrapping import wrap_words

_CHOICES: tuple[tuple[Choice, str, str, str], ...] = (
    ("once", "o", "Once", "Once"),
    ("until-quit", "u", "Until I quit", "For now"),
    ("always", "a", "Always", "Always"),
    ("deny", "d", "Deny", "Deny"),
)
"""The answers, with their keys and words; the last ones are for narrow places."""

_SAFE = 3
_GAP = "  "
_NARROW_GAP = " "


class ApprovalPanel(Widget, can_focus=True):
    """Asks about one tool call; hidden while none waits."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"approval-panel--{part}" for part in ("title", "arguments", "choice", "chosen")
    }
    BINDINGS: ClassVar[list[BindingType]] = [*APPROVAL]
    DEFAULT_CSS = """
    ApprovalPanel {
        height: auto;
        max-height: 50%;
        padding: 0 1;
        display: none;
    }
    """

    @dataclass(eq=False, repr=False)
    class Answered(Message):
        """The user answered a question."""

        question: Question
        choice: Choice

    def __init__(self, chosen_keys: Mapping[str, str] | None = None) -> None:
        """``chosen_keys`` are the user's own, by the ids of their bindings."""
        super().__init__()
        self._chosen_keys = chosen_keys or {}
        self.question: Question | None = None
        self._marked = _SAFE
        self._top = 0
        self._wrapped: tuple[int, Sequence[str]] = (0, ())

    def show(self, question: Question | None) -> None:
        """Show a question; none hides the panel."""
        if question is self.question:
            return
        self.question = question
        self._marked, self._top, self._wrapped = _SAFE, 0, (0, ())
        self.display = question is not None
        self.refresh(layout=True)
        self._show_hints()

    def take_keys(self) -> None:
        """Focus the question, if there is one."""
        if self.question is None:
            hint(self, "No tool is waiting for approval")
        else:
            self.focus()

    def action_choose(self, choice: Choice) -> None:
        """Post the answer and hide the panel: later keys answer nothing."""
        question = self.question
        if question is not None:
            self.show(None)
            self.post_message(self.Answered(question, choice))

    # Keys and clicks.

    def action_take(self) -> None:
        self.action_choose(_CHOICES[self._marked][0])

    def action_mark(self, step: int) -> None:
        self._marked = (self._marked + step) % len(_CHOICES)
        self.refresh()

    def action_scroll_lines(self, lines: int) -> None:
        most = max(0, len(self._lines()) - self._rows_for_lines())
        self._top = max(0, min(self._top + lines, most))
        self._show_hints()

    def action_scroll_pages(self, pages: int) -> None:
        self.action_scroll_lines(pages * max(1, self._rows_for_lines() - 1))

    def on_mouse_scroll_down(self) -> None:
        self.action_scroll_lines(2)

    def on_mouse_scroll_up(self) -> None:
        self.action_scroll_lines(-2)

    def on_click(self, event: events.Click) -> None:
        spot = event.get_content_offset(self)
        if spot is None or spot.y != self.content_size.height - 1:
            return
        column = 0
        labels, gap = self._labels()
        for choice, words in labels:
            if column <= spot.x < column + cell_len(words):
                self.action_choose(choice)
                return
            column += cell_len(words) + len(gap)

    def on_focus(self) -> None:
        self._show_hints()

    def on_blur(self) -> None:
        self._show_hints()

    def on_resize(self) -> None:
        # The question or the width is another: clamp the scroll position.
        self.action_scroll_lines(0)

    # Drawing.

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's signature
        return len(self._lines(width)) + 2

    def render_line(self, y: int) -> Strip:
        size = self.content_size
        if self.question is None or not size.width:
            return Strip.blank(size.width, self.rich_style)
        lines, place = self._lines(), self._top + y - 1
        if y == size.height - 1:
            strip = self._choices()
        elif y == 0:
            title = cut(f"? Allow {one_line(self.question.tool.title)}?", size.width)
            strip = Strip([Segment(title, self._style("title"))])
        else:
            line = cut(lines[place], size.width) if place < len(lines) else ""
            strip = Strip([Segment(line, self._style("arguments"))])
        return strip.adjust_cell_length(size.width, self.rich_style)

    def _key(self, action: str, usual: str) -> str:
        return short_key_name(self._chosen_keys.get(action, usual).split(",")[0])

    def _labels(self) -> tuple[Sequence[tuple[Choice, str]], str]:
        """The answers in words that fit, and the gap between them."""
        keys = [self._key(f"approval-{choice}", key) for choice, key, _, _ in _CHOICES]
        wide = [f"[{key}] {each[2]}" for key, each in zip(keys, _CHOICES, strict=True)]
        narrow = [f"{key} {each[3]}" for key, each in zip(keys, _CHOICES, strict=True)]
        fits = cell_len(_GAP.join(wide)) <= self.content_size.width
        words, gap = (wide, _GAP) if fits else (narrow, _NARROW_GAP)
        return [(each[0], label) for each, label in zip(_CHOICES, words, strict=True)], gap

    def _choices(self) -> Strip:
        segments: list[Segment] = []
        labels, gap = self._labels()
        for place, (_, words) in enumerate(labels):
            chosen = self.has_focus and place == self._marked
            segments.append(Segment(words, self._style("chosen" if chosen else "choice")))
            segments.append(Segment(gap, self.rich_style))
        return Strip(segments)

    def _show_hints(self) -> None:
        """Show the keys in the border, and the visible lines of the arguments."""
        first = "↑ ↓ scroll" if self.has_focus else f"{self._key('approval-focus', 'f3')} answers"
        words = f"{first} · {self._key('stop', 'escape')} denies"
        lines, rows = len(self._lines()), self._rows_for_lines()
        if lines > rows:
            last = min(self._top + rows, lines)
            words = f"{self._top + 1}-{last} of {lines} lines · {words}"
        self.border_subtitle = words
        self.refresh()

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"approval-panel--{part}")

    def _rows_for_lines(self) -> int:
        return max(1, self.content_size.height - 2)

    def _lines(self, width: int | None = None) -> Sequence[str]:
        """The wrapped arguments, by default at the present width."""
        if self.question is None:
            return ()
        width = max(1, self.content_size.width if width is None else width)
        if self._wrapped[0] != width:
            text = self.question.text.replace("\t", " ")
            lines = [each for line in text.split("\n") for each in wrap_words(line, width)]
            self._wrapped = width, lines
        return self._wrapped[1]

    def visible_text(self) -> str:
        """The text that is on screen."""
        rows = range(self.content_size.height)
        return "\n".join(self.render_line(y).text.rstrip() for y in rows)
