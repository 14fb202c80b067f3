"""The list of tools: what servers offer, what asks, and what is switched off."""

from collections.abc import Awaitable
from functools import partial

import msgspec
from textual.app import App

from tui.domain.journal.records import Settings
from tui.domain.views.tool_rows import Allowed, ListedTool, ToolRow, tool_rows
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.tools import Tools
from tui.errors import SibylError, StorageError
from tui.screens.tools import ToolChange, ToolScreen


class ToolController:
    """Opens the list of tools, and carries out what is chosen in it."""

    def __init__(self, app: App[None], workspace: Workspace, tools: Tools) -> None:
        self._app = app
        self._workspace = workspace
        self._tools = tools
        self._allowed = Allowed()

    def open(self) -> None:
        """Show the tools."""
        if isinstance(self._app.screen, ToolScreen):
            return
        screen = ToolScreen(self._rows, self._change)
        self._app.push_screen(screen)
        screen.run_worker(partial(self._read_approvals, screen), name="read the approvals of tools")

    def _change(self, screen: ToolScreen, change: ToolChange, row: ToolRow | None) -> None:
        work: Awaitable[object]
        match change:
            case "toggle" if row:
                work = self._toggle(row)
            case "restart" if row:
                work = self._tools.servers.restart(row.server)
            case "withdraw" if row and row.approval:
                work = self._tools.approvals.withdraw((row.approval,))
            case "withdraw all":
                work = self._tools.approvals.withdraw_all()
            case _:
                return
        # It is done also if the list is closed meanwhile.
        self._app.run_worker(partial(self._carry_out, screen, work), name="change the tools")

    async def _carry_out(self, screen: ToolScreen, work: Awaitable[object]) -> None:
        try:
            await work
        except SibylError as error:
            screen.tell_trouble(str(error))
        await self._read_approvals(screen)

    async def _toggle(self, row: ToolRow) -> None:
        """Switch a tool of the program in all sessions, and any other in this one."""
        tool, setup, on = row.tool, self._tools.setup, not row.is_on
        everywhere = row.is_own and not setup.is_configured(tool)
        if everywhere:
            await setup.switch(tool, on=on)
        session = self._workspace.current

        def changed(settings: Settings) -> Settings:
            rest = tuple(name for name in settings.tools_off if name != tool)
            return msgspec.structs.replace(settings, tools_off=rest if on else (*rest, tool))

        if not everywhere or tool in session.session.settings.tools_off:
            await self._workspace.change_settings(session, changed)

    async def _read_approvals(self, screen: ToolScreen) -> None:
        try:
            kept = await self._tools.approvals.kept()
        except StorageError as error:
            kept = ()
            screen.tell_trouble(str(error))
        self._allowed = Allowed(kept, self._tools.approvals.until_quit)
        screen.show_changes()

    def _rows(self) -> tuple[ToolRow, ...]:
        session, setup = self._workspace.current.session, self._tools.setup
        own = tuple(
            ListedTool(
                each.definition.name,
                each.definition.name,
                each.definition.description,
                each.approval,
                setup.is_on(each.definition.name),
            )
            for each in setup.own(session.header.project_path)
        )
        off = session.settings.tools_off
        return tool_rows(own, self._tools.servers.statuses(), off, self._allowed)
