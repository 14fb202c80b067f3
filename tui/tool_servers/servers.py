"""The configured servers together: the program's ``ToolServers``."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tui.config import ToolServerSettings
from tui.domain.tool_servers import OfferedTool, ServerStatus, ToolResult
from tui.tool_servers.server import Server


class McpServers:
    """Servers of the Model Context Protocol; nothing is started or imported before ``start``."""

    def __init__(self, configured: Mapping[str, ToolServerSettings]) -> None:
        self._servers = {name: Server(name, each) for name, each in configured.items()}

    def statuses(self) -> tuple[ServerStatus, ...]:
        """Each server, in the order of the configuration."""
        return tuple(each.status for each in self._servers.values())

    async def start(self) -> tuple[ServerStatus, ...]:
        """Start those that are not started, all at once, and wait a while for each."""
        await asyncio.gather(*(each.start() for each in self._servers.values()))
        return self.statuses()

    async def restart(self, name: str) -> ServerStatus:
        """Stop a server and start it anew."""
        server = self._servers[name]
        await server.restart()
        return server.status

    async def call(self, tool: OfferedTool, arguments: dict[str, Any]) -> ToolResult:
        """Call a tool; whatever goes wrong is a result."""
        server = self._servers.get(tool.server)
        if server is None:
            return ToolResult(f"There is no tool server {tool.server}.", failed=True)
        return await server.call(tool, arguments)

    async def close(self) -> None:
        """End all servers at once."""
        await asyncio.gather(*(each.close() for each in self._servers.values()))
