"""How a call looks that waits for the user."""

import pytest

from tests.snapshots.test_looks import settled
from tests.ui.screen import rows, send, wait_for_answer
from tests.waiting import until
from tui.domain.journal.message import ToolCall
from tui.domain.search.query import SearchResult
from tui.engine.turns.built_in_tools import built_in_tools
from tui.engine.turns.tools import Tools

TODO = {"content": "会話を読む", "status": "pending", "active_form": "red\x1b[31m \u202e"}


@pytest.mark.parametrize("size", [(120, 40), (40, 10)], ids=["wide", "narrow"])
async def test_a_call_that_waits(world, same_picture, size):
    w = world(["A plan.", ToolCall("c1", "write_todos", {"todos": [TODO]})], ["Done."])
    w.tools = Tools(built_in_tools(("write_todos",), lambda query, limit: SearchResult(), w.clock))
    async with w.running(size=size) as (app, pilot):
        await send(pilot, "Plan it.")
        await until(lambda: "write_todos" in app.chat.approval.visible_text())
        await pilot.press("f3")
        await until(lambda: app.chat.approval.has_focus and rows(app))
        await settled(pilot, app)
        same_picture(app, "approval-wide" if size[0] > 60 else "approval-narrow")
        await pilot.press("escape")
        await wait_for_answer(w)
