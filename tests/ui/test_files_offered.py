"""Files offered in the prompt: those of the project that the session belongs to."""

import pytest

from tests.ui.world import PLACE, World
from tests.waiting import until
from tui.engine.sessions.open_session import SessionOrigin


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "cart.py").write_text("total = 0\n")
    (folder / "to buy.txt").write_text("milk\n")
    return folder


@pytest.fixture
def world(tmp_path, project):
    world = World(tmp_path / "data")
    world.place = SessionOrigin(PLACE.scope, str(project), PLACE.model)
    return world


def offered(app):
    return [each.text for each in app.chat.prompt._list.found]


async def test_the_files_of_the_project_are_offered_and_taken(world):
    async with world.running() as (app, pilot):
        await pilot.press(*"look at @ca")
        await until(lambda: offered(app) == ["@src/cart.py "])
        await pilot.press("tab", *"@buy")
        await until(lambda: offered(app) == ['@"to buy.txt" '])
        await pilot.press("tab")
        assert app.chat.prompt.text == 'look at @src/cart.py @"to buy.txt" '


async def test_a_session_of_another_project_has_the_files_of_that_one(world, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "elsewhere.py").write_text("")
    session_id = await world.session("hello", project=str(other))
    async with world.running() as (app, pilot):
        await pilot.press("@")
        await until(lambda: "@src/cart.py " in offered(app))
        await pilot.press("backspace", *f"/load {session_id}", "enter")
        await until(lambda: app.workspace.current.id == session_id)
        await pilot.press("@")
        await until(lambda: offered(app) == ["@elsewhere.py "])


async def test_a_path_from_elsewhere_is_completed_folder_by_folder(world, tmp_path):
    async with world.running() as (app, pilot):
        await pilot.press(*f"@{tmp_path}/sh")
        await until(lambda: offered(app) == [f"@{tmp_path}/shop/"])
        await pilot.press("tab")
        await until(lambda: f"@{tmp_path}/shop/src/" in offered(app))


async def test_files_beside_the_project_are_offered(world):
    async with world.running() as (app, pilot):
        await pilot.press(*"@../sho")
        await until(lambda: offered(app) == ["@../shop/"])
