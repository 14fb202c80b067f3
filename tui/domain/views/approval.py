"""What the user is asked before a tool does what a model called it for."""

import json
from typing import Literal

import msgspec

from tui.domain.journal.message import ToolCall
from tui.domain.text.safe_text import make_visible

Choice = Literal["once", "always", "deny"]
"""``always`` means this tool, as long as the program runs; it is never stored."""


class Question(msgspec.Struct, frozen=True, eq=False):
    """A call that waits for the user; two of them are never the same one.

    ``about`` says what the tool does.
    """

    session_id: str
    call: ToolCall
    about: str

    @property
    def arguments(self) -> str:
        """All that the tool would get, as lines that are harmless to a terminal."""
        text = json.dumps(self.call.arguments, ensure_ascii=False, indent=2)
        return make_visible(text)
