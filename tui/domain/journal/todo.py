"""The to-do list of a session and its changes."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from tui.domain.text import cell_width, cut_to_cells, make_visible_line
from tui.errors import UsageError

TodoStatus = Literal["pending", "in_progress", "completed"]

MOST_ITEMS = 100
ITEM_CHARACTERS = 500
"""Limit of ``content`` and of ``active_form``."""

_CELLS = 60
TOO_MANY = f"A to-do list has at most {MOST_ITEMS} items."
TOO_LONG = f"To-do is longer than {ITEM_CHARACTERS} characters."

SIGNS: dict[TodoStatus, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
"""The mark before an item."""


class TodoItem(msgspec.Struct, frozen=True):
    """One item of the list."""

    content: str
    status: TodoStatus
    active_form: str
    """The words while it is in progress: ``Writing tests`` for ``Write tests``."""

    @property
    def words(self) -> str:
        """The active form while in progress, else the content."""
        active = self.active_form if self.status == "in_progress" else ""
        return active.strip() or self.content

    @property
    def short(self) -> str:
        """``words`` as one line of at most 60 cells."""
        return cut_to_cells(make_visible_line(self.words), _CELLS)


Todos = tuple[TodoItem, ...]


def says_nothing(text: str) -> bool:
    """True for a text that would be invisible on screen."""
    return cell_width(make_visible_line(text).strip()) <= 0


def add(items: Todos, content: str) -> Todos:
    """Append an item. Raises ``UsageError`` if the text is too long or the list full."""
    if len(content) > ITEM_CHARACTERS:
        raise UsageError(TOO_LONG)
    if len(items) >= MOST_ITEMS:
        raise UsageError(TOO_MANY)
    return (*items, TodoItem(content, "pending", content))


def mark(items: Todos, number: int, status: TodoStatus) -> Todos:
    """Set the status of an item by its number, from 1. Raises ``UsageError`` if none has it."""
    item = msgspec.structs.replace(_at(items, number), status=status)
    return (*items[: number - 1], item, *items[number:])


def remove(items: Todos, number: int) -> Todos:
    """Remove an item. Raises as ``mark``."""
    _at(items, number)
    return (*items[: number - 1], *items[number:])


def count_words(items: Sequence[TodoItem]) -> str:
    """The progress: ``2 of 5 done, 1 in progress``."""
    done = sum(item.status == "completed" for item in items)
    running = sum(item.status == "in_progress" for item in items)
    return f"{done} of {len(items)} done" + (f", {running} in progress" if running else "")


def listing(items: Sequence[TodoItem]) -> str:
    """Format the list with the numbers that ``/todo`` takes."""
    lines = [f"To-dos: {count_words(items)}"]
    for number, item in enumerate(items, 1):
        lines.append(f"  {number}. {SIGNS[item.status]} {make_visible_line(item.words)}")
    return "\n".join(lines)


def _at(items: Todos, number: int) -> TodoItem:
    if not items:
        raise UsageError("No to-dos.")
    if not 1 <= number <= len(items):
        raise UsageError(f"There is no to-do {number} (1 to {len(items)}).")
    return items[number - 1]
