"""A session with a server, by the library of the protocol. Importing this takes a second."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, cast

from mcp.client.session import ClientSession, IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.types import Implementation, ToolListChangedNotification

from tui.config import ToolServerSettings
from tui.tool_servers.failures import ServerFailed
from tui.tool_servers.http import SessionEnd, open_address
from tui.tool_servers.stdio import open_program

_MOST_LISTED = 10_000
_MOST_PAGES = 100
_LIBRARY_LOGS = ("mcp", "client", "mcp_types")


def silence_library() -> None:
    """Keep the library's log, which quotes messages, from the terminal and from our own log."""
    for name in _LIBRARY_LOGS:
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False


class SessionState(Protocol):
    """The end of a session, as its transport knows it."""

    ended: asyncio.Event

    async def ending(self) -> str:
        """The reason of its end, or of its silence."""
        ...


class Connection:
    """An initialised session. Calls may come from any task."""

    def __init__(self, dispatcher: JSONRPCDispatcher, state: SessionState) -> None:
        self._dispatcher = dispatcher
        self._state = state
        self.changed = asyncio.Event()
        """Set when the server says that its list of tools has changed."""

    @property
    def ended(self) -> asyncio.Event:
        """Set when the server or the session has ended."""
        return self._state.ended

    async def ending(self) -> str:
        """The reason of its end."""
        return await self._state.ending()

    async def list_tools(self) -> list[object]:
        """Ask for the tools, as the server describes them. Raises ``ServerFailed``."""
        listed: list[object] = []
        cursor: object = None
        for _ in range(_MOST_PAGES):
            params = {"cursor": cursor} if isinstance(cursor, str) else None
            page = await self._request("tools/list", params)
            tools = page.get("tools")
            listed += cast("list[object]", tools) if isinstance(tools, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or len(listed) > _MOST_LISTED:
                break
        return listed

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; cancelling it cancels it at the server. Raises ``ServerFailed``."""
        return await self._request("tools/call", {"name": name, "arguments": arguments})

    async def _request(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        # The session's own verbs refuse a whole list for one odd tool, and validate results by
        # a foreign schema, whose patterns may take minutes.
        try:
            return await self._dispatcher.send_raw_request(method, params)
        except MCPError as error:
            ended = await self.ending() if self.ended.is_set() else ""
            raise ServerFailed(ended or error.message) from None
        except ValueError as error:
            raise ServerFailed(f"The request cannot be sent ({type(error).__name__})") from None

    async def take(self, message: IncomingMessage) -> None:
        """Note a notification of the server."""
        if isinstance(message, ToolListChangedNotification):
            self.changed.set()


@asynccontextmanager
async def connect(settings: ToolServerSettings, seconds: float) -> AsyncGenerator[Connection]:
    """Start a server or connect to it, and initialise a session.

    Raises ``ServerFailed``, also if it does not answer in time.
    """
    async with _transport(settings) as (read, write, state):
        dispatcher = JSONRPCDispatcher(read, write)
        connection = Connection(dispatcher, state)
        # Without callbacks for them, requests of the server are refused.
        session = ClientSession(
            dispatcher=dispatcher,
            message_handler=connection.take,
            client_info=Implementation(name="sibyl-tui", version=version("sibyl-tui")),
        )
        async with session:
            await _initialise(session, state, seconds)
            yield connection


@asynccontextmanager
async def _transport(
    settings: ToolServerSettings,
) -> AsyncGenerator[tuple[Any, Any, SessionState]]:
    if settings.url is not None:
        end = SessionEnd()
        async with open_address(settings.url, settings.headers or {}, end) as (read, write):
            yield read, write, end
        return
    cwd = settings.cwd or str(Path.home())
    async with open_program(settings.command, settings.env or {}, cwd) as streams:
        yield streams, streams, streams


async def _initialise(session: ClientSession, state: SessionState, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await session.initialize()
    except TimeoutError:
        said = await state.ending() or f"It did not answer within {seconds:g} seconds"
        raise ServerFailed(said) from None
    except MCPError as error:
        said = await state.ending() if state.ended.is_set() else error.message
        raise ServerFailed(said) from None
    except (RuntimeError, ValueError) as error:
        # Of a version that is not known, or of a reply that is no answer.
        raise ServerFailed(f"It speaks another protocol ({type(error).__name__})") from None
