"""How a call looks that waits for the user."""

import pytest

from tests.engine.scripted_servers import ScriptedServers, set_up
from tests.ui.screen import rows, send, wait_for_answer
from tests.visible_text import visible_text
from tests.waiting import until
from tui.domain.journal.message import ToolCall
from tui.engine.turns.tools import Tools

CALL = ToolCall("c1", "files__read_file", {"path": "会話.md", "mode": "red\x1b[31m \u202e"})


@pytest.mark.parametrize("size", [(120, 40), (40, 10)], ids=["wide", "narrow"])
async def test_a_call_that_waits(world, same_picture, size):
    w = world(["A plan.", CALL], ["Done."])
    w.tools = Tools(set_up(servers=ScriptedServers()))
    async with w.running(size=size) as (app, pilot):
        await send(pilot, "Read it.")
        await until(lambda: "read_file" in "\n".join(visible_text(app.chat.approval)))
        await pilot.press("f3")
        await until(lambda: app.chat.approval.has_focus and rows(app))
        await same_picture(pilot, "approval-wide" if size[0] > 60 else "approval-narrow")
        await pilot.press("escape")
        await wait_for_answer(w)
