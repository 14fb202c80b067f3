"""How the list of tools looks."""

import pytest

from tests.engine.scripted_servers import ScriptedServers, offered, set_up
from tests.ui.screen import send
from tests.waiting import until
from tui.domain.tool_servers import ToolApproval
from tui.engine.turns.tools import ToolApprovals, Tools
from tui.screens.tools import ToolScreen


@pytest.mark.parametrize("size", [(120, 40), (40, 10)], ids=["wide", "narrow"])
async def test_tools(world, same_picture, size):
    w = world()
    servers = ScriptedServers(offered(), offered("write_file", description="Write a file."))
    await servers.start()
    approvals = ToolApprovals(w.approvals_file)
    await approvals.allow(ToolApproval("files", "read_file", "1"), always=True)
    await approvals.allow(ToolApproval("git", "log", "1"), always=True)
    names = ("write_todos", "search_sessions")
    w.tools = Tools(set_up(*names, servers=servers), approvals=approvals)
    async with w.running(size=size) as (app, pilot):
        await send(pilot, "/tools")
        await until(lambda: isinstance(app.screen, ToolScreen), "the list")
        await until(lambda: len(app.screen.choices.lines) == 9, "what is allowed")
        await same_picture(pilot, "tools-wide" if size[0] > 60 else "tools-narrow")
