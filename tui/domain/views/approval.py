"""The question before a tool call of a model is run."""

import json
from typing import Literal

import msgspec

from tui.domain.journal.message import ToolCall
from tui.domain.text.safe_text import make_visible
from tui.domain.tool_approval import ToolApproval

Choice = Literal["once", "until-quit", "always", "deny"]
"""``until-quit`` allows the tool until the program ends, ``always`` for good."""


class Question(msgspec.Struct, frozen=True, eq=False):
    """A call that waits for approval; compared by identity."""

    session_id: str
    call: ToolCall
    about: str
    """Lines about the tool; foreign text."""
    tool: ToolApproval

    @property
    def arguments(self) -> str:
        """The complete arguments as indented JSON, sanitised."""
        text = json.dumps(self.call.arguments, ensure_ascii=False, indent=2)
        return make_visible(text)

    @property
    def text(self) -> str:
        """The whole call: the lines about the tool, and its arguments; sanitised."""
        return f"{make_visible(self.about)}\n{self.arguments}"
