"""Words and keys that leave the program, and those that only look so."""

import pytest

from tests.ui.screen import conversation, send, wait_for_answer
from tests.waiting import until


@pytest.mark.parametrize("typed", ["exit", "quit", ":q", "/exit"])
async def test_a_word_leaves_the_program_and_is_not_sent(world, typed):
    w = world(["No."])
    async with w.running() as (app, pilot):
        await send(pilot, typed)
        await until(lambda: not app.is_running, "the end")
    assert w.model.requests == []


async def test_a_space_before_the_word_sends_it(world):
    w = world(["No."])
    async with w.running() as (app, pilot):
        await send(pilot, " quit")
        await wait_for_answer(w)
        assert app.is_running
        assert "quit" in conversation(app)
    assert w.model.requests[0].messages[-1].text == " quit"


async def test_ctrl_d_leaves_only_from_an_empty_prompt(world):
    async with world().running() as (app, pilot):
        await pilot.press("a", "b", "home", "ctrl+d")
        assert app.chat.prompt.text == "b"
        await pilot.press("ctrl+d")
        assert app.chat.prompt.text == ""
        assert app.is_running
        await pilot.press("ctrl+d")
        await until(lambda: not app.is_running, "the end")


async def test_a_slash_alone_shows_the_commands_and_is_not_sent(world):
    w = world(["No."])
    async with w.running() as (app, pilot):
        await pilot.press("slash", "escape")
        assert not app.chat.prompt.completing
        await pilot.press("enter")
        assert app.chat.prompt.completing
        assert app.chat.prompt.text == "/"
    assert w.model.requests == []
