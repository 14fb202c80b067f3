"""The controller of the list of tools: states change while it is open."""

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from textual.app import App

from tui.domain.journal.records import Settings
from tui.domain.views.tool_rows import Allowed, ListedTool, ToolRow, tool_rows
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.tool import Tool
from tui.engine.turns.tools import Tools
from tui.errors import SibylError, StorageError
from tui.widgets.intents import ToolIntent

if TYPE_CHECKING:
    from textual.timer import Timer

    from tui.screens.tools import ToolScreen

_SECONDS = 0.5
"""Between two looks at the servers."""


class ToolController:
    """Opens the list of tools, and carries out what is chosen in it."""

    def __init__(self, app: App[None], workspace: Workspace, tools: Tools) -> None:
        self._app = app
        self._workspace = workspace
        self._tools = tools
        self._screen: ToolScreen | None = None
        self._timer: Timer | None = None
        self._allowed = Allowed()

    def open(self) -> None:
        """Show the tools."""
        from tui.screens.tools import ToolScreen

        if self._screen is not None:
            return
        self._screen = ToolScreen(self._rows())
        self._app.push_screen(self._screen, self._close)
        self._timer = self._app.set_interval(_SECONDS, self._show)
        self._app.run_worker(self._read_approvals, name="read the approvals of tools")

    def take(self, intent: ToolIntent) -> None:
        """Act on an intent of the list."""
        from tui.screens.tools import ToolScreen

        match intent:
            case ToolScreen.Toggled(tool=tool):
                self._run(self._toggle(tool))
            case ToolScreen.RestartWanted(server=server):
                self._run(self._tools.servers.restart(server))
            case ToolScreen.Withdrawn(approval=approval):
                self._run(self._tools.approvals.withdraw((approval,)))
            case ToolScreen.AllWithdrawn():
                self._run(self._tools.approvals.withdraw_all())
            case _:
                pass

    def _run(self, work: Awaitable[object]) -> None:
        self._app.run_worker(partial(self._done, work), name="change the tools")

    async def _done(self, work: Awaitable[object]) -> None:
        try:
            await work
        except SibylError as error:
            self._say(error)
        await self._read_approvals()

    async def _toggle(self, tool: str) -> None:
        def changed(settings: Settings) -> Settings:
            rest = tuple(name for name in settings.tools_off if name != tool)
            off = rest if tool in settings.tools_off else (*rest, tool)
            return msgspec.structs.replace(settings, tools_off=off)

        await self._workspace.change_settings(self._workspace.current, changed)

    async def _read_approvals(self) -> None:
        try:
            kept = await self._tools.approvals.kept()
        except StorageError as error:
            kept = ()
            self._say(error)
        self._allowed = Allowed(kept, self._tools.approvals.until_quit)
        self._show()

    def _say(self, error: SibylError) -> None:
        if self._screen is not None:
            self._screen.tell_trouble(str(error))

    def _show(self) -> None:
        # Shown anew, the list goes back to its highlight: the mouse may have scrolled it away.
        if self._screen is not None and (rows := self._rows()) != self._screen.rows:
            self._screen.show(rows)

    def _rows(self) -> tuple[ToolRow, ...]:
        own = tuple(map(_listed, self._tools.built_in))
        off = self._workspace.current.session.settings.tools_off
        return tool_rows(own, self._tools.servers.statuses(), off, self._allowed)

    def _close(self, _: None) -> None:
        self._screen = None
        if self._timer is not None:
            self._timer.stop()


def _listed(tool: Tool) -> ListedTool:
    name, description = tool.definition.name, tool.definition.description
    return ListedTool(name, name, description, tool.approval)
