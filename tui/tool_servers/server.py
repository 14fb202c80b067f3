"""One server: its start, its end, and the calls of its tools."""

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from tui.config.settings_schema import ToolServerSettings
from tui.domain.text import without_surrogates
from tui.domain.tool_servers import (
    AskUser,
    OfferedTool,
    ServerState,
    ServerStatus,
    SignIns,
    ToolResult,
)
from tui.files import size_words
from tui.logs import error_name, milliseconds_since
from tui.tool_servers.context import (
    ServerContext,
    ServerFailed,
    SessionForgotten,
    reason_of,
    sentence,
)
from tui.tool_servers.tool_list import ToolList, read_tools

if TYPE_CHECKING:
    from tui.tool_servers.connection import McpSession

START_SECONDS = 10.0
"""Time that a start is waited for; a slow one goes on in the background."""
GIVE_UP_SECONDS = 60.0
"""Time after which a start has failed."""
CLOSE_SECONDS = 3.5
"""Time for a server to end, before its owner is cancelled again."""

_LIST_SECONDS = 10.0
_LIST_PAUSE = 0.2
_LAST_SECONDS = 0.5
_SHORT_TURN, _USUAL_TURN = 0.0005, 0.005
"""Seconds after which a thread gives way to another; Python's own is the second."""
_log = logging.getLogger(__name__)


class Server:
    """A configured server. One task of its own enters and leaves its session."""

    def __init__(self, context: ServerContext) -> None:
        self.name = context.server
        """The name of its table."""
        self.status = ServerStatus(context.server, "not started")
        self._context = context
        self._owner: asyncio.Task[None] | None = None
        self._connection: McpSession | None = None
        self._settled = asyncio.Event()
        self._changing = asyncio.Lock()
        self._is_late = False
        self._may_begin_again = True
        self._is_closed = False

    # --- start and end

    async def start(self) -> None:
        """Start it, if it is not started or has ended for the first time, and wait a while."""
        async with self._changing:
            if self._is_closed:
                return
            if self.status.state == "stopped" and self._may_begin_again:
                self._may_begin_again = False
                await self._end()
                self._begin()
            elif self.status.state == "not started":
                self._begin()
        if self.status.state == "starting" and not self._is_late:
            await self._settle()

    async def restart(self) -> None:
        """Stop it and start it anew, whatever its state."""
        async with self._changing:
            if self._is_closed:
                return
            await self._end()
            self._may_begin_again = self._context.may_sign_in = True
            self._begin()
        await self._settle()

    async def forget_sign_in(self) -> bool:
        """Forget the sign-in, and stop it; false if there is none. Raises ``StorageError``."""
        async with self._changing:
            kept = self._context.sign_ins
            if kept is None or not await asyncio.to_thread(kept.forget, self.name):
                return False
            await self._end()
            # It may have been renewed meanwhile.
            await asyncio.to_thread(kept.forget, self.name)
            self._may_begin_again = False
            self._become("stopped", "You have signed out: s signs in again.")
            return True

    async def close(self) -> None:
        """End it for good."""
        self._is_closed = True
        async with self._changing:
            await self._end()
            self._become("stopped")

    def _begin(self) -> None:
        self._is_late = False
        self._settled.clear()
        self._become("starting")
        self._owner = asyncio.create_task(self._own())

    async def _settle(self) -> None:
        try:
            async with self._context.limit(START_SECONDS):
                await self._settled.wait()
        except TimeoutError:
            self._is_late = True
            self._become("starting", f"It has not answered for {START_SECONDS:g} seconds.")

    async def _end(self) -> None:
        owner, self._owner = self._owner, None
        if owner is None:
            return
        for seconds in (CLOSE_SECONDS, _LAST_SECONDS):
            owner.cancel()
            if (await asyncio.wait({owner}, timeout=seconds))[0]:
                return

    # --- the owner of the session

    async def _own(self) -> None:
        begun = time.perf_counter()
        try:
            reason = await self._hold_session()
        except (ServerFailed, OSError, ValueError, RuntimeError, ExceptionGroup) as error:
            _log.info(
                "a tool server failed after %d ms: %s", milliseconds_since(begun), error_name(error)
            )
            self._become("failed", reason_of(error))
        else:
            _log.info("a tool server ended after %d ms", milliseconds_since(begun))
            self._become("stopped" if self._may_begin_again else "failed", sentence(reason))
        finally:
            self._connection = None
            if self.status.state in {"starting", "ready"}:
                self._become("stopped")
            self._settled.set()

    async def _hold_session(self) -> str:
        """Hold a session until it ends, and give the reason."""
        library = await asyncio.to_thread(_connection)
        async with library.connect(self._context, GIVE_UP_SECONDS) as connection:
            try:
                self._offer(await self._list(connection))
            except SessionForgotten as error:
                self._may_begin_again = True
                return str(error)
            self._connection = connection
            # From here on the user waits for a call.
            self._context.may_sign_in = True
            self._settled.set()
            async with asyncio.TaskGroup() as group:
                following = group.create_task(self._follow(connection))
                await connection.state.ended.wait()
                following.cancel()
            self._may_begin_again |= bool(connection.forgotten)
            return await connection.state.ending()

    async def _follow(self, connection: "McpSession") -> None:
        """Read the list anew whenever the server says that it has changed."""
        while True:
            await connection.changed.wait()
            # A server may say so for each of its tools.
            await asyncio.sleep(_LIST_PAUSE)
            connection.changed.clear()
            try:
                self._offer(await self._list(connection))
            except ServerFailed:
                self._offer(ToolList(notice="Its list of tools has changed, and cannot be read."))

    async def _list(self, connection: "McpSession") -> ToolList:
        """Ask for the list of tools; a beginning of it is offered, too. Raises ``ServerFailed``."""
        listed: list[object] = []
        notice = ""
        try:
            async with self._context.limit(_LIST_SECONDS):
                async for page in connection.list_tools():
                    listed += page
        except (ServerFailed, TimeoutError) as error:
            late = isinstance(error, TimeoutError)
            said = "it did not answer in time" if late else self._context.hide(str(error))
            if isinstance(error, SessionForgotten):
                raise
            if not listed:
                raise ServerFailed(f"It did not list its tools: {said}") from None
            notice = f"Its list of tools ends early, after {len(listed)}: {sentence(said)}"
        settings = self._context.settings
        identity = json.dumps([settings.command, settings.url, settings.cwd])
        return await asyncio.to_thread(
            read_tools, self.name, identity, listed, settings.tools, self._context.cut, notice
        )

    def _offer(self, listed: ToolList) -> None:
        notice = self._context.hide(listed.notice)
        self.status = ServerStatus(self.name, "ready", tools=listed.tools, notice=notice)

    def _become(self, state: ServerState, reason: str = "") -> None:
        self.status = ServerStatus(self.name, state, self._context.cut(reason))

    # --- calls

    async def call(self, tool: OfferedTool, arguments: dict[str, Any]) -> ToolResult:
        """Call a tool, once the server is there; whatever goes wrong is a result."""
        forgotten = ""
        for _ in range(2):
            try:
                return await self._call(tool, arguments)
            except SessionForgotten as error:
                forgotten = str(error)
        return self._failed(f"{forgotten}, and the new one likewise.")

    async def _call(self, tool: OfferedTool, arguments: dict[str, Any]) -> ToolResult:
        """Call a tool. Raises ``SessionForgotten``, once that session is over."""
        await self.start()
        connection, owner = self._connection, self._owner
        if connection is None or owner is None:
            return self._failed(f"The tool server {self.name} is not running. {self.status.reason}")
        if all(each.fingerprint != tool.fingerprint for each in self.status.tools):
            return self._failed(
                f"{tool.name} has changed since it was offered, and was not called."
            )
        try:
            async with self._context.limit(self._context.settings.timeout):
                # Without half characters, which no message can have.
                text = without_surrogates(json.dumps(arguments, ensure_ascii=False))
                raw = await connection.call(tool.name, json.loads(text))
        except TimeoutError:
            seconds = f"{self._context.settings.timeout:g} seconds"
            return self._failed(f"{tool.name} did not answer within {seconds}, and was cancelled.")
        except SessionForgotten:
            # It ends once its other calls have: they may be carried out.
            await asyncio.wait({owner}, timeout=CLOSE_SECONDS)
            async with self._changing:
                if self._owner is owner:
                    await self._end()
                    self._may_begin_again = True
            raise
        except ServerFailed as error:
            if not connection.state.ended.is_set():
                return self._failed(str(error))
            await asyncio.wait({owner}, timeout=CLOSE_SECONDS)
            return self._failed(
                f"The tool server {self.name} ended during the call. {self.status.reason}"
            )
        except (ValueError, RecursionError):
            return self._failed("The arguments are no JSON that can be sent.")
        self._may_begin_again = True
        return result_of(raw, self._context.cut)

    def _failed(self, text: str) -> ToolResult:
        return ToolResult(bounded(self._context.cut(text.strip())), failed=True)


def _connection() -> ModuleType:
    """Import the library, which takes half a second; blocks."""
    # Else a key waits for 5 ms of it each time that it needs the interpreter.
    sys.setswitchinterval(_SHORT_TURN)
    try:
        library = import_module("tui.tool_servers.connection")
        library.load()
        return library
    finally:
        sys.setswitchinterval(_USUAL_TURN)


class McpServers:
    """The servers that the user has configured; nothing is started or imported before ``start``.

    A name that is none of theirs raises ``KeyError``.
    """

    def __init__(
        self,
        configured: Mapping[str, ToolServerSettings],
        sign_ins: SignIns | None = None,
        ask: AskUser | None = None,
        *,
        at_start: bool = False,
    ) -> None:
        """``ask`` puts their questions to a user, a sign-in also ``at_start``."""
        self._servers = {
            name: Server(ServerContext(name, each, ask, sign_ins, may_sign_in=at_start))
            for name, each in configured.items()
        }

    def statuses(self) -> tuple[ServerStatus, ...]:
        """Each of them, in the order of the configuration; never waits."""
        return tuple(each.status for each in self._servers.values())

    async def start(self) -> tuple[ServerStatus, ...]:
        """Start those that are not started, and wait until each is ready, has failed, or is late.

        One that is late goes on starting in the background, for a minute at most; nobody waits
        for it again. A later call returns at once unless a server has ended: that is started
        again once, and once more after each call that it has answered.
        """
        await asyncio.gather(*(each.start() for each in self._servers.values()))
        return self.statuses()

    async def restart(self, name: str) -> ServerStatus:
        """Stop a server and start it anew; if it wants a sign-in, the user is asked."""
        server = self._servers[name]
        await server.restart()
        return server.status

    async def replace(self, name: str, by: "McpServers | None" = None) -> None:
        """End a server, if it is there, and take over the one of its name among others."""
        if name in self._servers:
            # It is among them until it has ended: so does the end of the program wait for it.
            await self._servers[name].close()
        self._servers.pop(name, None)
        if by is not None:
            self._servers[name] = by._servers.pop(name)  # noqa: SLF001 - of its own kind

    async def forget_sign_in(self, name: str) -> bool:
        """Forget a server's sign-in, and stop it; false without one. Raises ``StorageError``."""
        return await self._servers[name].forget_sign_in()

    async def call(self, tool: OfferedTool, arguments: dict[str, Any]) -> ToolResult:
        """Call a tool; whatever goes wrong is a result. Cancelling it cancels it at the server.

        A tool that is no longer offered with the same fingerprint is not called.
        """
        server = self._servers.get(tool.server)
        if server is None:
            return ToolResult(f"There is no tool server {tool.server}.", failed=True)
        return await server.call(tool, arguments)

    async def close(self) -> None:
        """End all servers, within a few seconds, with the process group of each."""
        await asyncio.gather(*(each.close() for each in self._servers.values()))


LONGEST_RESULT = 100 * 1024
"""In bytes."""

_ABOUT = frozenset({"_meta", "isError", "structuredContent"})


def result_of(raw: Mapping[str, Any], without_secrets: Callable[[str], str] = str) -> ToolResult:
    """The text of a result: its texts, labels of its other parts, else its structure as JSON."""
    content = raw.get("content")
    parts = cast("list[object]", content) if isinstance(content, list) else [content]
    texts = [_text(part) for part in parts if part is not None]
    structure = raw.get("structuredContent")
    if "content" not in raw and structure is None:
        structure = {key: value for key, value in raw.items() if key not in _ABOUT} or None
    if structure is not None and not any(_is_text(part) for part in parts):
        texts.append(_json(structure))
    failed = raw.get("isError") is True
    text = "\n".join(texts) or ("It failed, and said nothing." if failed else "")
    return ToolResult(bounded(without_secrets(text)), failed=failed)


def bounded(text: str) -> str:
    """Cut a text at the limit, and say so at its end."""
    data = without_surrogates(text).encode()
    if len(data) <= LONGEST_RESULT:
        return data.decode()
    kept = data[:LONGEST_RESULT].decode("utf-8", "ignore")
    return f"{kept}\n[Cut: the first {size_words(LONGEST_RESULT)} of {size_words(len(data))}.]"


def _is_text(part: object) -> bool:
    match part:
        case str() | {"type": "text"} | {"text": str()}:
            return True
        case _:
            return False


def _text(part: object) -> str:
    match cast("str | dict[str, Any]", part):
        case str(text) | {"type": "text", "text": str(text)}:
            return text
        case {"type": "text", "text": value}:
            return _json(value)
        case {"type": "image" | "audio" as kind, **about}:
            return f"[{kind}{_kind_words(about)}]"
        case {"type": "resource", "resource": {"text": str(text), **about}}:
            return f"[resource {about.get('uri', '')}]\n{text}"
        case {"type": "resource", "resource": {**about}}:
            return f"[resource {about.get('uri', '')}{_kind_words(about)}]"
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[resource {uri}]"
        case {"text": str(text), **about}:
            kind = about.get("type")
            return text if kind is None else f"[{kind}]\n{text}"
        case {"type": str(kind)}:
            return f"[content of an unknown kind: {kind}]"
        case _:
            return _json(part)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _kind_words(about: Mapping[str, Any]) -> str:
    kind = about.get("mimeType")
    return f": {kind}" if isinstance(kind, str) else ""
