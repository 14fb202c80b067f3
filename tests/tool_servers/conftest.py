"""Servers of tools to test with."""

import json
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import SECONDS
from tui.config.settings_schema import ToolServerSettings
from tui.domain.tool_servers import AskUser, OfferedTool, ServerStatus, ToolResult
from tui.tool_servers import server as one_server
from tui.tool_servers.server import McpServers

RAW = str(Path(__file__).with_name("raw_server.py"))


def tool(name: str, **others: Any) -> dict[str, Any]:
    """A tool as a server describes it."""
    return {"name": name, "description": "", "inputSchema": {"type": "object"}, **others}


class OneServer:
    """The only one of the program's servers."""

    def __init__(self, servers: McpServers) -> None:
        self.servers = servers

    @property
    def status(self) -> ServerStatus:
        return self.servers.statuses()[0]

    async def start(self) -> ServerStatus:
        return (await self.servers.start())[0]


class RawServer(OneServer):
    """The server ``raw``."""

    def __init__(self, servers: McpServers, log: Path) -> None:
        super().__init__(servers)
        self._log = log

    @property
    def log(self) -> list[dict[str, Any]]:
        """The processes and messages that it has noted."""
        if not self._log.exists():
            return []
        # The last line may be half written.
        lines = self._log.read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    @property
    def processes(self) -> list[int]:
        return [line[key] for line in self.log for key in ("pid", "child") if key in line]

    @property
    def methods(self) -> list[str]:
        return [line["method"] for line in self.log if "method" in line]

    def tool(self, name: str) -> OfferedTool:
        return next(each for each in self.status.tools if each.name == name)

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        return await self.servers.call(self.tool(name), arguments)


@pytest.fixture(autouse=True)
def patient_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a server however slow the machine is; a test may set less."""
    monkeypatch.setattr(one_server, "START_SECONDS", SECONDS)
    monkeypatch.setattr(one_server, "GIVE_UP_SECONDS", SECONDS)
    monkeypatch.setattr(one_server, "_LIST_SECONDS", SECONDS)


RunRaw = Callable[..., AbstractAsyncContextManager[RawServer]]


@pytest.fixture
def raw_server(tmp_path: Path) -> RunRaw:
    """Run a server with the given faults; the keyword ``settings`` are more of its settings."""

    @asynccontextmanager
    async def run(
        settings: dict[str, Any] | None = None, ask: AskUser | None = None, **plan: Any
    ) -> AsyncGenerator[RawServer]:
        log = tmp_path / "log"
        argument = json.dumps({"log": str(log), **plan})
        command = (sys.executable, RAW, argument)
        configured = ToolServerSettings(**{"command": command, **(settings or {})})
        servers = McpServers({"raw": configured}, ask=ask)
        try:
            yield RawServer(servers, log)
        finally:
            await servers.close()

    return run


@pytest.fixture
async def raw(raw_server: RunRaw) -> AsyncGenerator[RawServer]:
    """A server without faults that has started."""
    async with raw_server() as raw:
        await raw.start()
        yield raw
