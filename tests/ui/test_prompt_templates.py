"""The user's own slash commands."""

import pytest

from tests.ui.screen import notices, report, send, wait_for_answer, words
from tests.ui.world import messages
from tests.waiting import until
from tui.screens.page import HelpScreen

TEMPLATES = {"review": "Find the fault in {args}, only in {args}.", "just": "{args}"}


@pytest.fixture
def started(world):
    w = world(["It is fine."], ["Again."])
    w.prompts = TEMPLATES
    return w


async def test_it_sends_its_text_with_the_words_put_in_and_that_is_kept(started):
    async with started.running() as (app, pilot):
        await send(pilot, "/review a - b")
        await wait_for_answer(started)
        assert "Find the fault in a - b, only in a - b." in words(app)
        assert not app.chat.prompt.text
        session_id = started.workspace.current.id
    assert messages(started, session_id) == [
        ("user", "Find the fault in a - b, only in a - b.", None),
        ("assistant", "It is fine.", None),
    ]


async def test_it_is_completed_in_the_prompt(started):
    async with started.running() as (app, pilot):
        await until(lambda: app.chat.own_commands)
        await pilot.press("slash", "r", "e", "v", "tab")
        await until(lambda: app.chat.prompt.text == "/review ")


async def test_one_that_would_send_nothing_says_how_it_is_used(started):
    async with started.running() as (app, pilot):
        await send(pilot, "/just")
        await until(lambda: "Usage: /just [TEXT]" in notices(app))


async def test_help_names_it_and_says_what_it_sends(started):
    async with started.running() as (app, pilot):
        await until(lambda: app.chat.own_commands)
        await send(pilot, "/help review")
        await until(lambda: "Find the fault in {args}" in report(app), "what it sends")
        await pilot.press("f1")
        await until(lambda: isinstance(app.screen, HelpScreen))
        assert "Commands of your own" in app.screen.text()
        assert "/review [TEXT]" in app.screen.text()
