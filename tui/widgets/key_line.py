"""The line of keys: what can be done where one is."""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.binding import ActiveBinding
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.cells import one_line
from tui.widgets.key_names import short_key_name

COPY_SELECTED = "copy-selected"
"""What is selected with the mouse can be copied."""

_GAP = 2
_FAR = (App, Screen)


class _Key(msgspec.Struct, frozen=True):
    """A key and what it does; one ``is_always`` said, whatever else there is room for."""

    name: str
    action: str
    is_always: bool = False

    @property
    def cells(self) -> int:
        return cell_len(self.name) + 1 + cell_len(self.action) + _GAP


_ABOVE = (_Key("↑ ↓", "Choose"), _Key("Enter", "Take it"), _Key("Esc", "Close", is_always=True))
"""What works in the palette, in a question and in whatever else is to be chosen from."""


class KeyLine(Widget):
    """One line of keys that work now, the nearest first; only whole ones, as many as fit.

    ``order`` are actions in the order in which they stand, after all that are not in it;
    ``always`` those for which there is room in any case. ``words`` gives what an action does where
    one is, if that is not what its description says: nothing if it is not worth telling there.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--action"}
    DEFAULT_CSS = """
    KeyLine { width: 100%; height: 1; }
    """

    def __init__(
        self,
        order: tuple[str, ...] = (),
        always: frozenset[str] = frozenset(),
        words: Callable[[], Mapping[str, str]] = dict[str, str],
    ) -> None:
        super().__init__()
        self._order = order
        self._always = always
        self._words = words
        self._keys: tuple[_Key, ...] = ()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._follow)  # pyright: ignore[reportUnknownMemberType]
        self._read_keys(self.screen)

    def show_those_above(self) -> None:
        """Say what works in what stands over this screen: of the keys here none does."""
        self._keys = _ABOVE
        self.refresh()

    def _follow(self, screen: Screen[object]) -> None:
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
        active.sort(key=lambda each: self._rank(each, screen))
        here = self._words()
        shown: dict[str, _Key] = {}
        if words := here.get(COPY_SELECTED, ""):
            # Bound to one thing in the prompt and to another beside it; both do it.
            shown[words] = _Key(short_key_name("ctrl+c"), words)
        for binding in (each.binding for each in active):
            does = here.get(binding.id or "", binding.description if binding.show else "")
            if words := one_line(does):
                name = binding.key_display or short_key_name(binding.key)
                shown.setdefault(words, _Key(name, words, binding.id in self._always))
        return shown.values()

    def _rank(self, key: ActiveBinding, screen: Screen[object]) -> int:
        if key.binding.id in self._order:
            return 3 + self._order.index(key.binding.id)
        if isinstance(key.node, _FAR):
            return 2
        return int(key.node is not screen.focused)

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
        room -= sum(key.cells for key in self._keys if key.is_always)
        for key in self._keys:
            if key.is_always:
                yield key
            elif key.cells <= room:
                room -= key.cells
                yield key
