"""The border of the prompt says what will be attached."""

import pytest

from tests.ui.world import PLACE, World
from tests.waiting import until
from tui.engine.sessions.open_session import SessionOrigin
from tui.widgets.prompt.editor import Editor


@pytest.fixture
def world(tmp_path):
    project = tmp_path / "shop"
    project.mkdir()
    (project / "cart.py").write_text("total = 0\n")
    (project / "[b]x").write_text("")
    world = World(tmp_path / "data", ["ok"])
    world.place = SessionOrigin(PLACE.scope, str(project), PLACE.model)
    return world


def border(app):
    return app.query_one(Editor).border_subtitle


async def test_a_reference_is_named_with_its_size_and_a_missing_one_too(world):
    async with world.running() as (app, pilot):
        await pilot.press(*"see @cart.py @./gone ")
        await until(lambda: border(app) == "not found: ./gone · attached: cart.py 10 bytes")
        await pilot.press("ctrl+u")
        await until(lambda: border(app) == "")


async def test_a_sent_prompt_leaves_nothing_in_the_border(world):
    async with world.running() as (app, pilot):
        await pilot.press(*"see @cart.py ")
        await until(lambda: border(app) == "attached: cart.py 10 bytes")
        await pilot.press("enter")
        await until(lambda: "attached" not in border(app))


async def test_a_draft_says_it_in_the_next_run_and_names_are_no_markup(world):
    session_id = await world.session("hello", project=world.place.project_path)
    async with world.running(session_id) as (app, pilot):
        await pilot.press(*"@[b]x ")
        await until(lambda: border(app) == r"attached: \[b]x 0 bytes")
    async with world.running(session_id) as (app, _):
        await until(lambda: border(app) == r"attached: \[b]x 0 bytes")
