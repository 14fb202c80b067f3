"""``/save``, ``/reset``, ``/name``, ``/session save``, ``/copy`` and ``/export``."""

import errno
import os

import pytest

from tests.attached import PNG, picture, showing
from tests.commands.test_answering import answered
from tests.engine.workspaces import FULL, SHOP
from tests.planted import TOKEN
from tui.domain.text import NAME_CHARACTERS
from tui.errors import StorageError

# --- /save


async def test_save_writes_what_is_pending_in_every_open_session(commands, world):
    there = await world.session("one")
    first = commands.current
    first.activity.begin_answer()
    await commands.program.open(there)
    first.opened.add_message("user", "goes on")
    await commands.program.send("two", save=False)
    assert await commands("/save") == 'Saved "one"'
    assert commands.kinds == ["say"]
    assert world.texts(there) == ["one", "two"]
    assert world.texts(first.id) == ["goes on"]


@pytest.mark.parametrize("command", ["/save", "/session save"])
async def test_a_session_that_cannot_be_saved_says_why(commands, command):
    await commands.program.send("hello", save=False)
    commands.program.store.fail_next(FULL)
    told = await commands(command)
    assert told == f'Could not save "{commands.current.label()}": disk full'
    assert commands.severity == "error"
    assert await commands("/save") == 'Saved "hello"'


async def test_what_a_save_has_to_tell_is_shown_with_it(commands, world):
    await commands.program.send("hello")
    world.reader.path(commands.current.id).unlink()
    await commands.program.send("more", save=False)
    told = await commands("/save")
    assert told == 'Saved "Fork: hello"'
    assert len(commands.current.notices) == 1


async def test_a_session_that_is_looked_at_is_saved_as_it_is(commands, world):
    there = await world.session()
    await commands.program.look_at(there)
    before = world.bytes(there)
    assert (await commands("/save")).startswith("Saved ")
    assert world.bytes(there) == before


# --- /session save


async def test_the_session_on_screen_is_saved_and_its_place_told(commands, world):
    await commands.program.send("Hello there", save=False)
    mine = commands.current.id
    told = await commands("/session save")
    assert told == f'Saved "Hello there" to {world.reader.path(mine)}'
    assert world.texts(mine) == ["Hello there"]


@pytest.mark.parametrize("target", ["Auth bug", f"{SHOP}#1", "#1"])
async def test_any_session_can_be_named(commands, world, target):
    there = await world.session(name="Auth bug")
    told = await commands(f"/session save {target}")
    assert told == f'Saved "Auth bug" to {world.reader.path(there)}'
    assert commands.current.id != there


async def test_another_open_session_is_saved_too(commands, world):
    there = await world.session("Hello")
    await commands.program.open(there)
    conversation = commands.current
    conversation.activity.begin_answer()
    await commands("/new")
    conversation.opened.add_message("user", "More")
    await commands(f"/session save {there}")
    assert world.texts(there) == ["Hello", "More"]


async def test_what_another_program_holds_only_that_one_can_save(commands, world):
    there = await world.session("Hello")
    await world.started(there).open(there)
    told = await commands(f"/session save {there}")
    assert told.startswith(f"Session {there} is open in another window (pid ")


# --- /reset and /name


async def test_reset_stops_saves_and_begins_anew_under_the_same_id_and_name(commands, world):
    await commands("/name Auth bug")
    await commands.program.send("hello", save=False)
    current, commands.running = commands.current, True
    assert await commands("/reset") == "Started over. The earlier messages are kept"
    assert commands.kinds == ["show_session", "say"]
    assert not commands.running
    assert commands.current is current
    assert world.texts(current.id) == ["hello"]
    assert world.reader.journal(current.id).load().loaded_messages == ()
    assert (current.session.name, current.session.prompt_count) == ("Auth bug", 1)


async def test_reset_is_not_done_if_saving_fails(commands):
    await commands.program.send("hello", save=False)
    commands.program.store.fail_next(FULL, 2)
    assert await commands("/reset") == "Not reset: could not save (disk full)"
    assert commands.severity == "error"
    assert [m.text for m in commands.current.session.loaded_messages] == ["hello"]


async def test_reset_opens_a_session_that_is_looked_at(commands, world):
    there = await world.session()
    await commands.program.look_at(there)
    assert await commands("/reset") == "Started over. The earlier messages are kept"
    assert world.reader.journal(there).load().loaded_messages == ()


async def test_a_name_says_something_is_no_longer_than_its_limit_and_makes_a_session(
    commands, world
):
    for nothing in ("/name", "/name   "):
        assert await commands(nothing) == "Usage: /name TEXT"
        assert commands.current.empty
    assert await commands("/name  Auth bug ") == 'Renamed to "Auth bug"'
    assert world.reader.entry(commands.current.id).name == "Auth bug"
    await commands("/name " + "x" * NAME_CHARACTERS)
    assert world.reader.entry(commands.current.id).name == "x" * NAME_CHARACTERS
    told = await commands("/name " + "y" * (NAME_CHARACTERS + 1))
    assert told == "Name is longer than 200 characters."
    assert commands.severity == "error"
    assert world.reader.entry(commands.current.id).name == "x" * NAME_CHARACTERS


async def test_a_name_that_cannot_be_saved_says_so(commands):
    await commands.program.send("hello")
    commands.program.store.fail_next(StorageError("Cannot save it: no."))
    assert await commands("/name Plans") == "Cannot save it: no."
    assert commands.current.label() == "Plans"


async def test_a_session_held_elsewhere_is_not_named(commands, world):
    there = await world.session(name="Theirs")
    world.started(there)
    await commands.program.look_at(there)
    assert await commands("/name Mine") == f"Session {there} is read-only here."
    assert world.reader.entry(there).name == "Theirs"


# --- /copy


CODE = (
    "First:\n\n```sh\necho one\n```\n\nthen\n\n1. this:\n   ```py\n   if x:\n       y()\n   ```\n"
)


async def talked(commands, *answers):
    for answer in answers or ("**Well** said.\ud800",):
        await commands.program.send("A question")
        answered(commands, answer)
    return commands.current.id


async def test_the_last_answer_with_a_text_its_code_or_the_id_is_copied(commands):
    async def copied(what=""):
        await commands(f"/copy {what}")
        [(call, text)] = commands.calls
        assert call == "copy"
        return text

    assert await copied("id") == commands.current.id
    await talked(commands, "Only `words`.")
    assert await commands("/copy code") == "Nothing to copy."
    await talked(commands, CODE, "**The** last\x1b[2J one.\n")
    assert await copied() == "**The** last\x1b[2J one.\n"
    assert await copied("code") == "if x:\n    y()"
    await commands.program.send("A question")
    answered(commands, status="failed", error="refused")
    assert await copied() == "**The** last\x1b[2J one.\n"
    commands.current.opened.begin_answer("scripted:model").receive("So far")
    assert await copied() == "So far"


async def test_an_answer_before_a_reset_is_on_screen_and_copied(commands):
    await talked(commands, "Before.")
    await commands("/reset")
    await commands("/copy")
    assert commands.calls == [("copy", "Before.")]


# --- /export


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


async def test_a_session_is_written_to_a_file_of_its_title_that_replaces_none(commands, folder):
    assert await commands("/export") == "Nothing to export."
    assert list(folder.iterdir()) == []
    await talked(commands)
    path = folder / "A-question.md"
    assert await commands("/export") == f"Exported to {path}"
    text = path.read_text("utf-8")
    assert text.startswith("# A question\n")
    assert "A question\n\n## scripted:model" in text
    assert text.endswith("**Well** said.\ufffd\n")
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("mine")
    assert (await commands("/export")).endswith("/A-question-2.md")
    assert (await commands("/export")).endswith("/A-question-3.md")
    assert path.read_text() == "mine"
    assert len(list(folder.iterdir())) == 3


async def test_a_file_that_is_named_is_taken_unless_it_is_there_or_a_link(commands, folder):
    await talked(commands)
    path = folder / "my talk.md"
    assert await commands("/export my talk.md") == f"Exported to {path}"
    written = path.read_bytes()
    assert await commands("/export my talk.md") == f"Not exported: {path} already exists."
    assert path.read_bytes() == written
    # It leads nowhere.
    (folder / "link.md").symlink_to(folder / "elsewhere.md")
    assert (await commands("/export link.md")).endswith("already exists.")
    assert not (folder / "elsewhere.md").exists()


async def test_what_cannot_be_the_name_of_a_file_is_said(commands, folder):
    await talked(commands)
    for name in ("~nobody-of-that-name/x.md", "a\0b", "\ud800.md"):
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


async def test_secrets_are_counted_and_masked_where_that_is_asked_for(commands, folder):
    await commands.program.send(f"Why does {TOKEN} fail?")
    answered(commands, "It has expired.")
    found = "Found 2 secrets; --mask-secrets masks them."
    assert await commands("/export talk.md") == f"Exported to {folder / 'talk.md'}. {found}"
    assert (folder / "talk.md").read_text().count(TOKEN) == 2
    told = await commands("/export --mask-secrets my talk.md")
    assert told == f"Exported to {folder / 'my talk.md'}. Masked 2 secrets."
    assert (folder / "my talk.md").read_text().count("[masked GitHub token]") == 2
    path = folder / "Why-does-masked-GitHub-token-fail.md"
    assert await commands("/export --mask-secrets") == f"Exported to {path}. Masked 2 secrets."


async def test_a_session_that_is_only_looked_at_is_exported_too(commands, folder, world):
    there = await world.session("Elsewhere", "Yes.")
    await commands.workspace.switcher.look_at(there)
    assert await commands("/export") == f"Exported to {folder / 'Elsewhere.md'}"
    assert "Elsewhere" in (folder / "Elsewhere.md").read_text()


async def test_pictures_are_written_beside_it(commands, folder):
    session_id = await talked(commands)
    commands.program.store.add_attachment(session_id, PNG)
    await commands.program.send(showing("see", picture()))
    await commands("/export talk.md")
    (written,) = (folder / "talk-attachments").iterdir()
    assert written.read_bytes() == PNG
    text = (folder / "talk.md").read_text("utf-8")
    assert f"![image: photo.png, 70 bytes](talk-attachments/{written.name})" in text
