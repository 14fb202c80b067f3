"""The tools that the user has set up: switches of the program's own, and servers."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from tui.config import TOOLS_FILE, Config, Settings, ToolServerSettings, ToolSettings, paths
from tui.domain.tool_servers import ToolServers
from tui.engine.turns.tool import Tool

if TYPE_CHECKING:
    from tui.domain.server_questions import AskUser


class ToolSetup:
    """The tools of the program with their switches, and the servers; changes are kept.

    What the user's own configuration names stays as it is there.
    """

    def __init__(
        self,
        settings: Settings,
        own: Callable[[str], Sequence[Tool]] = lambda _: (),
        servers: ToolServers | None = None,
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
    def servers(self) -> ToolServers:
        """The servers; none is started here."""
        return self._servers(self._settings.tool_servers, at_start=self._asks_at_start)

    def _servers(
        self, configured: Mapping[str, ToolServerSettings], *, at_start: bool
    ) -> ToolServers:
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

    def trial(self, name: str, server: ToolServerSettings) -> ToolServers:
        """A server that is not among the others yet."""
        return self._servers({name: server}, at_start=True)

    async def keep(self, name: str, server: ToolServerSettings, trial: ToolServers) -> None:
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
