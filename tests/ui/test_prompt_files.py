"""Files and pictures in the prompt: offered, dropped, pasted, and named in its border."""

import hashlib
import shlex

import pytest
from textual import events

from tests.ui.screen import notices
from tests.ui.world import PLACE, World
from tests.waiting import until
from tui.domain.journal.message import ImageBlock
from tui.engine.sessions.open_session import SessionOrigin
from tui.widgets.prompt.editor import Editor


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "cart.py").write_text("total = 0\n")
    (folder / "to buy.txt").write_text("milk\n")
    return folder


@pytest.fixture
def offering(tmp_path, tree):
    offering = World(tmp_path / "data")
    offering.place = SessionOrigin(PLACE.scope, str(tree), PLACE.model)
    return offering


def offered(app):
    return [each.text for each in app.chat.prompt._list.found]


async def test_the_files_of_the_project_are_offered_and_taken(offering):
    async with offering.running() as (app, pilot):
        await pilot.press(*"look at @ca")
        await until(lambda: offered(app) == ["@src/cart.py "])
        await pilot.press("tab", *"@buy")
        await until(lambda: offered(app) == ['@"to buy.txt" '])
        await pilot.press("tab")
        assert app.chat.prompt.text == 'look at @src/cart.py @"to buy.txt" '


async def test_a_session_of_another_project_has_the_files_of_that_one(offering, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "elsewhere.py").write_text("")
    session_id = await offering.session("hello", project=str(other))
    async with offering.running() as (app, pilot):
        await pilot.press("@")
        await until(lambda: "@src/cart.py " in offered(app))
        await pilot.press("backspace", *f"/load {session_id}", "enter")
        await until(lambda: app.workspace.current.id == session_id)
        await pilot.press("@")
        await until(lambda: offered(app) == ["@elsewhere.py "])


async def test_a_path_from_elsewhere_is_completed_folder_by_folder(offering, tmp_path):
    async with offering.running() as (app, pilot):
        await pilot.press(*f"@{tmp_path}/sh")
        await until(lambda: offered(app) == [f"@{tmp_path}/shop/"])
        await pilot.press("tab")
        await until(lambda: f"@{tmp_path}/shop/src/" in offered(app))


async def test_files_beside_the_project_are_offered(offering):
    async with offering.running() as (app, pilot):
        await pilot.press(*"@../sho")
        await until(lambda: offered(app) == ["@../shop/"])


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text("total = 0\n")
    (folder / "to buy.txt").write_text("milk\n")
    (folder / "[b]x").write_text("")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


@pytest.fixture
def world(tmp_path, project):
    world = World(tmp_path / "data", ["a sunset"])
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


async def test_a_key_pastes_the_picture_and_it_is_sent_with_the_question(world, clipboard):
    async with world.running() as (app, pilot):
        await pilot.press(*"what is", "alt+v")
        await until(lambda: app.chat.prompt.text == f"what is {REFERENCE} ")
        await pilot.press("?", "enter")
        session = app.workspace.current
        await until(lambda: len(session.session.loaded_messages) == 2)
        (question, _) = session.session.loaded_messages
        assert [each.sha256 for each in question.attachments] == [SHA256]
        assert isinstance(question.attachments[0], ImageBlock)
    assert world.other_program().attachment(session.id, SHA256) == PNG


async def test_the_command_does_the_same(world, clipboard):
    async with world.running() as (app, pilot):
        await pilot.press(*"/paste", "enter")
        await until(lambda: app.chat.prompt.text == f"{REFERENCE} ")


async def test_ctrl_v_pastes_a_picture_while_nothing_was_copied_here(world, clipboard):
    async with world.running() as (app, pilot):
        await pilot.press("ctrl+v")
        await until(lambda: app.chat.prompt.text == f"{REFERENCE} ")


async def test_the_draft_has_the_picture_in_the_next_run(world, clipboard):
    async with world.running() as (app, pilot):
        session_id = app.workspace.current.id
        await pilot.press("alt+v")
        await until(lambda: app.chat.prompt.text)
    assert world.other_program().attachment(session_id, SHA256) == PNG
    assert world.other_program().find_attachment(session_id, SHA256[:16]) == SHA256


async def test_a_private_session_keeps_it_in_memory(world, clipboard, tmp_path):
    async with world.running() as (app, pilot):
        await pilot.press(*"/private", "enter")
        await until(lambda: app.workspace.current.private)
        await pilot.press("alt+v")
        await until(lambda: app.chat.prompt.text == f"{REFERENCE} ")
        found = app.workspace.reader.attachment(app.workspace.current.id, SHA256)
        assert found == PNG
        assert [each for each in world.root.rglob("*") if SHA256 in each.name] == []
        await pilot.press("escape", "escape")


async def test_without_a_picture_a_notice_says_so(world, clipboard):
    clipboard.write_text("only text")
    async with world.running() as (app, pilot):
        await pilot.press("alt+v")
        await until(lambda: "There is no picture in the clipboard." in notices(app))
        assert app.chat.prompt.text == ""
