"""``/export``: a session as Markdown, never over anything."""

import errno
import os

import pytest

from tests.attached import PNG, picture, showing
from tests.commands.test_answers import answered


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


async def talked(commands, answer="**Well** said.\ud800"):
    await commands.program.send("A question")
    answered(commands, answer)
    return commands.workspace.current.id


async def test_a_session_is_written_to_a_file_of_its_id(commands, folder):
    session_id = await talked(commands)
    path = folder / f"{session_id}.md"
    assert await commands("/export") == f"Exported to {path}"
    text = path.read_text("utf-8")
    assert text.startswith("# A question\n")
    assert "A question\n\n## scripted:model" in text
    assert text.endswith("**Well** said.\ufffd\n")
    assert path.stat().st_mode & 0o777 == 0o600


async def test_what_was_written_before_stays(commands, folder):
    session_id = await talked(commands)
    (folder / f"{session_id}.md").write_text("mine")
    assert (await commands("/export")).endswith(f"{session_id}-2.md")
    assert (await commands("/export")).endswith(f"{session_id}-3.md")
    assert (folder / f"{session_id}.md").read_text() == "mine"
    assert len(list(folder.iterdir())) == 3


async def test_a_file_that_is_named_is_taken_unless_it_is_there(commands, folder):
    await talked(commands)
    path = folder / "my talk.md"
    assert await commands("/export my talk.md") == f"Exported to {path}"
    written = path.read_bytes()
    assert await commands("/export my talk.md") == f"Not exported: {path} already exists."
    assert path.read_bytes() == written


async def test_a_link_that_leads_nowhere_is_something_too(commands, folder):
    await talked(commands)
    (folder / "link.md").symlink_to(folder / "elsewhere.md")
    assert (await commands("/export link.md")).endswith("already exists.")
    assert not (folder / "elsewhere.md").exists()


async def test_a_folder_that_is_not_there_is_said(commands, folder):
    await talked(commands)
    told = await commands("/export no/such.md")
    assert told == f"Not exported: {folder}/no/such.md: No such file or directory."


@pytest.mark.parametrize("name", ["~nobody-of-that-name/x.md", "a\0b", "\ud800.md"])
async def test_what_cannot_be_the_name_of_a_file_is_said(commands, folder, name):
    await talked(commands)
    told = await commands(f"/export {name}")
    assert told == f"Not exported: {name} cannot be a file name."
    assert list(folder.iterdir()) == []


async def test_half_a_file_does_not_stay_on_a_full_disk(commands, folder, monkeypatch):
    await talked(commands)

    def full(descriptor, _):
        os.close(descriptor)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fdopen", full)
    told = await commands("/export talk.md")
    assert told == f"Not exported: {folder}/talk.md: No space left on device."
    assert list(folder.iterdir()) == []


async def test_of_an_empty_session_there_is_nothing_to_export(commands, folder):
    assert await commands("/export") == "Nothing to export."
    assert list(folder.iterdir()) == []


async def test_a_session_that_is_only_looked_at_is_exported_too(commands, folder, world):
    there = await world.session("Elsewhere", "Yes.")
    await commands.workspace.switcher.look_at(there)
    assert await commands("/export") == f"Exported to {folder / there}.md"
    assert "Elsewhere" in (folder / f"{there}.md").read_text()


async def test_pictures_are_written_beside_it(commands, folder):
    session_id = await talked(commands)
    commands.program.store.add_attachment(session_id, PNG)
    await commands.program.send(showing("see", picture()))
    await commands("/export talk.md")
    (written,) = (folder / "talk-attachments").iterdir()
    assert written.read_bytes() == PNG
    text = (folder / "talk.md").read_text("utf-8")
    assert f"![image: photo.png, 70 bytes](talk-attachments/{written.name})" in text


async def test_a_picture_that_cannot_be_written_is_said(commands, folder):
    session_id = await talked(commands)
    commands.program.store.add_attachment(session_id, PNG)
    await commands.program.send(showing("see", picture()))
    (folder / "talk-attachments").write_text("mine")
    assert "Cannot write a picture to " in await commands("/export talk.md")
    assert not (folder / "talk.md").exists()
