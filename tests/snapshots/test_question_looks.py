"""How a question of a server looks."""

import asyncio

import pytest

from tests.ui.test_server_questions import FORM
from tests.waiting import until
from tui.domain.tool_servers import read_question


@pytest.mark.parametrize("size", [(100, 30), (60, 15)], ids=["wide", "narrow"])
async def test_a_form(world, same_picture, size):
    w = world()
    async with w.running(size=size) as (app, pilot):
        question = read_question("files", FORM)
        asking = asyncio.create_task(app.controllers.questions.ask(question))
        await until(lambda: app.chat.question_panel)
        await pilot.press("f3", "enter")
        await same_picture(
            pilot, "server-question-wide" if size[0] > 60 else "server-question-narrow"
        )
        asking.cancel()
