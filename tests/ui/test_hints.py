"""What is said where a key does nothing."""

import pytest

from tests.ui.screen import rows
from tests.waiting import until
from tui.appearance import Appearance


def said(app):
    return [each.message for each in app._notifications]


@pytest.fixture
def noticing(world):
    def make(*answers):
        w = world(*answers)
        w.toasts = True
        return w

    return make


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (["ctrl+c"], "Nothing is selected to be copied. Ctrl+Q leaves the program."),
        (["f2", "ctrl+c"], "Nothing is selected to be copied. Ctrl+Q leaves the program."),
        (["ctrl+t"], "No to-dos: /todo add <text> begins a list."),
        (["alt+5"], "There is no session 5 in the list."),
        (["f6", "enter"], "Nothing to open or fold here."),
        (["f6", "c"], "No code to copy; y copies the message."),
    ],
)
async def test_a_key_that_does_nothing_says_why_and_says_it_once(noticing, keys, words):
    w = noticing()
    there = await w.session("Hello", "Yes.")
    async with w.running(there) as (app, pilot):
        await until(lambda: rows(app) == [there], "the list")
        await pilot.press(*keys)
        await until(lambda: words in said(app), "the words")
        await pilot.press(keys[-1])
        await pilot.pause()
        assert said(app) == [words]


@pytest.mark.parametrize("key", ["y", "c", "j", "k", "i", "left_curly_bracket"])
async def test_without_a_message_there_is_none_to_go_to_or_to_copy(noticing, key):
    async with noticing().running() as (app, pilot):
        await pilot.press("f6", key)
        await until(lambda: "There is no message yet." in said(app))


async def test_the_key_that_leaves_is_named_as_it_was_chosen(noticing):
    w = noticing()
    w.appearance = Appearance(keys={"quit": "f10"})
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+c")
        await until(lambda: any("F10 leaves the program." in each for each in said(app)))


async def test_n_asks_what_to_find_where_nothing_was_found(world):
    w = world()
    there = await w.session("Hello", "Yes.")
    async with w.running(there) as (app, pilot):
        await pilot.press("f6", "n")
        await until(lambda: app.chat.find_line.has_keys)


async def test_the_key_that_leads_to_the_list_leads_back(world):
    async with world().running() as (app, pilot):
        await pilot.press("f2")
        await until(lambda: app.chat.sidebar.choosing)
        await pilot.press("f2")
        await until(lambda: app.chat.prompt.has_focus_within)
