"""The servers of tools, as the engine and the screen see them."""

from collections.abc import Callable
from typing import Any, Literal, Protocol

import msgspec

from tui.domain.journal.message import ToolCall
from tui.domain.text import make_visible_line, make_visible_name


class ToolApproval(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool as it was when the user allowed it."""

    server: str
    """Empty for a tool of the program's own."""
    tool: str
    """Its own name at the server."""
    fingerprint: str
    """That of ``OfferedTool``: after a change the user is asked again."""
    project: str = ""
    """The folder for whose sessions alone it is allowed; empty for all."""

    def is_of(self, other: "ToolApproval") -> bool:
        """Tell whether both are about the same tool, changed or not."""
        mine, theirs = (self.server, self.tool), (other.server, other.tool)
        return (*mine, self.project) == (*theirs, other.project)

    @property
    def title(self) -> str:
        """The tool as the user is told it, in one line: ``files: read_file``; sanitised."""
        tool = make_visible_name(self.tool)
        return f"{self.server}: {tool}" if self.server else tool


def tool_title(called: str) -> str:
    """A tool by the name that a model calls it by, as ``ToolApproval.title`` has it."""
    name = make_visible_line(called)
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}: {tool}" if server and tool else name


Choice = Literal["once", "until-quit", "always", "deny"]
"""``until-quit`` allows the tool until the program ends, ``always`` for good."""


class Decision(msgspec.Struct, frozen=True):
    """What the user answers to a question; the model is told the reason of a denial."""

    choice: Choice
    reason: str = ""


class Question(msgspec.Struct, frozen=True, eq=False):
    """A call that waits for approval; compared by identity."""

    session_id: str
    call: ToolCall
    about: str
    """Lines about the tool beside its name; foreign text."""
    tool: ToolApproval


ServerState = Literal["not started", "starting", "ready", "failed", "stopped"]


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool of a server, whose words are foreign text: bounded, but not sanitised."""

    server: str
    """The name of its table, ``[mcp.NAME]``."""
    name: str
    """Its own name at the server."""
    called: str
    """The name that a model is offered, ``server__tool``, unique among all servers.

    At most 64 ASCII letters, digits, ``_`` and ``-``.
    """
    description: str
    parameters: dict[str, Any]
    """A JSON schema of an object."""
    fingerprint: str
    """Differs after each change of its name, words or schema, or of the server's command or
    address: what was allowed for the one is not allowed for the other."""


class ServerStatus(msgspec.Struct, frozen=True):
    """A server at one moment."""

    name: str
    state: ServerState
    reason: str = ""
    """Of a failure, in a sentence without foreign control characters."""
    tools: tuple[OfferedTool, ...] = ()
    notice: str = ""
    """Sentences about tools that are left out, likewise sanitised."""


class ToolResult(msgspec.Struct, frozen=True):
    """The outcome of a call, as the model is told it; bounded, and cut where that is said."""

    text: str
    failed: bool = False


class SignIns(Protocol):
    """Sign-ins as they are kept, by the names of servers; all block, and raise ``StorageError``."""

    def read(self, server: str) -> dict[str, Any]:
        """Read one; empty if there is none."""
        ...

    def write(self, server: str, kept: dict[str, Any]) -> None:
        """Keep one, in the place of an earlier one."""
        ...

    def forget(self, server: str) -> bool:
        """Forget one, whatever its file is; false if there is none."""
        ...


class ServedResult(msgspec.Struct, frozen=True):
    """The outcome of a call of a tool that is served: text, and the same as a value for JSON."""

    text: str
    structured: dict[str, Any] | None = None
    """``None`` for a failure, whose text is the reason."""


class ServedTool(msgspec.Struct, frozen=True):
    """A tool that this program serves to others; ``call`` blocks, from any thread."""

    name: str
    title: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema of an object."""
    call: Callable[[dict[str, Any]], ServedResult]
