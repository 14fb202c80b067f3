"""A session's to-do list."""

from typing import Literal

import msgspec

TodoStatus = Literal["pending", "in_progress", "completed"]


class TodoItem(msgspec.Struct, frozen=True):
    """One thing to do; ``active_form`` says what is going on while it is being done."""

    content: str
    status: TodoStatus
    active_form: str
