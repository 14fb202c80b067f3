"""The line of keys: what can be done where one is."""

from collections.abc import Iterable
from typing import ClassVar

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.binding import Binding
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.cells import one_line
from tui.widgets.key_names import short_key_name

_GAP = 2
_FAR = (App, Screen)


class _Key(msgspec.Struct, frozen=True):
    """A key and what it does; ``is_last`` is said at the end, whatever else there is room for."""

    name: str
    action: str
    is_last: bool = False

    @property
    def cells(self) -> int:
        return cell_len(self.name) + 1 + cell_len(self.action) + _GAP


class KeyLine(Widget):
    """One line of keys that work now, the nearest first; only whole ones, as many as fit.

    ``order`` are actions in the order in which they stand, after all that are not in it. The last
    of them is where the rest is found, and never left out.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--action"}
    DEFAULT_CSS = """
    KeyLine { width: 100%; height: 1; }
    """

    def __init__(self, order: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._order = order
        self._first: frozenset[str] = frozenset()
        self._keys: tuple[_Key, ...] = ()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._follow)  # pyright: ignore[reportUnknownMemberType]
        self._read_keys(self.screen)

    def show_first(self, actions: frozenset[str]) -> None:
        """Put these before all others, also where they are not shown as a rule."""
        if actions != self._first:
            self._first = actions
            self._follow(self.screen)

    def _follow(self, screen: Screen[object]) -> None:
        # Beneath another screen nothing works, and nobody wants to see that.
        if screen.is_active:
            self._read_keys(screen)

    def _read_keys(self, screen: Screen[object]) -> None:
        keys = tuple(self._shown_keys(screen))
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def _shown_keys(self, screen: Screen[object]) -> Iterable[_Key]:
        active = [each for each in screen.active_bindings.values() if each.enabled]
        # Textual's own order is not that of what is nearest.
        active.sort(key=lambda each: self._rank(each.binding, far=isinstance(each.node, _FAR)))
        shown: dict[str, _Key] = {}
        for binding in (each.binding for each in active):
            if binding.show or binding.id in self._first:
                is_last = bool(self._order) and binding.id == self._order[-1]
                name = binding.key_display or short_key_name(binding.key)
                words = one_line(binding.description)
                shown.setdefault(words, _Key(name, words, is_last))
        return shown.values()

    def _rank(self, binding: Binding, *, far: bool) -> int:
        if binding.id in self._first:
            return -1
        if binding.id in self._order:
            return 2 + self._order.index(binding.id)
        return int(far)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        key_style = self.get_component_rich_style("key-line--key")
        action_style = self.get_component_rich_style("key-line--action")
        segments = [Segment(" ", self.rich_style)]
        for key in self._fitting(width - 1 + _GAP):
            segments += [Segment(key.name, key_style), Segment(f" {key.action}", action_style)]
            segments.append(Segment(" " * _GAP, self.rich_style))
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _fitting(self, room: int) -> Iterable[_Key]:
        last = [key for key in self._keys if key.is_last and key.cells <= room]
        room -= sum(key.cells for key in last)
        for key in self._keys:
            if key.is_last:
                continue
            if key.cells > room:
                break
            room -= key.cells
            yield key
        yield from last
