"""Servers of tools that do what they were told to do."""

import asyncio
from functools import partial
from pathlib import Path

import msgspec

from tests.builders import Clock
from tui.config.loading import UserSettings
from tui.config.settings_schema import Config, ToolSettings
from tui.domain.search.query import SearchResult
from tui.domain.tool_servers import OfferedTool, ServerStatus, ToolResult
from tui.engine.turns.built_in_tools import built_in_tools
from tui.engine.turns.tools import ToolSetup


def set_up(
    *names,
    servers=None,
    search=lambda query, limit: SearchResult(),
    file=Path(),
    clock=None,
    configured=None,
):
    """The program's own tools, those of these names switched on by ``config.toml``, and servers.

    ``configured`` are the servers that it names.
    """
    config = Config(tools=ToolSettings(enabled=names), mcp=configured or {})
    settings = UserSettings(config, None, file, {})
    return ToolSetup(settings, partial(built_in_tools, search, clock or Clock()), servers)


def offered(
    name="read_file", server="files", fingerprint="1", description="Read a file.", **properties
):
    """A tool of a server."""
    return OfferedTool(
        server=server,
        name=name,
        called=f"{server}__{name}",
        description=description,
        parameters={"type": "object", "properties": properties},
        fingerprint=fingerprint,
    )


class ScriptedServers:
    """One server, ``files``, which becomes ready when it is started; keeps what it was asked."""

    def __init__(self, *tools, state="ready", reason=""):
        self.tools = tools or (offered(),)
        self.becomes = ServerStatus("files", state, reason)
        self.status = ServerStatus("files", "not started")
        self.started, self.closed, self.restarted = 0, 0, []
        self.calls, self.cancelled = [], []
        self.question, self.answers, self.forgotten = None, [], []
        self.result = ToolResult("# Shop")
        self.may_start, self.may_answer = asyncio.Event(), asyncio.Event()
        self.may_start.set()
        self.may_answer.set()

    async def forget_sign_in(self, name):
        self.forgotten.append(name)
        return True

    async def put_question(self):
        """Ask the user, if there is a question."""
        if self.question is not None:
            self.answers.append(await self.ask(self.question))

    def statuses(self):
        return (self.status,)

    def offer(self, *tools):
        """Offer other tools from now on."""
        self.tools = tools
        self._become()

    def _become(self):
        tools = self.tools if self.becomes.state == "ready" else ()
        self.status = msgspec.structs.replace(self.becomes, tools=tools)

    async def start(self):
        self.started += 1
        await self.may_start.wait()
        if self.status.state == "not started":
            self._become()
        return self.statuses()

    async def restart(self, name):
        self.restarted.append(name)
        await self.put_question()
        self.becomes = ServerStatus(name, "ready")
        self._become()
        return self.status

    async def replace(self, name, by=None):
        raise NotImplementedError

    async def call(self, tool, arguments):
        self.calls.append((tool.name, arguments))
        try:
            await self.put_question()
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.cancelled.append(tool.name)
            raise
        return self.result

    async def close(self):
        self.closed += 1
