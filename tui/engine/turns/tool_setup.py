"""The tools that the user has set up: switches of the program's own, and servers."""

import asyncio
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from tui.config import paths
from tui.config.loading import TOOLS_FILE, UserSettings, tool_server
from tui.config.settings_schema import Config, ToolServerSettings, ToolSettings
from tui.engine.turns.tool import Tool
from tui.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from tui.domain.server_questions import AskUser
    from tui.tool_servers.server import McpServers


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
        from tui.storage import sign_ins
        from tui.tool_servers.server import McpServers

        files = sign_ins.SignInFiles(paths.state_directory() / sign_ins.FOLDER)
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

    def own_in_use(self, project: str) -> tuple[Tool, ...]:
        """The tools of the program that are switched on."""
        # Most have none on: nothing is imported for them.
        own = self.own(project) if (enabled := self.enabled) else ()
        return tuple(each for each in own if each.definition.name in enabled)

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
_MARK = re.compile(r"^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_](?:mcp|server)$")
_ODD = re.compile(r"[^A-Za-z0-9]+")
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
