"""A session's to-do list, and what may become of it."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from tui.domain.text.labels import cell_width, cut_to_cells
from tui.domain.text.safe_text import make_visible_line
from tui.errors import UsageError

TodoStatus = Literal["pending", "in_progress", "completed"]

MOST_ITEMS = 100
ITEM_CHARACTERS = 500
"""How long what is to be done, and how it is called meanwhile, may be."""

_CELLS = 60
TOO_MANY = f"A to-do list has at most {MOST_ITEMS} items."
TOO_LONG = f"To-do is longer than {ITEM_CHARACTERS} characters."

SIGNS: dict[TodoStatus, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
"""How an item is marked wherever it is shown."""


class TodoItem(msgspec.Struct, frozen=True):
    """One thing to do; ``active_form`` says what is going on while it is being done."""

    content: str
    status: TodoStatus
    active_form: str

    @property
    def words(self) -> str:
        """What is said of it now: while it is being done, its active form."""
        active = self.active_form if self.status == "in_progress" else ""
        return active.strip() or self.content

    @property
    def short(self) -> str:
        """The same as one short line."""
        return cut_to_cells(make_visible_line(self.words), _CELLS)


Todos = tuple[TodoItem, ...]


def says_nothing(text: str) -> bool:
    """Whether a text would leave an item empty on screen."""
    return cell_width(make_visible_line(text).strip()) <= 0


def add(items: Todos, content: str) -> Todos:
    """A list with one more thing to do at its end.

    Raises ``UsageError`` for one that is too long, or too many.
    """
    if len(content) > ITEM_CHARACTERS:
        raise UsageError(TOO_LONG)
    if len(items) >= MOST_ITEMS:
        raise UsageError(TOO_MANY)
    return (*items, TodoItem(content, "pending", content))


def mark(items: Todos, number: int, status: TodoStatus) -> Todos:
    """A list in which an item has another status; numbers begin at 1.

    Raises ``UsageError`` for a number that no item has.
    """
    item = msgspec.structs.replace(_at(items, number), status=status)
    return (*items[: number - 1], item, *items[number:])


def remove(items: Todos, number: int) -> Todos:
    """A list without one of its items; else as ``mark``."""
    _at(items, number)
    return (*items[: number - 1], *items[number:])


def count_words(items: Sequence[TodoItem]) -> str:
    """How far a list has come."""
    done = sum(item.status == "completed" for item in items)
    running = sum(item.status == "in_progress" for item in items)
    return f"{done} of {len(items)} done" + (f", {running} in progress" if running else "")


def listing(items: Sequence[TodoItem]) -> str:
    """The whole list with the numbers that commands take."""
    lines = [f"To-dos: {count_words(items)}"]
    for number, item in enumerate(items, 1):
        lines.append(f"  {number}. {SIGNS[item.status]} {make_visible_line(item.words)}")
    return "\n".join(lines)


def _at(items: Todos, number: int) -> TodoItem:
    if not items:
        raise UsageError("No to-dos.")
    if not 1 <= number <= len(items):
        raise UsageError(f"To-do {number} out of range. Valid range is 1-{len(items)}.")
    return items[number - 1]
