"""The line of keys that work where the focus is; for some seconds, a notice in its place."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.binding import ActiveBinding
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.text import late_pattern, make_visible_line
from tui.domain.views.notice import Notice, Severity
from tui.widgets.cells import cut, cut_start, one_line
from tui.widgets.keys import Key, short_key_name

if TYPE_CHECKING:
    from textual.timer import Timer

SECONDS = 2.0
"""The time that a notice has, in the place of the keys, if no other waits."""

LEAST_SECONDS: dict[Severity, float] = {"information": 1.0, "warning": 1.5, "error": 2.0}
"""The time that it has if another waits."""

MOST_WAITING = 5
"""Older ones give way to newer ones: the list has them all."""

NOTICE_SIGNS = {"information": "·", "warning": "!", "error": "✗"}
_NAMED = late_pattern(r'"[^"]+"|(?<!\S)~?/\S+')
_LEAST_CELLS = 8


def fit_notice(notice: Notice, width: int) -> str:
    """Fit the first line of a notice into so many cells; an ellipsis stands for the rest."""
    first, *more = notice.text.strip().split("\n")
    text = make_visible_line(first) + (" …" if more else "")
    excess = cell_len(text) - width
    longest = max(_NAMED.finditer(text), key=lambda found: cell_len(found[0]), default=None)
    if excess > 0 and longest:
        # The longest title is cut at its end, or the longest path at its beginning.
        room = max(_LEAST_CELLS, cell_len(longest[0]) - excess)
        is_title = longest[0].startswith('"')
        short = f'{cut(longest[0][:-1], room - 1)}"' if is_title else cut_start(longest[0], room)
        text = f"{text[: longest.start()]}{short}{text[longest.end() :]}"
    return cut(text, width)


class NoticeQueue(msgspec.Struct, eq=False):
    """Shows one notice after another; ``changed`` is called when another one is ``current``."""

    _set_timer: Callable[[float, Callable[[], None]], "Timer"]
    _changed: Callable[[], object]
    _clock: Callable[[], float] = time.monotonic
    _caused: deque[Notice] = msgspec.field(default_factory=deque[Notice])
    _waiting: deque[Notice] = msgspec.field(default_factory=lambda: deque(maxlen=MOST_WAITING))
    _timer: "Timer | None" = None
    _since: float = 0.0
    current: Notice | None = None
    unread: bool = False
    """True once a warning or an error has had its time, which may have been too short."""

    @property
    def waiting(self) -> int:
        """The number of notices that wait for the current one."""
        return len(self._caused) + len(self._waiting)

    def add(self, *notices: Notice) -> None:
        """Show those that were caused together in the place of earlier ones; queue the others."""
        caused = [notice for notice in notices if notice.caused]
        for notice in notices:
            if notice.caused:
                continue
            if notice not in (self.current, *self._waiting):
                self._waiting.append(notice)
            if self.current is None:
                self._advance()
            else:
                self._time()
                self._changed()
        if caused:
            now = self.current
            if now and not now.caused and self._clock() < self._since + LEAST_SECONDS[now.severity]:
                # It came by itself, and has not had its time.
                self._waiting.appendleft(now)
            self._caused = deque(caused)
            self._advance()

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away that is not true any more."""
        if notice in self._waiting:
            self._waiting.remove(notice)
        if notice == self.current:
            self.current = None
            self._advance()
        else:
            self._changed()

    def _advance(self) -> None:
        self.unread |= self.current is not None and self.current.severity != "information"
        waiting = self._caused or self._waiting
        self.current = waiting.popleft() if waiting else None
        self._since = self._clock()
        self._time()
        self._changed()

    def _time(self) -> None:
        """Set the end of the current notice, which depends on whether others wait."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self.current is not None:
            seconds = LEAST_SECONDS[self.current.severity] if self.waiting else SECONDS
            rest = self._since + seconds - self._clock()
            self._timer = self._set_timer(rest, self._advance)


COPY_SELECTED = "copy-selected"
"""The id of the action that copies a selection made with the mouse."""

_GAP = 2
_FAR = (App, Screen)


class _ShownKey(msgspec.Struct, frozen=True):
    """A key and its action; one that ``is_always`` shown is given room first."""

    name: str
    action: str
    is_always: bool = False

    @property
    def cells(self) -> int:
        return cell_len(self.name) + 1 + cell_len(self.action) + _GAP


class KeyLine(Widget):
    """Shows the keys that work now, those of the focused widget first, as many as fit.

    A notice takes their place for some seconds, also on a screen that is too small for keys.

    ``rows`` are the keys that have a place there, or are always shown. ``words`` returns names of
    actions that differ from their descriptions in this place; an empty name hides the action.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"key-line--{part}" for part in ("key", "action", "information", "warning", "error")
    }
    DEFAULT_CSS = """
    KeyLine { width: 100%; height: 1; }
    """

    def __init__(
        self,
        rows: Sequence[Key] = (),
        words: Callable[[], Mapping[str, str]] = dict[str, str],
    ) -> None:
        super().__init__()
        self._places = {row.id: row.line for row in rows if row.line}
        self._always = {row.id for row in rows if row.always}
        self._words = words
        self._keys: tuple[_ShownKey, ...] = ()
        self._question = ""
        self.notices = NoticeQueue(self.set_timer, self._show_notice)

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._follow)  # pyright: ignore[reportUnknownMemberType]
        self._follow(self.screen)

    def hide_keys(self) -> None:
        """Show no keys: while another screen is on top, it names its own."""
        self._keys = ()
        self.notices.unread = False
        self.refresh()

    def ask(self, question: str) -> None:
        """Show a question until it is replaced; empty for none."""
        self._question = question
        self._show_notice()

    def _show_notice(self) -> None:
        is_told = bool(self._question) or self.notices.current is not None
        self.set_class(is_told, "-noticing")
        self._follow(self.screen)
        self.refresh()

    def _follow(self, screen: Screen[object]) -> None:
        """Show the keys that work now; a screen that is not on top keeps its own."""
        if not screen.is_active:
            return
        active = [each for each in screen.active_bindings.values() if each.enabled]
        # Textual's own order does not begin with the focused widget.
        active.sort(key=lambda each: self._rank(each, screen))
        here = self._words()
        shown: dict[str, _ShownKey] = {}
        if words := here.get(COPY_SELECTED, ""):
            # The prompt and the screen have different bindings for it; both copy.
            shown[words] = _ShownKey(short_key_name("ctrl+c"), words)
        for binding in (each.binding for each in active):
            does = here.get(binding.id or "", binding.description if binding.show else "")
            if words := one_line(does):
                name = binding.key_display or short_key_name(binding.key)
                shown.setdefault(words, _ShownKey(name, words, binding.id in self._always))
        keys = tuple(shown.values())
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def _rank(self, key: ActiveBinding, screen: Screen[object]) -> int:
        if place := self._places.get(key.binding.id):
            return 2 + place
        if isinstance(key.node, _FAR):
            return 2
        return int(key.node is not screen.focused)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        if self._question:
            return self._notice_strip(Notice(self._question, "warning"), width)
        if self.notices.current is not None:
            return self._notice_strip(self.notices.current, width)
        key_style = self.get_component_rich_style("key-line--key")
        action_style = self.get_component_rich_style("key-line--action")
        segments = [Segment(" ", self.rich_style)]
        room = width - 1 + _GAP - sum(key.cells for key in self._keys if key.is_always)
        for key in self._keys:
            if not key.is_always:
                if key.cells > room:
                    continue
                room -= key.cells
            segments += [Segment(key.name, key_style), Segment(f" {key.action}", action_style)]
            segments.append(Segment(" " * _GAP, self.rich_style))
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _notice_strip(self, notice: Notice, width: int) -> Strip:
        style = self.get_component_rich_style(f"key-line--{notice.severity}")
        count = f"  +{self.notices.waiting}" if self.notices.waiting else ""
        sign = f" {NOTICE_SIGNS[notice.severity]} "
        text = fit_notice(notice, max(0, width - len(sign) - len(count) - 1))
        segments = [Segment(sign, style), Segment(text, style), Segment(count, self.rich_style)]
        return Strip(segments).adjust_cell_length(width, self.rich_style)
