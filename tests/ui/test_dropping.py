"""Files dropped on the terminal: their paths become references, if they are there."""

import shlex

import pytest
from textual import events

from tests.ui.world import PLACE, World
from tests.waiting import until
from tui.engine.sessions.open_session import SessionOrigin


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text("total = 0\n")
    (folder / "to buy.txt").write_text("milk\n")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


@pytest.fixture
def world(tmp_path, project):
    world = World(tmp_path / "data")
    world.place = SessionOrigin(PLACE.scope, str(project), PLACE.model)
    return world


def paste(app, text):
    app.post_message(events.Paste(text))


async def test_dropped_files_become_references_and_an_undo_brings_their_paths_back(
    world, project, tmp_path
):
    dropped = shlex.join([str(project / "to buy.txt"), str(tmp_path / "photo.png")]) + " "
    async with world.running() as (app, pilot):
        await pilot.press(*"see ")
        paste(app, dropped)
        wanted = f'see @"to buy.txt" @{tmp_path}/photo.png '
        await until(lambda: app.chat.prompt.text == wanted)
        await pilot.press("!")
        assert app.chat.prompt.text == f"{wanted}!"
        await pilot.press("ctrl+z", "ctrl+z")
        assert app.chat.prompt.text == f"see {dropped}"
        await pilot.press("ctrl+z")
        assert app.chat.prompt.text == "see "


async def test_a_uri_and_a_folder_are_dropped_too(world, project, tmp_path):
    async with world.running() as (app, _):
        paste(app, f"{(project / 'to buy.txt').as_uri()}\r\n{tmp_path.as_uri()}\r\n")
        await until(lambda: app.chat.prompt.text == f'@"to buy.txt" @{tmp_path}/ ')


async def test_a_reference_is_a_word_of_its_own(world, project):
    async with world.running() as (app, pilot):
        await pilot.press(*"see")
        paste(app, str(project / "cart.py"))
        await until(lambda: app.chat.prompt.text == "see @cart.py ")


async def test_what_was_typed_behind_a_drop_stays(world, project):
    async with world.running() as (app, _):
        paste(app, str(project / "cart.py"))
        for key in "why":
            app.post_message(events.Key(key, key))
        await until(lambda: app.chat.prompt.text == "@cart.py why")
