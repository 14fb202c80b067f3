"""How the search screen and the list of all sessions look."""

from datetime import timedelta

import pytest

from tests.ui.screen import terminal_rows
from tests.visible_text import results_text, visible_text
from tests.waiting import until


async def test_a_search(world, same_picture):
    w = world()
    w.store.archive(
        await w.session(
            "Which fields does the login page need?",
            "Two: a name and a word. All else of a login is the server's.",
            name="Sketch of the first page",
        )
    )
    w.clock.now += timedelta(days=3)
    await w.session(
        "login の日本語は何ですか。",
        "「ログイン」です。 On a button: 「ログインする」, as the verb of login.",
        name="日本語の画面",
        scope="project:/home/u/farm",
    )
    w.clock.now += timedelta(days=2, hours=3)
    await w.session(
        "The login fails after midnight, not always. Where would you look?",
        "At the clock: the login compares a local time with one in UTC.",
        "How do I test that?",
        "Run the tests of the login in two zones.",
        name="Login after midnight",
    )
    w.clock.now += timedelta(hours=2)
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+f", *"login")
        await until(lambda: results_text(app.screen) == "login")
        await until(lambda: any("login" in line for line in visible_text(app.screen.preview)))
        await until(lambda: "indexing" not in "".join(terminal_rows(app)), "the index")
        await same_picture(pilot, "search")


async def test_a_search_that_finds_nothing(world, same_picture):
    async with world().running(size=(80, 24)) as (app, pilot):
        await pilot.press("ctrl+f", *"nowhere")
        await until(lambda: results_text(app.screen) == "nowhere")
        await same_picture(pilot, "search_nothing")


@pytest.mark.parametrize(("size", "name"), [((120, 36), "sessions"), ((80, 24), "sessions-narrow")])
async def test_all_sessions(world, same_picture, size, name):
    w = world()
    w.store.archive(await w.session("What is a lease?", "The right to append to a session."))
    w.clock.now += timedelta(days=3)
    answer = "It is **2**, whatever the base:\n\n- in ten, `2`\n- in two, `10`"
    for question in ("What is two?", "What is two?", "Fix the login page that breaks in Safari"):
        await w.session(question, answer, scope="project:/home/u/farm")
        w.clock.now += timedelta(hours=2)
    await w.session("login の日本語は何ですか。", "「ログイン」です。", name="日本語の画面")
    async with w.running(size=size) as (app, pilot):
        await pilot.press("f2", "down", "down")
        await until(lambda: any("Safari" in each for each in visible_text(app.screen.preview)))
        await same_picture(pilot, name)
