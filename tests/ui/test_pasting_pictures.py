"""The picture in the clipboard: kept at once, and referred to in the prompt."""

import hashlib

import pytest

from tests.ui.screen import notices
from tests.ui.world import World
from tests.waiting import until
from tui.domain.journal.message import ImageBlock

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
SHA256 = hashlib.sha256(PNG).hexdigest()
REFERENCE = f"@image-{SHA256[:16]}.png"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "data", ["a sunset"])


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
