"""The tools of servers, in the form of the program's own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tui.domain.text.safe_text import make_visible_name
from tui.domain.tool_approval import ToolApproval
from tui.domain.tool_servers import OfferedTool, ServerStatus, ToolResult, ToolServers
from tui.engine.turns.tool import Run, Save
from tui.providers.protocol import ToolDefinition

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession


_WITHOUT = "this answer goes without its tools."


class NoToolServers:
    """Stands for the servers where none are configured."""

    def statuses(self) -> tuple[ServerStatus, ...]:
        return ()

    async def start(self) -> tuple[ServerStatus, ...]:
        return ()

    async def restart(self, name: str) -> ServerStatus:
        return ServerStatus(name, "stopped")

    async def call(self, tool: OfferedTool, arguments: dict[str, Any]) -> ToolResult:
        del arguments
        return ToolResult(f"Tool {tool.called} is not available.", failed=True)

    async def close(self) -> None:
        """There is nothing to end."""


class ServerTool:
    """A tool of a server."""

    def __init__(self, offered: OfferedTool, servers: ToolServers) -> None:
        self._offered = offered
        self._servers = servers

    @property
    def definition(self) -> ToolDefinition:
        offered = self._offered
        return ToolDefinition(offered.called, offered.description, offered.parameters)

    @property
    def about(self) -> str:
        # Its name must not look like further lines of the question, or like arguments.
        return f"Server: {self._offered.server}\nTool: {make_visible_name(self._offered.name)}"

    @property
    def approval(self) -> ToolApproval:
        return ToolApproval(self._offered.server, self._offered.name, self._offered.fingerprint)

    def prepare(self, arguments: Mapping[str, Any]) -> Run:
        async def run(_: "OpenSession", __: Save) -> str:
            # Its server says what is wrong with the arguments.
            return (await self._servers.call(self._offered, dict(arguments))).text

        return run


def server_tools(servers: ToolServers) -> tuple[ServerTool, ...]:
    """The tools of the servers that are ready."""
    return tuple(
        ServerTool(offered, servers)
        for status in servers.statuses()
        if status.state == "ready"
        for offered in status.tools
    )


def trouble_words(status: ServerStatus) -> str:
    """Say why tools of a server are not offered; empty if they are."""
    match status.state:
        case "ready":
            return f"{status.name}: {status.notice}" if status.notice else ""
        case "starting" | "not started":
            return f'The server "{status.name}" is still starting; {_WITHOUT}'
        case "failed" | "stopped":
            reason = f": {status.reason.rstrip('.')}" if status.reason else ""
            return f'The server "{status.name}" failed{reason}; {_WITHOUT}'
