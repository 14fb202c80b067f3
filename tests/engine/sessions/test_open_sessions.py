"""Saving sessions, and giving them up with nothing lost."""

import threading

import pytest

from tests.engine.workspaces import FULL, said
from tui.errors import StorageError, StorageFull
from tui.storage.file_holding import FileLease


async def test_a_save_says_when_and_what_was_saved(program):
    await program.send("hello")
    current = program.current
    assert str(current.save).startswith("saved ")


async def test_a_save_with_nothing_pending_writes_nothing_and_says_nothing(world):
    there, program = await world.looked_at()
    before = world.bytes(there)
    assert await program.workspace.pool.try_save(program.current)
    assert world.bytes(there) == before
    assert str(program.current.save) == ""


async def test_a_save_in_progress_is_said_and_over_when_it_is_done(world):
    _, program = await world.opened()
    await program.workspace.pool.save(program.current)
    assert not program.current.save.saving


async def test_what_could_not_be_saved_is_saved_when_there_is_room_again(world, program):
    current = program.current
    program.store.fail_next(FULL)
    await program.send("hello", save=False)
    assert not await program.workspace.pool.try_save(current)
    assert str(current.save) == "NOT SAVED: disk full"
    await program.send("again")
    assert world.texts(current.id) == ["hello", "again"]
    assert str(current.save).startswith("saved ")


@pytest.mark.parametrize("error", [RecursionError("too deep"), ValueError("4,300 digits")])
async def test_whatever_is_raised_while_saving_is_a_failed_save(world, program, error):
    current = program.current
    program.store.fail_next(error)
    await program.send("hello", save=False)
    with pytest.raises(StorageError) as raised:
        await program.workspace.pool.save(current)
    reason = f"{type(error).__name__}: {error}"
    assert str(raised.value) == f"Unexpected error: {reason}"
    assert str(current.save) == f"NOT SAVED: {reason}"
    assert current.unsaved_prompts == ("hello",)
    assert await program.workspace.pool.try_save(current)
    assert world.texts(current.id) == ["hello"]


async def test_whatever_is_raised_while_a_draft_is_kept_leaves_it_to_be_kept_later(world):
    there, program = await world.opened()
    await program.type("half")
    program.drafts.failures = [RecursionError("too deep")]
    with pytest.raises(StorageError, match="RecursionError: too deep"):
        await program.workspace.keep_drafts()
    await program.workspace.keep_drafts()
    assert world.drafts.load(there).text == "half"


async def test_all_sessions_are_saved_also_if_one_cannot_be(world):
    there = await world.session("one")
    program = world.started()
    first = program.current
    first.activity.begin_answer()
    await program.open(there)
    first.opened.add_message("user", "goes on")
    await program.send("two", save=False)
    program.store.fail_next(FULL)
    assert not await program.workspace.save_all()
    assert str(first.save) == "NOT SAVED: disk full"
    assert world.texts(there) == ["one", "two"]
    assert await program.workspace.save_all()
    assert world.texts(first.id) == ["goes on"]


async def test_closing_saves_what_is_pending_and_gives_the_session_up(world, program):
    await program.send("hello", save=False)
    current = program.current
    await program.workspace.pool.close(current)
    assert world.texts(current.id) == ["hello"]
    assert world.holder(current.id) is None
    assert program.workspace.open == ()


async def test_closing_ends_an_answer_where_it_is_and_writes_all_at_once(world, program):
    await program.send("hello")
    current = program.current
    current.opened.begin_answer("scripted:model").receive("half an ans")
    before = program.store.appends
    await program.workspace.pool.close(current)
    assert program.store.appends == before + 1
    last = world.reader.journal(current.id).load().loaded_messages[-1]
    assert (last.text, last.status) == ("half an ans", "interrupted")
    assert world.reader.entry(current.id).closed_at is not None


async def test_a_closing_that_failed_and_is_tried_again_loses_nothing(world, program):
    await program.send("hello", save=False)
    current = program.current
    program.store.fail_next(FULL)
    with pytest.raises(StorageFull):
        await program.workspace.pool.close(current)
    assert world.holder(current.id) is not None
    await program.workspace.pool.close(current)
    assert world.texts(current.id) == ["hello"]
    assert world.holder(current.id) is None


async def test_a_closing_that_failed_at_its_last_step_and_is_tried_again_loses_nothing(
    world, program
):
    await program.send("hello")
    current = program.current
    program.store.fail_next(FULL, 2)
    for _ in range(2):
        with pytest.raises(StorageFull):
            await program.workspace.pool.close(current)
        assert current.unsaved
        assert str(current.save) == "NOT SAVED: disk full"
    await program.workspace.pool.close(current)
    assert world.texts(current.id) == ["hello"]
    assert world.reader.entry(current.id).closed_at is not None


async def test_closing_what_is_not_open_does_nothing(world, there):
    before = world.bytes(there)
    program = world.started()
    await program.look_at(there)
    await program.workspace.pool.close(program.current)
    await program.workspace.pool.abandon(program.current)
    assert world.bytes(there) == before


async def test_closing_twice_writes_once(world, program):
    await program.send("hello")
    current = program.current
    await program.workspace.pool.close(current)
    await program.workspace.pool.close(current)
    assert world.bytes(current.id).count(b'"closed"') == 1


async def test_an_abandoned_session_is_free_whatever_was_pending(world, program):
    await program.send("hello")
    await program.send("never", save=False)
    current = program.current
    await program.workspace.pool.abandon(current)
    assert world.holder(current.id) is None
    assert world.texts(current.id) == ["hello"]


async def test_no_lease_is_given_up_on_the_event_loop(world, monkeypatch):
    """A server may be far away."""
    release, threads = FileLease.release, []

    def noted(lease):
        threads.append(threading.current_thread())
        release(lease)

    monkeypatch.setattr(FileLease, "release", noted)
    program = world.started()
    await program.send("hello")
    world.reader.path(program.current.id).unlink()
    await program.send("written to a copy")
    await program.workspace.begin()
    await program.settle()
    await program.workspace.pool.close(program.current)
    assert len(threads) >= 3
    assert threading.current_thread() not in threads


async def test_what_a_save_has_to_tell_stands_in_the_conversation(world, program):
    await program.send("hello")
    current = program.current
    old_id = current.id
    world.reader.path(old_id).unlink()
    await program.send("more")
    assert current.id != old_id
    assert world.texts(current.id) == ["hello", "more"]
    (words,) = said(current)
    assert words.startswith(f"Session {old_id}: its file is gone.")
    assert words.endswith(f"your open copy is saved as {current.id}.")
