"""Links: shown with their target, opened only after a question."""

import pytest
from textual.widgets import OptionList

from tests.ui.screen import conversation, notices, question, send, wait_for_answer
from tests.waiting import until
from tui.commands import viewers


@pytest.fixture
def opened(monkeypatch):
    """The targets that were given to the desktop."""
    targets = []

    async def open_outside(target):
        targets.append(target)
        return ""

    monkeypatch.setattr(viewers, "open_outside", open_outside)
    return targets


async def answered(world, pilot, app, text):
    await send(pilot, "Where?")
    await until(lambda: text in conversation(app))
    await wait_for_answer(world)
    await pilot.press("f6", "o")


async def test_o_opens_a_link_after_asking(world, opened):
    w = world(["Read [the notes](https://example.com/notes)."])
    async with w.running() as (app, pilot):
        await answered(w, pilot, app, "the notes (https://example.com/notes)")
        asked = await question(app)
        assert asked.startswith("Open https://example.com/notes ? (y/n)")
        assert "The link says: the notes" in asked
        await pilot.press("enter")
        await until(lambda: app.screen is app.chat, "the answer, which is no")
        assert not opened
        await pilot.press("o")
        await question(app)
        await pilot.press("y")
        await until(lambda: opened == ["https://example.com/notes"])


async def test_of_several_links_none_is_chosen_by_escape_and_one_by_enter(world, opened):
    w = world(["Read https://a.example or https://b.example."])
    async with w.running() as (app, pilot):
        await answered(w, pilot, app, "https://b.example")
        await until(lambda: bool(app.screen.query("OptionList")))
        await pilot.press("escape")
        await until(lambda: app.screen is app.chat)
        assert app.chat.transcript.has_focus
        await pilot.press("o")
        await until(lambda: bool(app.screen.query("OptionList")))
        await pilot.pause()
        await pilot.press("down", "enter")
        assert "Open https://b.example ?" in await question(app)
        assert not opened
        await pilot.press("y")
        await until(lambda: opened == ["https://b.example"])


async def test_a_link_is_chosen_once_by_two_clicks(world, opened):
    w = world(["Read https://a.example or https://b.example."])
    async with w.running() as (app, pilot):
        await answered(w, pilot, app, "https://b.example")
        await until(lambda: bool(app.screen.query("OptionList")))
        links = app.screen.query_one(OptionList)
        await until(lambda: links.highlighted == 0)
        links.action_select()
        links.action_select()
        assert "Open https://a.example ?" in await question(app)
        assert len(app.screen_stack) == 2
        await pilot.press("y")
        await until(lambda: opened == ["https://a.example"])
        assert app.screen is app.chat


async def test_without_a_link_it_says_so(world, opened):
    w = world(["Nowhere."])
    async with w.running() as (app, pilot):
        await answered(w, pilot, app, "Nowhere.")
        await until(lambda: "No link or picture in this message." in notices(app))
