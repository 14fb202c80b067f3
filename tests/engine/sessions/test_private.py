"""Private sessions in a workspace: in memory until they are kept, and lost when they are left."""

import pytest

from tests.attached import PNG, picture
from tests.builders import kept_texts
from tests.engine.workspaces import FULL
from tui.engine.sessions.final_save import FinalSave
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.errors import AttachmentNotFound, SessionNotFound, StorageFull, UsageError

SECRET = "xyzzy-plugh"


async def private(world, *texts):
    """A program in a private session in which these prompts were sent."""
    program = world.program()
    program.workspace.start_private()
    for text in texts:
        await program.send(text)
    return program


def on_disk(world):
    """All that is in files, and their names."""
    files = [path for path in world.root.parent.rglob("*") if path.is_file()]
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


async def test_nothing_of_a_private_session_reaches_the_disk(world):
    program = await private(world, SECRET)
    await program.workspace.change(program.current, lambda opened: opened.rename(SECRET))
    await program.type(f"{SECRET} again")
    await program.workspace.keep_drafts()
    await program.workspace.save_all()
    await program.workspace.note_opened(program.current)
    await program.end()
    assert SECRET.encode() not in on_disk(world)
    assert b"private-" not in on_disk(world)


async def test_the_end_rescues_what_others_have_and_nothing_of_it(
    world, program, tmp_path, monkeypatch
):
    other = program.current
    await program.send("kept")
    other.prompt.edit("the other's draft")
    other.activity.begin_answer()
    assert await program.workspace.begin_private()
    current = program.current
    current.opened.add_message("user", SECRET)
    await program.type(SECRET)
    memory = program.workspace.reader.of(current.id)
    monkeypatch.setattr(memory, "append", full)
    other.prompt.edit("the other's draft, later")
    program.drafts.failures = [FULL] * 9
    final = FinalSave(program.workspace, (tmp_path / "rescue",), None)
    await final.run()
    final.run_at_once()
    assert b"the other's draft, later" in on_disk(world)
    assert SECRET.encode() not in on_disk(world)
    assert b"private-" not in on_disk(world)
    assert not any("private-" in line for line in final.lines)


def full(*_):
    raise StorageFull("No room.")


async def test_one_with_a_message_is_left_only_if_the_user_agrees_to_what_was_asked(world):
    other = await world.session("there")
    program = await private(world, "hello", "again")
    current, workspace = program.current, program.workspace
    assert current.status().save.private
    assert kept_texts(workspace.reader, current.id) == ["hello", "again"]
    assert workspace.reader.resolve(current.id, "project:/shop") == current.id
    with workspace.switcher.letting_go(current), pytest.raises(SessionNotFound):
        await program.look_at("session-20260101-000000-000000")
    with pytest.raises(PrivateSessionLeft):
        await program.look_at(other)
    with pytest.raises(PrivateSessionLeft):
        await program.open(other)
    with pytest.raises(PrivateSessionLeft):
        await workspace.begin()
    assert program.current is current
    with workspace.switcher.letting_go(current):
        assert await program.look_at(other)
    assert workspace.open == ()
    assert workspace.switcher.find(current.id) is None


async def test_what_is_said_while_another_session_is_read_is_not_lost_unasked(world, monkeypatch):
    other = await world.session("there")
    program = await private(world)
    current, loader = program.current, program.workspace.loader
    read = loader.opened

    def said_meanwhile(session_id):
        current.opened.add_message("user", "hello")
        return read(session_id)

    monkeypatch.setattr(loader, "opened", said_meanwhile)
    with pytest.raises(PrivateSessionLeft):
        await program.open(other)
    assert program.current is current
    assert [m.text for m in current.session.loaded_messages] == ["hello"]
    assert world.holder(other) is None


async def test_one_without_a_message_is_left_at_once_and_begun_once(world):
    other = await world.session("there")
    program = await private(world)
    session_id = program.current.id
    # Nor is a picture kept that was not sent.
    program.workspace.reader.of(session_id).add_attachment(session_id, PNG)
    await program.type("half")
    assert await program.look_at(other)
    assert program.workspace.open == ()
    assert world.drafts.unclaimed(program.workspace.scope) is None
    with pytest.raises(AttachmentNotFound):
        program.workspace.reader.attachment(session_id, picture().sha256)
    assert await program.workspace.begin_private()
    assert program.current.private
    assert not await program.workspace.begin_private()
    assert await program.workspace.begin()
    assert not program.current.private


async def test_what_is_kept_has_all_of_it_under_a_new_id(world):
    program = await private(world, "hello")
    current = program.current
    opened, before = current.opened, current.id
    await program.workspace.change(current, lambda opened: opened.rename("Kept"))
    answer = opened.begin_answer("scripted:model")
    answer.receive("half an ")
    opened.add_piece(answer)
    await program.workspace.pool.save(current)
    current.prompt.edit("a draft")
    await program.workspace.keep()
    assert current.id != before
    assert not current.private
    answer.receive("answer")
    opened.end_answer(answer)
    await program.end()
    assert world.texts(current.id) == ["hello", "half an answer"]
    assert world.reader.entry(current.id).name == "Kept"
    assert world.reader.entry(current.id).ordinal == 1
    assert world.drafts.load(current.id).text == "a draft"
    assert world.reader.active("project:/shop") == current.id


async def test_what_cannot_be_kept_stays_private_and_goes_on(world):
    program = await private(world)
    with pytest.raises(UsageError, match="Nothing to keep"):
        await program.workspace.keep()
    await program.send("hello")
    current = program.current
    program.store.fail_next(FULL)
    with pytest.raises(StorageFull):
        await program.workspace.keep()
    assert current.private
    await program.send("again")
    await program.workspace.keep()
    assert world.texts(current.id) == ["hello", "again"]
    assert len(world.reader.entries([current.id])) == 1
    with pytest.raises(UsageError, match="already saved"):
        await program.workspace.keep()


async def test_a_picture_of_a_private_session_is_in_memory_only(world, tmp_path):
    other, photo = await world.session("there"), tmp_path / "photo.png"
    photo.write_bytes(PNG)
    program = await private(world, "hello")
    program.current.prompt.edit(f"see @{photo}", own=frozenset({f"@{photo}"}))
    attached = await program.workspace.attach(program.current, f"see @{photo}")
    await program.send(attached.content)
    current, sha256 = program.current, picture().sha256
    session_id = current.id
    assert program.workspace.reader.attachment(session_id, sha256) == PNG
    assert not (world.root / "attachments").exists()
    with program.workspace.switcher.letting_go(current):
        assert await program.look_at(other)
    with pytest.raises(AttachmentNotFound):
        program.workspace.reader.attachment(session_id, sha256)
