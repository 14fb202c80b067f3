"""The line of keys: what can be done where one is."""

from collections.abc import Iterable
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.cells import one_line

_GAP = 2


class KeyLine(Widget):
    """One line of keys that work now, the nearest first; only whole ones, as many as fit."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--action"}
    DEFAULT_CSS = """
    KeyLine { width: 100%; height: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[tuple[str, str], ...] = ()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._read_keys)  # pyright: ignore[reportUnknownMemberType]
        self._read_keys(self.screen)

    def _read_keys(self, screen: Screen[object]) -> None:
        keys = tuple(self._shown_keys(screen))
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def _shown_keys(self, screen: Screen[object]) -> Iterable[tuple[str, str]]:
        shown: dict[str, str] = {}
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled and binding.description not in shown:
                shown[binding.description] = self.app.get_key_display(binding)  # pyright: ignore[reportUnknownMemberType]
        return [(key, description) for description, key in shown.items()]

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        key_style = self.get_component_rich_style("key-line--key")
        action_style = self.get_component_rich_style("key-line--action")
        segments = [Segment(" ", self.rich_style)]
        used = 1
        for key, action in self._keys:
            words = f" {one_line(action)}"
            cells = cell_len(key) + cell_len(words) + _GAP
            if used + cells > width + _GAP:
                break
            used += cells
            segments += [Segment(key, key_style), Segment(words, action_style)]
            segments.append(Segment(" " * _GAP, self.rich_style))
        return Strip(segments).adjust_cell_length(width, self.rich_style)
