"""The least that a Textual application with the same widgets can be: what ours stands beside.

A list at the left, a log in the middle, a prompt below it and a line of status. It knows nothing
and keeps nothing; Alt+Down and Alt+Up show another text, as a switch does, and ``--stream`` adds
a word to it a hundred times a second.
"""

import sys
from typing import ClassVar

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static, TextArea

ROWS = 400
WORD = "streamed "


class Lines(ScrollView, can_focus=True):
    """Lines of plain text."""

    def __init__(self, lines: list[str], **options) -> None:
        super().__init__(**options)
        self._lines = lines

    def on_mount(self) -> None:
        self.show(self._lines)

    def show(self, lines: list[str]) -> None:
        """Show these, from their end."""
        self._lines = lines
        self.virtual_size = Size(0, len(lines))
        self.scroll_end(animate=False)
        self.refresh()

    def add(self, word: str) -> None:
        """Add a word to the last line, or begin another."""
        if len(self._lines[-1]) > 60:
            self.show([*self._lines, word])
        else:
            self._lines[-1] += word
            last = len(self._lines) - 1 - self.scroll_offset.y
            self.refresh(Region(0, last, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        place = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        text = self._lines[place] if place < len(self._lines) else ""
        return Strip([Segment(text, self.rich_style)]).adjust_cell_length(width, self.rich_style)


class Bare(App[None]):
    # Not by focus() in on_mount: keys that waited are given out before that.
    AUTO_FOCUS = "TextArea"
    CSS = """
    #list { width: 32; border-right: solid $panel; }
    #log { height: 1fr; scrollbar-size-vertical: 1; }
    TextArea { height: 3; border: round $border; }
    #status { dock: bottom; height: 1; background: $panel; }
    """
    BINDINGS: ClassVar = [
        Binding("alt+down", "other(1)", priority=True),
        Binding("alt+up", "other(-1)", priority=True),
        Binding("pageup", "page_up", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._number = 0
        self._log = Lines(_text(0), id="log")

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Lines([f"  entry {number}" for number in range(50)], id="list")
            with Vertical():
                yield self._log
                yield TextArea(highlight_cursor_line=False)
        yield Static("bare", id="status", markup=False)

    def on_mount(self) -> None:
        if "--stream" in sys.argv:
            self.set_interval(0.01, lambda: self._log.add(WORD))

    def action_other(self, step: int) -> None:
        self._number += step
        self._log.show(_text(self._number))

    def action_page_up(self) -> None:
        self._log.scroll_page_up(animate=False)


def _text(number: int) -> list[str]:
    """As many lines as the reader may page through, each with its number."""
    return [f"text {number} line {line} {'lorem ipsum ' * 5}" for line in range(ROWS)]


if __name__ == "__main__":
    Bare().run()
