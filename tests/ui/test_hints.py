"""What is said where a key does nothing."""

import pytest

from tests.ui.screen import notice, rows
from tests.waiting import until
from tui.app.appearance import Appearance


@pytest.mark.full
async def test_a_key_that_does_nothing_says_why_and_says_it_once(world):
    w = world()
    there = await w.session("Hello", "Yes.")
    async with w.running(there) as (app, pilot):
        await until(lambda: rows(app) == [there], "the list")
        for keys, words in (
            (["ctrl+b", "ctrl+c"], "Nothing is selected. Ctrl+Q quits."),
            (["ctrl+t"], "No to-dos yet. /todo add TEXT adds one"),
            (["ctrl+b", "x", "ctrl+c"], "Nothing is selected. Ctrl+Q quits."),
            (["alt+5"], "There is no session 5 in the list."),
            (["f6", "c"], "No code to copy; y copies the message."),
            (["f3"], "No tool is waiting for approval"),
            (["alt+1"], "Session 1 is already on screen."),
            (["alt+up"], "There is no other session in the list"),
        ):
            await pilot.press(*keys)
            await until(lambda words=words: words == notice(app), words)
            await pilot.press(keys[-1])
            await pilot.pause()
            assert notice(app) == words
            assert app.chat.key_line.notices.waiting == 0


async def test_a_walk_says_at_both_ends_of_the_list_that_it_is_one(world):
    w = world()
    ids = [await w.session(f"Hello {n}", "Yes.") for n in range(2)]
    async with w.running(ids[0]) as (app, pilot):
        await until(lambda: sorted(rows(app)) == sorted(ids), "the list")
        for step, end, target in (("up", "first", rows(app)[0]), ("down", "last", rows(app)[-1])):
            await pilot.press(f"alt+{step}")
            await until(lambda target=target: app.chat.shown == target, f"the {end} of the list")
            await pilot.press(f"alt+{step}")
            told = f"This is the {end} session of the list."
            await until(lambda told=told: told in notice(app), told)


@pytest.mark.full
async def test_what_is_done_to_a_session_is_not_done_to_a_heading(world):
    w = world()
    there = await w.session("Hello", "Yes.")
    async with w.running(there) as (app, pilot):
        await until(lambda: rows(app) == [there], "the list")
        await pilot.press("ctrl+b", "left")
        for key in ("a", "r", "d"):
            await pilot.press(key)
            await until(lambda: "This is a group. Right unfolds it" in notice(app), key)
            app.chat.key_line.notices._advance()


async def test_without_a_message_there_is_none_to_go_to(world):
    async with world().running() as (app, pilot):
        for keys in (["pageup"], ["pagedown"], ["f6", "home"]):
            await pilot.press(*keys)
            await until(lambda: "There is no message yet." in notice(app), keys)
            app.chat.key_line.notices._advance()


async def test_the_key_that_leaves_is_named_as_it_was_chosen(world):
    w = world()
    w.appearance = Appearance(keys={"quit": "f10"})
    async with w.running() as (app, pilot):
        await pilot.press("x", "ctrl+c")
        await until(lambda: "F10 quits." in notice(app))


async def test_the_key_that_leads_to_the_list_leads_back(world):
    async with world().running() as (app, pilot):
        await pilot.press("ctrl+b")
        await until(lambda: app.chat.sidebar.rows.has_focus)
        await pilot.press("ctrl+b")
        await until(lambda: app.chat.prompt.has_focus_within)
