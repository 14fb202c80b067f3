"""The panel above the prompt with the to-dos of the session on screen, as many as fit."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, get_args

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.journal.todo import SIGNS, TodoItem, TodoStatus, count_words
from tui.widgets.cells import cut, fill, one_line

ROWS_FOR_MORE = 30
"""On a screen of fewer rows the panel has one line, until it is unfolded."""

_SHARE, _SHARE_UNFOLDED = 6, 2
# From so many cells on, an item is followed by its status in words.
_CELLS_FOR_WORDS = 40

Part = Literal["title", "pending", "in-progress", "completed", "more"]
_PARTS: dict[TodoStatus, Part] = {
    "pending": "pending",
    "in_progress": "in-progress",
    "completed": "completed",
}
_WORDS: dict[TodoStatus, str] = {"pending": "", "in_progress": "in progress", "completed": "done"}
_IMPORTANCE: dict[TodoStatus, int] = {"in_progress": 0, "pending": 1, "completed": 2}


class TodoRow(msgspec.Struct, frozen=True):
    """A line of the panel; ``part`` names its style."""

    text: str
    part: Part


def lay_out(items: Sequence[TodoItem], rows: int, width: int) -> list[TodoRow]:
    """Fit the list into so many rows: items in progress first, then pending ones.

    Items keep their order, and the numbers that ``/todo`` takes.
    """
    if not items or rows < 1:
        return []
    if rows == 1:
        return [_one_row(items, width)]
    shown = _chosen(items, rows - 1)
    lines = [TodoRow(cut(f"To-dos: {count_words(items)}", width), "title")]
    for number in shown:
        item = items[number - 1]
        text = f"{SIGNS[item.status]} {number}. {one_line(item.words)}"
        if words := _WORDS[item.status] if width >= _CELLS_FOR_WORDS else "":
            text = f"{fill(text, width - len(words) - 2)}  {words}"
        lines.append(TodoRow(cut(text, width), _PARTS[item.status]))
    if len(shown) < len(items):
        lines.append(TodoRow(cut(f"+ {len(items) - len(shown)} more", width), "more"))
    return lines


def _chosen(items: Sequence[TodoItem], rows: int) -> list[int]:
    """Choose the items that are shown, by their numbers."""
    numbers = range(1, len(items) + 1)
    if len(items) <= rows:
        return list(numbers)
    by_importance = sorted(numbers, key=lambda number: _IMPORTANCE[items[number - 1].status])
    # One row less: it has the number of the others.
    return sorted(by_importance[: rows - 1])


def _one_row(items: Sequence[TodoItem], width: int) -> TodoRow:
    done = sum(item.status == "completed" for item in items)
    title = f"To-dos {done}/{len(items)}  "
    if done == len(items):
        return TodoRow(cut(f"{title}{SIGNS['completed']} all done", width), "completed")
    item = min(items, key=lambda item: _IMPORTANCE[item.status])
    more = len(items) - done - 1
    word = "next: " if item.status == "pending" else ""
    text = f"{title}{SIGNS[item.status]} {word}{one_line(item.words)}"
    # The title has the count already: the item is more important than this ending.
    endings = (f"  + {more} more", f"  +{more}") if more else ()
    fitting = (end for end in endings if cell_len(text) + cell_len(end) <= width)
    return TodoRow(cut(text + next(fitting, ""), width), _PARTS[item.status])


class TodoPanel(Widget):
    """Shows a to-do list; hidden for a session without one."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"todo-panel--{part}" for part in get_args(Part)}
    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")

    def __init__(self) -> None:
        super().__init__()
        self._items: Sequence[TodoItem] = ()
        self._chosen: Literal["more", "less"] | None = None
        self.display = False

    def show(self, items: Sequence[TodoItem]) -> None:
        """Show a list; an empty one hides the panel."""
        if items != self._items:
            self._items = items
            self.display = bool(items)
            self.refresh(layout=True)

    @on(events.Click)
    def fold(self) -> None:
        """Toggle between the usual size and a larger one, or one line if all fits already."""
        if self._chosen is not None:
            self._chosen = None
        else:
            is_whole = len(self._items) < self._usual_room(self.screen.size.height)
            self._chosen = "less" if is_whole else "more"
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's signature
        return len(lay_out(self._items, self._room(viewport.height), max(1, width)))

    def render_line(self, y: int) -> Strip:
        # Textual draws the padding.
        rows = lay_out(self._items, max(1, self.content_size.height), self.content_size.width)
        if y >= len(rows):
            return Strip.blank(self.content_size.width, self.rich_style)
        style = self.get_component_rich_style(f"todo-panel--{rows[y].part}")
        strip = Strip([Segment(rows[y].text, style)])
        return strip.adjust_cell_length(self.content_size.width, self.rich_style)

    def _room(self, screen_rows: int) -> int:
        match self._chosen:
            case "more":
                return max(1, screen_rows // _SHARE_UNFOLDED - 1)
            case "less":
                return 1
            case None:
                return self._usual_room(screen_rows)

    def _usual_room(self, screen_rows: int) -> int:
        return max(1, screen_rows // _SHARE) if screen_rows >= ROWS_FOR_MORE else 1
