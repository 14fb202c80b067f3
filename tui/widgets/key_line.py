"""The line of keys that work where the focus is; for some seconds, a notice in its place."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.binding import ActiveBinding
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.views.notice import Notice
from tui.widgets.cells import one_line
from tui.widgets.key_names import short_key_name
from tui.widgets.keys import Key
from tui.widgets.notice_queue import SIGNS, NoticeQueue, fit_notice

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
        self._read_keys(self.screen)

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
        if screen.is_active:
            self._read_keys(screen)

    def _read_keys(self, screen: Screen[object]) -> None:
        keys = tuple(self._shown_keys(screen))
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def _shown_keys(self, screen: Screen[object]) -> Iterable[_ShownKey]:
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
        return shown.values()

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
        for key in self._fitting(width - 1 + _GAP):
            segments += [Segment(key.name, key_style), Segment(f" {key.action}", action_style)]
            segments.append(Segment(" " * _GAP, self.rich_style))
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _notice_strip(self, notice: Notice, width: int) -> Strip:
        style = self.get_component_rich_style(f"key-line--{notice.severity}")
        count = f"  +{self.notices.waiting}" if self.notices.waiting else ""
        sign = f" {SIGNS[notice.severity]} "
        text = fit_notice(notice, max(0, width - len(sign) - len(count) - 1))
        segments = [Segment(sign, style), Segment(text, style), Segment(count, self.rich_style)]
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _fitting(self, room: int) -> Iterable[_ShownKey]:
        room -= sum(key.cells for key in self._keys if key.is_always)
        for key in self._keys:
            if key.is_always:
                yield key
            elif key.cells <= room:
                room -= key.cells
                yield key
