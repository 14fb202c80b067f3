"""The panel above the prompt that asks for the approval of a tool call.

It never takes the focus by itself: a user who is typing when it appears goes on typing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from tui.domain.tool_servers import Choice, Decision, Question
from tui.widgets.cells import cut, one_line, wrap_words
from tui.widgets.keys import APPROVAL, REASON, short_key_name
from tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from tui.domain.views.tools import CallLine

_CHOICES: tuple[tuple[Choice, str, str, str], ...] = (
    ("once", "o,1", "Once", "Once"),
    ("until-quit", "u,2", "Until I quit", "For now"),
    ("always", "a,3", "Always", "Always"),
    ("deny", "d,n", "Deny", "Deny"),
)
"""The answers, with their keys and words; the last ones are for narrow places."""

_SAFE = 3
_GAP = "  "
_NARROW_GAP = " "
_LONGEST_REASON = 1000


class _ReasonLine(LineInput):
    """Takes the reason of a denial."""

    BINDINGS: ClassVar[list[BindingType]] = [*REASON]

    def action_leave(self) -> None:
        """Go back to the answers; what was typed stays for the next time."""
        if isinstance(self.parent, Widget):
            self.screen.set_focus(self.parent)


class ApprovalPanel(Widget, can_focus=True):
    """Asks about one tool call; hidden while none waits."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"approval-panel--{part}"
        for part in ("title", "field", "text", "frame", "command", "same", "removed", "added")
    } | {"approval-panel--choice", "approval-panel--chosen"}
    BINDINGS: ClassVar[list[BindingType]] = [*APPROVAL]
    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")

    @dataclass(eq=False, repr=False)
    class Answered(Message):
        """The user answered a question."""

        question: Question
        decision: Decision

    def __init__(self, chosen_keys: Mapping[str, str] | None = None) -> None:
        """``chosen_keys`` are the user's own, by the ids of their bindings."""
        self.reason = _ReasonLine(
            placeholder="Reason, for the model",
            compact=True,
            select_on_focus=False,
            max_length=_LONGEST_REASON,
        )
        super().__init__(self.reason)
        self._chosen_keys = chosen_keys or {}
        self.question: Question | None = None
        self._marked = _SAFE
        self._top = 0
        self._wrapped: tuple[int, Sequence[CallLine]] = (0, ())
        self.display = False

    def show(self, question: Question | None) -> None:
        """Show a question; none hides the panel."""
        if question is self.question:
            return
        self.question = question
        self._marked, self._top, self._wrapped = _SAFE, 0, (0, ())
        self.reason.value, self.reason.display = "", False
        self.display = question is not None
        self.refresh(layout=True)
        self._show_hints()

    def take_keys(self) -> None:
        """Focus the question."""
        if not self.reason.has_focus:
            self.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave all keys to the line of the reason while that is typed."""
        return self.has_focus and super().check_action(action, parameters)

    def action_choose(self, choice: Choice | None = None, reason: str = "") -> None:
        """Post an answer, by default the marked one, and hide the panel: later keys do nothing."""
        question = self.question
        if question is not None:
            decision = Decision(choice or _CHOICES[self._marked][0], reason)
            self.show(None)
            self.post_message(self.Answered(question, decision))

    # Keys and clicks.

    def action_deny(self) -> None:
        """Open the line for a reason."""
        self.reason.display = True
        self.screen.set_focus(self.reason)

    @on(Input.Submitted)
    def _deny(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_choose("deny", event.value.strip())

    def action_mark(self, step: int) -> None:
        self._marked = (self._marked + step) % len(_CHOICES)
        self.refresh()

    def action_scroll_lines(self, lines: int) -> None:
        most = max(0, len(self._rows()) - self._rows_for_lines())
        self._top = max(0, min(self._top + lines, most))
        self._show_hints()

    def action_scroll_pages(self, pages: int) -> None:
        self.action_scroll_lines(pages * max(1, self._rows_for_lines() - 1))

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _turn_wheel(self, event: events.MouseEvent) -> None:
        self.action_scroll_lines(2 if isinstance(event, events.MouseScrollDown) else -2)

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

    def watch_has_focus(self, _has_focus: bool) -> None:  # noqa: FBT001 - Textual's signature
        super().watch_has_focus(_has_focus)
        if _has_focus:
            self.reason.display = False
        self._show_hints()

    def on_resize(self) -> None:
        # The question or the width is another: clamp the scroll position.
        self.action_scroll_lines(0)

    # Drawing.

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's signature
        return len(self._rows(width)) + 2

    def render_line(self, y: int) -> Strip:
        size = self.content_size
        rows, place = self._rows(), self._top + y - 1
        is_below = len(rows) <= place and 0 < y < size.height - 1
        if self.question is None or not size.width or is_below:
            return Strip.blank(size.width, self.rich_style)
        if y == size.height - 1:
            labels, gap = self._labels()
            segments: list[Segment] = []
            for place, (_, words) in enumerate(labels):
                chosen = self.has_focus and place == self._marked
                segments.append(Segment(words, self._style("chosen" if chosen else "choice")))
                segments.append(Segment(gap, self.rich_style))
            strip = Strip(segments)
        elif y == 0:
            title = cut(f"? Allow {one_line(self.question.tool.title)}?", size.width)
            strip = Strip([Segment(title, self._style("title"))])
        else:
            row = rows[place]
            own = self._style(row.kind)
            frame = own if row.kind in ("removed", "added") else self._style("frame")
            strip = Strip([Segment(row.lead, frame), Segment(cut(row.text, size.width), own)])
        return strip.adjust_cell_length(size.width, self.rich_style)

    def _keys(self, action: str, usual: str) -> Sequence[str]:
        return [*map(short_key_name, self._chosen_keys.get(action, usual).split(","))]

    def _labels(self) -> tuple[Sequence[tuple[Choice, str]], str]:
        """The answers in words that fit, and the gap between them."""
        keys = [self._keys(f"approval-{choice}", keys) for choice, keys, _, _ in _CHOICES]
        wide = [f"[{' '.join(own)}] {each[2]}" for own, each in zip(keys, _CHOICES, strict=True)]
        narrow = [f"{own[0]} {each[3]}" for own, each in zip(keys, _CHOICES, strict=True)]
        fits = cell_len(_GAP.join(wide)) <= self.content_size.width
        words, gap = (wide, _GAP) if fits else (narrow, _NARROW_GAP)
        return [(each[0], label) for each, label in zip(_CHOICES, words, strict=True)], gap

    @on(events.DescendantFocus)
    def _show_hints(self) -> None:
        """Show the keys in the border, and the visible lines of the arguments."""
        stop = self._keys("stop", "escape")[0]
        if self.reason.has_focus:
            words = f"Enter denies · {stop} denies without a reason"
        elif self.has_focus:
            words = f"↑ ↓ scroll · {stop} denies"
        else:
            words = f"{self._keys('approval-focus', 'f3')[0]} or ↓ answers · {stop} denies"
        lines, rows = len(self._rows()), self._rows_for_lines()
        if lines > rows:
            last = min(self._top + rows, lines)
            words = f"{self._top + 1}-{last} of {lines} lines · {words}"
        self.border_subtitle = words
        self.refresh()

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"approval-panel--{part}")

    def _rows_for_lines(self) -> int:
        return max(1, self.content_size.height - 2)

    def _rows(self, width: int | None = None) -> "Sequence[CallLine]":
        """The wrapped call, by default at the present width."""
        if self.question is None:
            return ()
        width = max(1, self.content_size.width if width is None else width)
        if self._wrapped[0] != width:
            self._wrapped = width, [*_wrapped(self.question, width)]
        return self._wrapped[1]


def _wrapped(question: Question, width: int) -> "Iterator[CallLine]":
    from tui.domain.views.tools import CallLine, call_lines

    for line in call_lines(question.about, question.call.arguments):
        # Where the text would have too little room, what is before it is cut.
        room = max(1, width // 2, width - len(line.hang))
        for place, text in enumerate(wrap_words(line.text, room)):
            lead = line.hang if place else line.lead
            yield CallLine(line.kind, lead[max(0, len(lead) - width + room) :], text)
