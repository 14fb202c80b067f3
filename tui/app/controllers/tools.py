"""The list of tools: what servers offer, what asks, and what is switched off."""

import asyncio
import json
from collections.abc import Awaitable, Mapping, Sequence
from functools import partial

import msgspec

from tui.app.controllers.controller import Controller
from tui.config.settings_schema import ToolServerSettings
from tui.domain.journal.records import Settings
from tui.domain.text import listed
from tui.domain.views.tools import Allowed, ListedTool, ToolRow, tool_rows
from tui.engine.turns.tools import (
    Tool,
    Tools,
    is_address,
    is_elsewhere,
    line_of,
    name_for,
    server_tools,
    typed_server,
)
from tui.errors import SibylError, StorageError, UsageError
from tui.screens.page import ReportScreen
from tui.screens.tools import ToolChange, ToolScreen, WentBack

_LINE = "Its command line, or its address: uvx mcp-server-time, https://tools.example/mcp"
_HIDDEN_LINE = "Its address has a secret, and is not shown: Enter keeps it."
_VARIABLE = "A variable that it needs, such as API_KEY; Enter without one starts it."
_HEADER = "A header that it needs, such as Authorization; Enter without one connects it."


class ToolController(Controller):
    """Opens the list of tools, and carries out what is chosen in it."""

    _tools: Tools
    _allowed: Allowed = Allowed()

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
                work = self._tools.setup.servers.restart(row.server)
            case "sign in" if row:
                work = self._sign_in(screen, row.server)
            case "withdraw" if row and row.approval:
                work = self._tools.approvals.withdraw((row.approval,))
            case "withdraw all":
                work = self._tools.approvals.withdraw_all()
            case "show" if row:
                page = ReportScreen(row.text.strip(), self._about(row), lambda _: None)
                self._app.push_screen(page)
                return None
            case "add":
                return screen.set_up(partial(self._set_up, screen))
            case "edit" | "remove" if row and self._tools.setup.kept_server(row.server) is None:
                return screen.tell_trouble(f"{row.server} is in your config.toml: change it there.")
            case "edit" if row:
                return screen.set_up(partial(self._set_up, screen, row.server))
            case "remove" if row:
                work = self._tools.setup.remove(row.server)
            case _:
                return None
        # It is done also if the list is closed meanwhile.
        self._app.run_worker(partial(self._carry_out, screen, work), name="change the tools")
        return None

    async def _carry_out(self, screen: ToolScreen, work: Awaitable[object]) -> None:
        try:
            await work
        except SibylError as error:
            screen.tell_trouble(str(error))
        await self._read_approvals(screen)

    async def _sign_in(self, screen: ToolScreen, name: str) -> None:
        """Forget the sign-in at a server that is ready, and else have the user sign in."""
        servers = self._tools.setup.servers
        is_ready = any(each.name == name and each.state == "ready" for each in servers.statuses())
        if not is_ready:
            await servers.restart(name)
        elif not await servers.forget_sign_in(name):
            screen.tell_trouble(f"{name} has wanted no sign-in.")

    async def _set_up(self, screen: ToolScreen, name: str = "") -> str:
        """Ask for a server, start it, show its tools, and keep it; gives its row.

        Raises ``WentBack`` from the first step.
        """
        setup = self._tools.setup
        old = setup.kept_server(name)
        title = f"Edit {name}" if old else "Add a server of tools"
        line, error, variable, step = line_of(old) if old else "", "", "", "line"
        typed: dict[str, str] = {}
        while step != "kept":
            whole = line or (old and old.url) or ""
            kept = (old.env or old.headers) if old and not is_elsewhere(whole, old) else None
            secrets = {**(kept or {}), **typed}
            try:
                if step == "line":
                    words = _HIDDEN_LINE if old and not line else _LINE
                    line = await screen.ask(title, error or words, line, error=bool(error))
                    error, step = "", "variable" if old else "name"
                elif step == "name":
                    words = "The name of the server, which its tools have in theirs."
                    name = await screen.ask(title, words, name or name_for(line))
                    step = "variable"
                elif step == "variable":
                    asked = _HEADER if is_address(whole) else _VARIABLE
                    variable = await screen.ask(title, f"{asked}{_set(secrets)}", variable)
                    step = "value" if variable else "trial"
                elif step == "value":
                    words = f"The value of {variable}"
                    typed[variable] = await screen.ask(title, words, secret=True)
                    variable, step = "", "variable"
                else:
                    taken = {each.name for each in setup.servers.statuses()}
                    if not old and name in taken:
                        raise UsageError(f"There is a server {name} already.")
                    server = typed_server(whole, name, {k: v for k, v in secrets.items() if v}, old)
                    error = await self._try(screen, name, server)
                    step = "line" if error else "kept"
            except WentBack:
                if step == "line":
                    raise
                before = {"name": "line", "variable": "line" if old else "name"}
                step = before.get(step, "variable")
            except SibylError as refused:
                error, step = str(refused), "line"
        return f"server:{name}"

    async def _try(self, screen: ToolScreen, name: str, server: ToolServerSettings) -> str:
        """Start a server, and keep it if the user wants its tools; gives why it cannot be used."""
        trial = self._tools.setup.trial(name, server)
        keeping: asyncio.Future[None] | None = None
        try:
            [status] = await screen.wait_for(trial.start(), f"Starting {name} …")
            if status.state != "ready":
                return status.reason or f"{name} is {status.state}."
            rows = tool_rows((), (status,), (), Allowed())
            await screen.ask_to_keep(f"Keep {name}?", rows[0].detail, rows[1:])
            # Its end is not that of the screen: it would be on disk and not here.
            keeping = asyncio.ensure_future(self._tools.setup.keep(name, server, trial))
            await asyncio.shield(keeping)
        finally:
            if keeping is None:
                await trial.close()
        return ""

    def _about(self, row: ToolRow) -> str:
        tools = (*self._own, *server_tools(self._tools.setup.servers))
        named = {each.definition.name: each.definition for each in tools}
        text = [row.detail] if row.is_own or not row.tool else []
        if definition := named.get(row.tool):
            schema = json.dumps(definition.parameters, ensure_ascii=False, indent=2)
            text += [definition.description, f"Its arguments:\n{schema}"]
        return "\n\n".join(text)

    @property
    def _own(self) -> Sequence[Tool]:
        project = self._workspace.current.session.header.project_path
        return self._tools.setup.own(project)

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
        own = tuple(
            ListedTool(
                each.definition.name,
                each.definition.name,
                each.about.partition("\n")[0],
                each.approval,
                each.definition.name in self._tools.setup.enabled,
            )
            for each in self._own
        )
        off = self._workspace.current.session.settings.tools_off
        return tool_rows(own, self._tools.setup.servers.statuses(), off, self._allowed)


def _set(secrets: Mapping[str, str]) -> str:
    """Name the variables that are set; their values are shown nowhere."""
    names = listed([name for name, value in secrets.items() if value])
    return f" Set: {names}." if names else ""
