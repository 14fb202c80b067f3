"""The question before a tool call of a model is run."""

import json
from typing import Literal

import msgspec

from tui.domain.journal.message import ToolCall
from tui.domain.text.safe_text import make_visible

Choice = Literal["once", "always", "deny"]
"""``always`` allows the tool until the program ends; it is never stored."""


class Question(msgspec.Struct, frozen=True, eq=False):
    """A call that waits for approval; compared by identity."""

    session_id: str
    call: ToolCall
    about: str
    """The effect of the tool: the rest of a sentence that begins with "it"."""

    @property
    def arguments(self) -> str:
        """The complete arguments as indented JSON, sanitised."""
        text = json.dumps(self.call.arguments, ensure_ascii=False, indent=2)
        return make_visible(text)
