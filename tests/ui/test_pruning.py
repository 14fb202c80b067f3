"""What is set aside behind the screen, and told on it."""

from datetime import timedelta

from tests.ui.screen import notices, rows, send, status, words
from tests.waiting import until
from tui.config.settings_schema import RetentionSettings


def state(world, session_id):
    return world.other_program().entry(session_id).status


async def test_the_start_archives_what_is_old_and_says_so(world):
    w = world()
    old = await w.session("Long ago")
    w.clock.now += timedelta(days=31)
    new = await w.session("Just now")
    async with w.running() as (app, _):
        await until(lambda: "1 older session moved to the archive" in notices(app), "the line")
        await until(lambda: rows(app)[1:] == [new], "the list without it")
    assert [state(w, each) for each in (old, new)] == ["archived", "closed"]


async def test_the_session_that_is_begun_in_stays_however_old_it_is(world):
    w = world()
    w.retention = RetentionSettings(backlog_limit=1)
    here = await w.session("Long ago")
    w.clock.now += timedelta(days=99)
    other = await w.session("Another")
    active = await w.session("Active")
    async with w.running(here) as (app, _):
        await until(lambda: "moved to the archive" in notices(app), "the line")
        assert state(w, here) == "open"
    assert [state(w, each) for each in (other, active)] == ["archived", "archived"]


async def test_ctrl_n_shows_the_new_session_and_then_what_was_archived(world):
    w = world(["Yes."])
    w.retention = RetentionSettings(backlog_limit=2)
    old = await w.session("Old")
    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await send(pilot, "Is it?")
        await until(lambda: "Yes." in words(app))
        await pilot.press("ctrl+n")
        await until(lambda: first not in status(app), "the new session")
        await until(lambda: "(archived 1 older)" in notices(app), "what was archived")
        await until(lambda: old not in rows(app), "the list without it")
    assert state(w, old) == "archived"


async def test_what_the_hook_does_wrong_is_told(world):
    w = world()
    w.hook = ("/nowhere/to/be/found",)
    old = await w.session("Long ago")
    w.clock.now += timedelta(days=31)
    await w.session("Just now")
    async with w.running() as (app, _):
        await until(lambda: "The archive hook could not be started" in notices(app), "the failure")
    assert state(w, old) == "archived"
