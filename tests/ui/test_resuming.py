"""Closed sessions on screen."""

from tests.ui.screen import notices, question, rows, send, status, words
from tests.waiting import until


async def test_a_listed_number_opens_its_session_and_its_prompt_count_goes_on(world, tmp_path):
    w = world(["Three."])
    old = await w.session("One?", "1", "Two?", "2", project=str(tmp_path))
    await w.session("Newer", project=str(tmp_path))
    async with w.running() as (app, pilot):
        await send(pilot, "/resume 2")
        await until(lambda: old in status(app), "the session")
        await until(lambda: 'Opened "One?"' in notices(app))
        assert w.other_program().holder(old)
        await send(pilot, "Three?")
        await until(lambda: "Three." in words(app))
        assert w.workspace.current.session.prompt_count == 3
    assert w.other_program().journal(old).load().prompt_count == 3


async def test_clearing_asks_and_empties_the_list(world):
    w = world()
    made = [await w.session(f"Number {number}") for number in range(3)]
    async with w.running() as (app, pilot):
        await until(lambda: set(made) < set(rows(app)), "the list")
        await send(pilot, "/resume clear")
        assert "Move all 3 closed sessions of 1 project to the trash?" in await question(app)
        await pilot.press("n")
        await until(lambda: "Nothing was moved." in notices(app))
        assert w.other_program().entry(made[0]).status == "closed"
        await send(pilot, "/resume clear")
        await question(app)
        await pilot.press("y")
        await until(lambda: "Moved 3 sessions to the trash." in notices(app))
        await until(lambda: not set(made) & set(rows(app)), "the list without them")
    assert {w.other_program().entry(each).status for each in made} == {"trashed"}
