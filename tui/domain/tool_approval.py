"""The approval of tools: a question about one call, and an answer that outlives it."""

import json
from typing import Literal

import msgspec

from tui.domain.journal.message import ToolCall
from tui.domain.text.safe_text import make_visible, make_visible_name


class ToolApproval(msgspec.Struct, frozen=True):
    """A tool as it was when the user allowed it."""

    server: str
    """Empty for a tool of the program's own."""
    tool: str
    """Its own name at the server."""
    fingerprint: str
    """That of ``OfferedTool``: after a change the user is asked again."""

    def is_of(self, other: "ToolApproval") -> bool:
        """Tell whether both are about the same tool, changed or not."""
        return (self.server, self.tool) == (other.server, other.tool)

    @property
    def title(self) -> str:
        """The tool as the user is told it, in one line: ``files: read_file``; sanitised."""
        tool = make_visible_name(self.tool)
        return f"{self.server}: {tool}" if self.server else tool


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
