"""A session with a server, by the library of the protocol. Importing this takes a second."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

import tui
from tui.domain.tool_servers import read_question
from tui.tool_servers import silence
from tui.tool_servers.context import ServerContext, ServerFailed, SessionForgotten
from tui.tool_servers.http import SESSION_FORGOTTEN, AddressState, open_address
from tui.tool_servers.messages import UNREADABLE
from tui.tool_servers.stdio import ProgramStreams, open_program

_VERSION = "2025-11-25"
# A server may know newer ones than the library: what is used of it has not changed.
_KNOWN_VERSION = re.compile(r"20(?:2[4-9]|[3-9]\d)-\d\d-\d\d$")
_MOST_LISTED = 10_000
_MOST_PAGES = 100
_MOST_QUESTIONS = 10
"""Questions of a server while calls run; it is given no answer to any further one."""

silence()


def load() -> None:
    """Load what the library would load on the event loop; blocks."""
    anyio.run(anyio.sleep, 0)


@dataclass(eq=False, repr=False)
class McpSession:
    """A session. Calls may come from any task."""

    _dispatcher: JSONRPCDispatcher
    state: AddressState | ProgramStreams
    _context: ServerContext
    _running: int = 0
    _asked: int = 0
    forgotten: str = ""
    """Why the server knows the session no more; it ends with its running requests."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server says that its list of tools has changed."""

    async def initialise(self, seconds: float) -> None:
        """Begin the session. Raises ``ServerFailed``, also if it does not answer in time."""
        can_ask = self._context.ask is not None
        asked: dict[str, Any] = {
            "protocolVersion": _VERSION,
            "capabilities": {"elicitation": {"form": {}, "url": {}}} if can_ask else {},
            "clientInfo": {"name": "sibyl-tui", "version": tui.__version__},
        }
        try:
            async with self._context.limit(seconds):
                answer = await self._dispatcher.send_raw_request(
                    "initialize", asked, {"cancel_on_abandon": False}
                )
        except TimeoutError:
            said = await self.state.ending() or f"It did not answer within {seconds:g} seconds"
            raise ServerFailed(said) from None
        except MCPError as error:
            raise ServerFailed(await self._end_or(self._context.hide(error.message))) from None
        spoken = answer.get("protocolVersion", _VERSION)
        if not isinstance(spoken, str) or not _KNOWN_VERSION.match(spoken):
            raise ServerFailed(
                f"It speaks version {str(spoken)[:20]} of the protocol, not {_VERSION}"
            )
        headers = {"mcp-protocol-version": spoken}
        await self._dispatcher.notify("notifications/initialized", None, {"headers": headers})

    async def list_tools(self) -> AsyncGenerator[list[object]]:
        """Ask for the tools, as the server describes them, by pages. Raises ``ServerFailed``."""
        cursors: set[object] = {None}
        listed, cursor = 0, None
        for _ in range(_MOST_PAGES):
            page = await self._request("tools/list", {"cursor": cursor} if cursor else None)
            tools = _listed(page.get("tools", page.get("content")))
            yield tools
            listed += len(tools)
            cursor = page.get("nextCursor")
            # One that does not advance ends the list.
            if not isinstance(cursor, str) or cursor in cursors or listed > _MOST_LISTED:
                break
            cursors.add(cursor)

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; cancelling it cancels it at the server. Raises ``ServerFailed``."""
        return await self._request("tools/call", {"name": name, "arguments": arguments})

    async def _request(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        # The library's own verbs refuse a whole list for one odd tool, and validate results by
        # a foreign schema, whose patterns may take minutes.
        if not self._running:
            self._asked = 0
        self._running += 1
        try:
            return await self._dispatcher.send_raw_request(method, params)
        except MCPError as error:
            code, said = error.code, error.message
            is_told = code == types.REQUEST_TIMEOUT and "session not found" in said.lower()
            if code == SESSION_FORGOTTEN or is_told:
                self.forgotten = said
                raise SessionForgotten(said) from None
            if code == types.METHOD_NOT_FOUND and method == "tools/list":
                return {}
            if code == types.URL_ELICITATION_REQUIRED:
                raise ServerFailed(await self._ask_to_open(error)) from None
            # The library's own words are those of its parser.
            if code == types.PARSE_ERROR and said.startswith("Failed to parse"):
                said = UNREADABLE
            raise ServerFailed(await self._end_or(said)) from None
        except ValueError as error:
            raise ServerFailed(f"The request cannot be sent ({type(error).__name__})") from None
        finally:
            self._running -= 1
            if self.forgotten and not self._running:
                self.state.end(self.forgotten)

    async def _end_or(self, words: str) -> str:
        return (await self.state.ending() if self.state.ended.is_set() else "") or words

    async def _ask_to_open(self, error: MCPError) -> str:
        """Ask the user to open what a call needs opened first; gives words for the model."""
        said = error.message
        try:
            for each in error.data["elicitations"]:
                answer = await self._elicit({**each, "mode": "url"})
                if answer["action"] == "accept":
                    said += f"\nThe user agreed to open {each['url']}: call again once it is done."
                else:
                    said += f"\nThe user did not open {each['url']}"
        except (TypeError, KeyError, MCPError):
            said += "\nIts address cannot be read."
        return said

    async def answer(
        self, _: object, method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Answer a request of the server: all but two are refused."""
        if method == "ping":
            return {}
        if method == "elicitation/create":
            return await self._elicit(params or {})
        raise MCPError(types.METHOD_NOT_FOUND, f"{method} is not supported")

    async def _elicit(self, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            question = read_question(self._context.server, params, self._context.hide)
        except ValueError as error:
            raise MCPError(types.INVALID_PARAMS, f"The user cannot be asked: {error}") from None
        # The user knows what it is about while a call runs.
        if not self._running or self._asked >= _MOST_QUESTIONS:
            return {"action": "cancel"}
        self._asked += 1
        answer = await self._context.put(question)
        if answer is None:
            return {"action": "decline"}
        return {"action": "accept", **({"content": answer} if question.kind == "form" else {})}

    async def notice(self, _: object, method: str, __: Mapping[str, Any] | None) -> None:
        """Note a notification of the server."""
        if method == "notifications/tools/list_changed":
            self.changed.set()


def _listed(tools: object) -> list[object]:
    """The tools of a page, which may be a table by their names."""
    if isinstance(tools, dict):
        named = cast("dict[str, Any]", tools).items()
        return [{"name": name, **each} for name, each in named if isinstance(each, dict)]
    return cast("list[object]", tools) if isinstance(tools, list) else []


@asynccontextmanager
async def connect(context: ServerContext, seconds: float) -> AsyncGenerator[McpSession]:
    """Begin a session. Raises ``ServerFailed``, also if the server does not answer in time."""
    opened = open_program if context.settings.url is None else open_address
    async with opened(context) as (read, write, state):
        dispatcher = JSONRPCDispatcher(read, write)
        connection = McpSession(dispatcher, state, context)
        async with anyio.create_task_group() as group:
            await group.start(dispatcher.run, connection.answer, connection.notice)
            try:
                await connection.initialise(seconds)
                yield connection
            finally:
                group.cancel_scope.cancel()
