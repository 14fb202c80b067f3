"""Files and pictures in the prompt: offered, dropped, pasted, and named in its border."""

import hashlib
import shlex

import pytest
from textual import events

from tests.ui.screen import paste, press
from tests.ui.world import PLACE, World
from tests.waiting import until
from tui.domain.journal.message import ImageBlock
from tui.engine.sessions.open_session import SessionOrigin
from tui.widgets.prompt.editor import Editor


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "cart.py").write_text("total = 0\n")
    (folder / "to buy.txt").write_text("milk\n")
    (folder / "[b]x").write_text("")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


@pytest.fixture
def world(tmp_path, project):
    world = World(tmp_path / "data", ["a sunset"])
    world.place = SessionOrigin(PLACE.scope, str(project), PLACE.model)
    return world


def offered(app):
    return [each.text for each in app.chat.prompt._list.found]


async def test_files_of_the_project_beside_it_and_by_folders_are_offered_and_taken(world, tmp_path):
    async with world.running() as (app, pilot):
        await pilot.press(*"look at @ca")
        await until(lambda: offered(app) == ["@src/cart.py "])
        await pilot.press("tab", *"@buy")
        await until(lambda: offered(app) == ['@"to buy.txt" '])
        await pilot.press("tab")
        assert app.chat.prompt.text == 'look at @src/cart.py @"to buy.txt" '
        await pilot.press(*"@../sho")
        await until(lambda: offered(app) == ["@../shop/"])
        app.chat.prompt.set_text("")
        await pilot.press(*f"@{tmp_path}/sh")
        await until(lambda: offered(app) == [f"@{tmp_path}/shop/"])
        await pilot.press("tab")
        await until(lambda: f"@{tmp_path}/shop/src/" in offered(app))


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


async def test_a_uri_and_a_folder_are_dropped_too_and_what_is_around_a_drop_stays(
    world, project, tmp_path
):
    async with world.running() as (app, pilot):
        paste(app, f"{(project / 'to buy.txt').as_uri()}\r\n{tmp_path.as_uri()}\r\n")
        await until(lambda: app.chat.prompt.text == f'@"to buy.txt" @{tmp_path}/ ')
        app.chat.prompt.set_text("")
        await pilot.press(*"see")
        paste(app, str(project / "src" / "cart.py"))
        for key in "why":
            app.post_message(events.Key(key, key))
        # A reference is a word of its own.
        await until(lambda: app.chat.prompt.text == "see @src/cart.py why")


def border(app):
    return app.query_one(Editor).border_subtitle


async def test_a_reference_is_named_with_its_size_a_missing_one_too_and_none_once_it_is_sent(world):
    named = "attached: src/cart.py 10 bytes"
    async with world.running() as (app, pilot):
        await pilot.press(*"see @src/cart.py @./gone ")
        await until(lambda: border(app) == f"not found: ./gone · {named}")
        await pilot.press("ctrl+u")
        await until(lambda: border(app) == "")
        await pilot.press(*"see @src/cart.py ")
        await until(lambda: border(app) == named)
        await pilot.press("enter")
        await until(lambda: "attached" not in border(app))


async def test_a_draft_says_it_in_the_next_run_and_names_are_no_markup(world):
    session_id = await world.session("hello", project=world.place.project_path)
    async with world.running(session_id) as (app, pilot):
        await pilot.press(*"@[b]x ")
        await until(lambda: border(app) == r"attached: \[b]x 0 bytes")
    async with world.running(session_id) as (app, _):
        await until(lambda: border(app) == r"attached: \[b]x 0 bytes")


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
SHA256 = hashlib.sha256(PNG).hexdigest()
REFERENCE = f"@image-{SHA256[:16]}.png"


@pytest.fixture
def clipboard(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "picture").write_bytes(PNG)
    tool = folder / "wl-paste"
    tool.write_text(f"#!/bin/sh\ncat {folder / 'picture'}\n")
    tool.chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    return folder / "picture"


async def test_keys_and_a_command_paste_the_picture_and_it_is_sent_with_the_question(
    world, clipboard
):
    async with world.running() as (app, pilot):
        prompt = app.chat.prompt
        # Ctrl+V does it while nothing was copied here.
        for keys in (["ctrl+v"], [*"/paste", "enter"]):
            await pilot.press(*keys)
            await until(lambda: prompt.text == f"{REFERENCE} ")
            prompt.set_text("")
        await pilot.press(*"what is", "alt+v")
        await until(lambda: prompt.text == f"what is {REFERENCE} ")
        await pilot.press("?", "enter")
        session = app.workspace.current
        await until(lambda: len(session.session.loaded_messages) == 2)
        (question, _) = session.session.loaded_messages
        assert [each.sha256 for each in question.attachments] == [SHA256]
        assert isinstance(question.attachments[0], ImageBlock)
        clipboard.write_text("only text")
        await press(pilot, "alt+v", says="There is no picture in the clipboard.")
        assert prompt.text == ""
    assert world.other_program().attachment(session.id, SHA256) == PNG


async def test_the_draft_has_the_picture_in_the_next_run(world, clipboard):
    async with world.running() as (app, pilot):
        session_id = app.workspace.current.id
        await pilot.press("alt+v")
        await until(lambda: app.chat.prompt.text)
    assert world.other_program().attachment(session_id, SHA256) == PNG
    assert world.other_program().find_attachment(session_id, SHA256[:16]) == SHA256


async def test_a_private_session_keeps_it_in_memory_and_sends_it(world, clipboard):
    async with world.running() as (app, pilot):
        await pilot.press(*"/private", "enter")
        await until(lambda: app.workspace.current.private)
        await pilot.press("alt+v")
        await until(lambda: app.chat.prompt.text == f"{REFERENCE} ")
        found = app.workspace.reader.attachment(app.workspace.current.id, SHA256)
        assert found == PNG
        await pilot.press("?", "enter")
        await until(lambda: world.model.requests, "the request")
        assert list(world.model.requests[0].images.values()) == [PNG]
    files = [each for each in world.root.rglob("*") if each.is_file()]
    assert not [each for each in files if SHA256 in each.name or PNG in each.read_bytes()]
