"""How tools look: their list, a call that waits for the user, a question of a server."""

import asyncio

import pytest

from tests.engine.scripted_servers import ScriptedServers, offered, set_up
from tests.ui.screen import rows, send, wait_for_answer
from tests.ui.test_server_questions import FORM
from tests.visible_text import visible_text
from tests.waiting import until
from tui.domain.journal.message import ToolCall
from tui.domain.tool_servers import ToolApproval, read_question
from tui.engine.turns.tools import ToolApprovals, Tools
from tui.screens.tools import ToolScreen

CALL = ToolCall("c1", "files__read_file", {"path": "会話.md", "mode": "red\x1b[31m \u202e"})
wide_and_narrow = pytest.mark.parametrize(
    ("size", "width"), [((120, 40), "wide"), ((40, 10), "narrow")], ids=["wide", "narrow"]
)


@wide_and_narrow
async def test_a_call_that_waits(world, same_picture, size, width):
    w = world(["A plan.", CALL], ["Done."])
    w.tools = Tools(set_up(servers=ScriptedServers()))
    async with w.running(size=size) as (app, pilot):
        await send(pilot, "Read it.")
        await until(lambda: "read_file" in "\n".join(visible_text(app.chat.approval)))
        await pilot.press("f3")
        await until(lambda: app.chat.approval.has_focus and rows(app))
        await same_picture(pilot, f"approval-{width}")
        await pilot.press("escape")
        await wait_for_answer(w)


@wide_and_narrow
async def test_tools(world, same_picture, size, width):
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
        await same_picture(pilot, f"tools-{width}")


@pytest.mark.parametrize(("size", "width"), [((100, 30), "wide"), ((60, 15), "narrow")])
async def test_a_form(world, same_picture, size, width):
    w = world()
    async with w.running(size=size) as (app, pilot):
        question = read_question("files", FORM)
        asking = asyncio.create_task(app.controllers.questions.ask(question))
        await until(lambda: app.chat.question_panel)
        await pilot.press("f3", "enter")
        await same_picture(pilot, f"server-question-{width}")
        asking.cancel()
