"""Tools: set up by the user, offered to a model; the approval of a call, and its result."""

import asyncio
import json
import os
import shlex
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from tui.config import paths
from tui.config.loading import TOOLS_FILE, UserSettings, tool_server
from tui.config.settings_schema import Config, ToolServerSettings, ToolSettings
from tui.domain.journal.message import ToolCall
from tui.domain.json_text import converted
from tui.domain.text import late_pattern
from tui.domain.tool_servers import (
    Decision,
    OfferedTool,
    Question,
    ServerStatus,
    ToolApproval,
)
from tui.engine.turns.events import NoticeGiven, ToolStarted, TurnEvent
from tui.errors import ConfigError, StorageError, UsageError
from tui.providers.protocol import ToolDefinition
from tui.storage import state_files

if TYPE_CHECKING:
    from tui.domain.tool_servers import AskUser
    from tui.engine.sessions.open_session import OpenSession
    from tui.tool_servers.server import McpServers

_Fields = TypeVar("_Fields")

Save = Callable[[], Awaitable[None]]
"""Writes what is pending in the session. Raises ``StorageError``."""

Run = Callable[["OpenSession", Save], Awaitable[str]]
"""Runs an approved call and gives the result for the model."""


class InvalidArguments(ValueError):
    """A call that cannot be carried out as it came; the model is told why."""


def fields_of(arguments: Mapping[str, Any], kind: type[_Fields]) -> _Fields:
    """Read the arguments of a call. Raises ``InvalidArguments``."""
    try:
        return converted({name: each for name, each in arguments.items() if each is not None}, kind)
    except ValueError as error:
        raise InvalidArguments(f"{error}.") from error


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of arguments, for structs without others in them."""
    schema = msgspec.json.schema_components((kind,))[1][kind.__name__]
    return {key: each for key, each in schema.items() if each and key != "title"}


class Tool(msgspec.Struct, frozen=True, eq=False):
    """Something that a model may ask this program to do."""

    definition: ToolDefinition
    """The definition that the model is offered."""
    prepare: Callable[[Mapping[str, Any]], Run]
    """Reads the arguments of a call; nothing is done yet. Raises ``InvalidArguments``."""
    approval: ToolApproval | None = None
    """The subject of the question before each call; ``None`` if there is no question."""
    about: str = ""
    """Lines beside its name for the user who is asked for approval; foreign text."""


class ToolSetup:
    """The tools of the program with their switches, and the servers; changes are kept.

    What the user's own configuration names stays as it is there.
    """

    def __init__(
        self,
        settings: UserSettings,
        own: Callable[[str], Sequence[Tool]] = lambda _: (),
        servers: "McpServers | None" = None,
    ) -> None:
        """``own`` makes all tools of the program for a project's folder."""
        self._settings = settings
        self.own = own
        self._ask: AskUser | None = None
        self._asks_at_start = False
        if servers is not None:
            self.servers = servers

    def ask_by(self, ask: "AskUser", *, at_start: bool = False) -> None:
        """Put the questions of servers to a user, a sign-in also ``at_start``."""
        self._ask, self._asks_at_start = ask, at_start

    @cached_property
    def servers(self) -> "McpServers":
        """The servers; none is started here."""
        return self._servers(self._settings.tool_servers, at_start=self._asks_at_start)

    def _servers(
        self, configured: Mapping[str, ToolServerSettings], *, at_start: bool
    ) -> "McpServers":
        from tui.storage.connections import SIGN_INS, SignInFiles
        from tui.tool_servers.server import McpServers

        files = SignInFiles(paths.state_directory() / SIGN_INS)
        return McpServers(configured, files, self._ask, at_start=at_start)

    @property
    def has_servers(self) -> bool:
        """Tell whether there are any."""
        return bool(self._settings.tool_servers)

    def is_configured(self, name: str) -> bool:
        """Tell whether the user's own configuration switches a tool of the program on."""
        return name in self._settings.config.tools.enabled

    @property
    def enabled(self) -> tuple[str, ...]:
        """The names of the tools of the program that are switched on."""
        return (*self._settings.config.tools.enabled, *self._settings.set_up.tools.enabled)

    async def switch(self, name: Any, *, on: bool) -> None:
        """Switch a tool of the program on or off. Raises ``StorageError``, ``ConfigError``."""

        def changed(kept: Config) -> Config:
            others: list[Any] = [each for each in kept.tools.enabled if each != name]
            return replace(kept, tools=ToolSettings(enabled=(*others, *((name,) if on else ()))))

        await self._change(changed)

    def kept_server(self, name: str) -> ToolServerSettings | None:
        """A server that was set up on the screen; none if the configuration has it."""
        in_config = name in self._settings.config.mcp
        return None if in_config else self._settings.set_up.mcp.get(name)

    def trial(self, name: str, server: ToolServerSettings) -> "McpServers":
        """A server that is not among the others yet."""
        return self._servers({name: server}, at_start=True)

    async def keep(self, name: str, server: ToolServerSettings, trial: "McpServers") -> None:
        """Keep a server, which runs already; it ends if that fails.

        Raises ``StorageError`` and ``ConfigError``.
        """
        try:
            await self._change(lambda kept: replace(kept, mcp={**kept.mcp, name: server}))
            await self.servers.replace(name, trial)
        finally:
            # One that was kept is not among these any more.
            await trial.close()

    async def remove(self, name: str) -> None:
        """Remove a server, and end it. Raises ``StorageError``, ``ConfigError``."""

        def changed(kept: Config) -> Config:
            rest = {each: server for each, server in kept.mcp.items() if each != name}
            return replace(kept, mcp=rest)

        await self._change(changed)
        await self.servers.forget_sign_in(name)
        await self.servers.replace(name)

    async def _change(self, change: Callable[[Config], Config]) -> None:
        from tui.storage.connections import change_tools

        file = self._settings.file.with_name(TOOLS_FILE)
        kept = await asyncio.to_thread(change_tools, file, change)
        self._settings = replace(self._settings, set_up=kept)


_RUNNERS = frozenset(
    {*("npx", "uvx", "uv", "bunx", "pipx", "node", "deno", "docker", "run", "python", "python3")}
    | {"mcp", "www", "api"}
)
_MARK = late_pattern(r"^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_](?:mcp|server)$")
_ODD = late_pattern(r"[^A-Za-z0-9]+")
_LONGEST_NAME = 20
_TYPED = frozenset({"command", "url", "env", "headers"})
_OF_ADDRESS = frozenset({"client_id", "client_secret", "redirect_port"})


def is_address(line: str) -> bool:
    """Tell whether a line is an address, not a command."""
    return "://" in "".join(line.split()[:1])


def is_elsewhere(line: str, old: ToolServerSettings) -> bool:
    """Tell whether a line leads to another address, or from one: no secret goes along."""
    return line.strip() != old.url and (old.url is not None or is_address(line))


def typed_server(
    line: str, name: str, secrets: Mapping[str, str], old: ToolServerSettings | None = None
) -> ToolServerSettings:
    """Make a server of a line and its variables or headers. Raises ``UsageError``.

    What cannot be typed here is that of an ``old`` one.
    """
    try:
        raw: dict[str, Any] = {
            "command": [*map(_word, shlex.split(line))],
            "env": dict(secrets) or None,
        }
        if is_address(line):
            raw = {"url": line.strip(), "headers": dict(secrets) or None}
        said = msgspec.to_builtins(old).items() if old else ()
        left = _TYPED | _OF_ADDRESS if old and is_elsewhere(line, old) else _TYPED
        others = {key: each for key, each in said if each is not None and key not in left}
        return tool_server(name, {**others, **raw})
    except ConfigError as error:
        raise UsageError(f"{error.key.rpartition('.')[2]}: {error.expected}") from error
    except ValueError as error:
        raise UsageError(f"This is not a command line: {error}") from error


def line_of(server: ToolServerSettings) -> str:
    """The line that was typed; without an address that has secrets."""
    if server.url is None:
        return shlex.join(server.command)
    parts = urlsplit(server.url)
    return "" if parts.query or parts.password else server.url


def name_for(line: str) -> str:
    """A name for a server: that of its program or its host."""
    words = [PurePath(word).stem for word in line.split()]
    if is_address(line):
        words = (urlsplit(line.strip()).hostname or "").split(".")
    named = [each for each in words if each not in _RUNNERS and not each.startswith("-")]
    word = next(filter(_MARK.search, named), next(iter(named), ""))
    return _ODD.sub("-", _MARK.sub("", word)).strip("-")[:_LONGEST_NAME].strip("-")


def _word(word: str) -> str:
    """Complete a path: the server runs in another folder."""
    path = os.path.expanduser(word)  # noqa: PTH111 - Path.expanduser raises without a home
    is_path = "/" in path or "." in path
    return os.path.abspath(path) if is_path and os.path.exists(path) else path  # noqa: PTH100, PTH110


DENIED = "The user denied this call."
MOST_ARGUMENTS = 64 * 1024
"""The limit of arguments that a user can be asked to read, in characters."""
_CHANGED = "It has changed since you allowed it."

Ask = Callable[[Question], Awaitable[Decision]]
"""Puts a call to the user and waits for the answer; may be cancelled."""

Emit = Callable[[TurnEvent], Awaitable[None]]
"""Takes the events of a turn, one at a time."""

Standing = Literal["allowed", "changed", "unknown"]
"""``changed``: the user has allowed it as it was before."""

_WITHOUT = "this answer goes without its tools."


class ToolApprovals:
    """Keeps what is allowed until the program ends, and reads and writes what is for good.

    The file is read for each call: what another program has withdrawn is not allowed here either.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Without a ``file`` nothing is allowed for longer than this program runs."""
        self._file = file
        self.until_quit: frozenset[ToolApproval] = frozenset()
        """The tools that are allowed until the program ends."""

    async def kept(self) -> tuple[ToolApproval, ...]:
        """The tools that are allowed for good. Raises ``StorageError``."""
        if self._file is None:
            return ()
        return await asyncio.to_thread(state_files.read_approvals, self._file)

    async def standing(self, tool: ToolApproval) -> Standing:
        """Look a tool up. Raises ``StorageError`` if that takes a file that cannot be trusted."""
        if tool in self.until_quit:
            return "allowed"
        # In this order: the same tool may be allowed while the file is read.
        known = {*await self.kept(), *self.until_quit}
        if tool in known:
            return "allowed"
        return "changed" if any(map(tool.is_of, known)) else "unknown"

    async def allow(self, tool: ToolApproval, *, always: bool) -> None:
        """Allow a tool until the program ends, or for good.

        Raises ``StorageError`` if that cannot be kept, and then until the program ends.
        """
        self.until_quit |= {tool}
        if always and self._file is not None:
            await asyncio.to_thread(state_files.allow, self._file, tool)
            # The file alone counts: another program may withdraw it.
            self.until_quit -= {tool}

    async def withdraw(self, tools: Collection[ToolApproval]) -> None:
        """Allow some tools no more. Raises ``StorageError``; this program asks even then."""
        left = (each for each in self.until_quit if not any(map(each.is_of, tools)))
        self.until_quit = frozenset(left)
        if self._file is not None:
            await asyncio.to_thread(state_files.withdraw, self._file, tools)

    async def withdraw_all(self) -> None:
        """Allow no tool any more. Raises ``StorageError``."""
        self.until_quit = frozenset()
        if self._file is not None:
            await asyncio.to_thread(state_files.withdraw_all, self._file)


def server_tools(servers: "McpServers") -> tuple[Tool, ...]:
    """The tools of the servers that are ready."""
    return tuple(
        Tool(
            ToolDefinition(offered.called, offered.description, offered.parameters),
            partial(_server_call, servers, offered),
            ToolApproval(offered.server, offered.name, offered.fingerprint),
        )
        for status in servers.statuses()
        if status.state == "ready"
        for offered in status.tools
    )


def _server_call(servers: "McpServers", offered: OfferedTool, arguments: Mapping[str, Any]) -> Run:
    async def run(_: "OpenSession", __: Save) -> str:
        # Its server says what is wrong with the arguments.
        return (await servers.call(offered, dict(arguments))).text

    return run


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


class Tools:
    """The tools that a model is offered, and the results of its calls.

    Nothing that asks is run unless the user has allowed it: the call, or the tool for longer; who
    has nobody to ``ask`` allows nothing.
    """

    def __init__(
        self,
        setup: ToolSetup | None = None,
        ask: Ask | None = None,
        approvals: ToolApprovals | None = None,
    ) -> None:
        self.setup = setup or ToolSetup(UserSettings(Config(), None, Path(), {}))
        self.approvals = approvals or ToolApprovals()
        self._ask = ask

    async def run(self, session: "OpenSession", call: ToolCall, save: Save, emit: Emit) -> str:
        """Carry a call out, if the user allows it; gives what the model is told.

        The model may ask for what it was never offered, and in whatever way: the user is asked
        only for what can be done.
        """
        tool = self.offered(session.header.project_path).get(call.name)
        if tool is None or call.name in session.session.settings.tools_off:
            return f"Tool {call.name} is not available."
        try:
            run = tool.prepare(_readable(call.arguments))
        except InvalidArguments as error:
            return f"Not run, the arguments are wrong: {error}"
        decision = await self._decision(session, call, tool, emit)
        if decision.choice == "deny":
            reason = decision.reason
            return f"{DENIED.removesuffix('.')}: {reason}" if reason else DENIED
        await emit(ToolStarted(tool.approval.title if tool.approval else call.name))
        return await run(session, save)

    def offered(self, project: str = "") -> Mapping[str, Tool]:
        """The tools that are there by their names, the program's own for a project's folder."""
        enabled, offered = self.setup.enabled, dict[str, Tool]()
        # Most users have none on: nothing is imported for them.
        for tool in self.setup.own(project) if enabled else ():
            if tool.definition.name in enabled:
                offered[tool.definition.name] = tool
        for tool in server_tools(self.setup.servers):
            # The program's own come first, whatever a server calls its tools.
            offered.setdefault(tool.definition.name, tool)
        return offered

    async def _decision(
        self, session: "OpenSession", call: ToolCall, tool: Tool, emit: Emit
    ) -> Decision:
        """Ask the user, unless the tool is allowed."""
        approval = tool.approval
        if approval is None:
            return Decision("once")
        try:
            standing = await self.approvals.standing(approval)
            words = {"allowed": None, "changed": _CHANGED, "unknown": ""}[standing]
        except StorageError as error:
            words = f"Earlier approvals do not count: {error}"
        if words is None:
            return Decision("once")
        if self._ask is None:
            return Decision("deny")
        about = f"{tool.about}\n{words}".strip()
        decision = await self._ask(Question(session.id, call, about, approval))
        if decision.choice in ("until-quit", "always"):
            try:
                await self.approvals.allow(approval, always=decision.choice == "always")
            except StorageError as error:
                words = f"{approval.title} is allowed only until you quit: {error}"
                await emit(NoticeGiven(words))
        return decision


def _readable(arguments: Any) -> Mapping[str, Any]:
    """Arguments that a user can be asked about. Raises ``InvalidArguments``."""
    if not isinstance(arguments, dict):
        raise InvalidArguments("expected a JSON object.")
    try:
        size = len(json.dumps(arguments, ensure_ascii=False, indent=2))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidArguments("they cannot be read.") from error
    if size > MOST_ARGUMENTS:
        raise InvalidArguments(f"longer than {MOST_ARGUMENTS} characters.")
    return arguments  # pyright: ignore[reportUnknownVariableType]
