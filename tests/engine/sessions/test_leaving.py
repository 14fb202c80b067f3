"""Leaving the session on screen for good: what is shown in its place."""

import asyncio

import pytest

from tests.engine.workspaces import FULL
from tui.errors import SessionNotFound, StorageError, UsageError


def closing(program):
    """Gives up the session that is current now."""
    conversation = program.current

    async def give_up():
        await program.workspace.pool.close(conversation)

    return give_up


async def leave(program, give_up=None):
    left = await program.workspace.leave(program.workspace.current, give_up or closing(program))
    await program.settle()
    return left


async def test_the_most_recently_used_other_of_the_scope_is_looked_at(world):
    await world.session("oldest")
    other = await world.session("newer")
    await world.session("elsewhere", scope="project:/other")
    here, program = await world.opened("here")
    assert await leave(program)
    assert program.current.id == other
    assert world.holder(here) is None
    assert world.holder(other) is None
    assert world.reader.journal(here).load().closed_at


async def test_without_another_one_it_is_a_new_session_of_the_scope_and_the_draft_stays(world):
    await world.session("elsewhere", scope="project:/other")
    here, program = await world.opened("here")
    conversation = program.current
    await program.type("not done")

    async def give_up():
        await program.workspace.pool.keep_draft(conversation)
        await program.workspace.pool.close(conversation)

    assert await leave(program, give_up)
    assert program.current.untouched
    assert program.workspace.scope == "project:/shop"
    assert world.holder(here) is None
    assert world.drafts.load(here).text == "not done"
    # Nothing is written there any more.
    conversation.prompt.edit("")
    conversation.prompt.enqueue("late")
    conversation.prompt.hold_queue()
    await program.workspace.switcher.leave(conversation)
    assert world.drafts.load(here).text == "not done"


async def test_one_that_is_not_on_screen_any_more_is_given_up_and_what_is_there_stays(world):
    other = await world.session("other")
    here, program = await world.opened("here")
    left, given_up = program.current, []
    await program.workspace.open_session(other)

    async def give_up():
        given_up.append(left.id)

    assert not await program.workspace.leave(left, give_up)
    await program.settle()
    assert (given_up, program.current.id) == ([here], other)


async def test_a_session_that_cannot_be_saved_stays_and_no_other_is_held_until_it_is_abandoned(
    world,
):
    here, program = await world.opened("here")
    conversation = program.current
    program.store.fail_next(FULL, times=9)
    conversation.opened.add_message("user", "more")
    with pytest.raises(StorageError):
        await leave(program)
    assert program.current is conversation
    assert [held.id for held in program.workspace.open] == [here]
    assert len([lease for lease in program.store.leases if lease.lock.held]) == 1

    async def give_up():
        await program.workspace.pool.abandon(conversation)

    assert await leave(program, give_up)
    assert world.holder(here) is None
    assert world.texts(here) == ["here"]


async def test_another_one_that_is_gone_is_passed_over(world, monkeypatch):
    there = await world.session("there")
    gone = await world.session("gone")
    program = world.started(await world.session("here"))
    journal = program.store.journal

    def journal_of(session_id):
        return journal("gone" if session_id == gone else session_id)

    monkeypatch.setattr(program.store, "journal", journal_of)
    assert await leave(program)
    assert program.current.id == there


async def test_a_session_at_work_behind_it_can_take_its_place(world):
    _, program = await world.opened("there")
    program.current.activity.begin_answer()
    busy = program.current
    await program.open(await world.session("here"))
    assert await leave(program)
    assert program.current is busy


async def test_at_the_limit_no_new_session_takes_its_place(world):
    here = await world.session("here")
    program = world.started(here, limit=1)
    program.current.activity.begin_answer()
    with pytest.raises(UsageError):
        await leave(program)
    assert program.current.id == here
    assert world.holder(here) is not None


async def test_a_session_is_saved_and_closed_in_one_write_when_it_is_left_for_one_that_is_there(
    world, there, program
):
    left = program.current
    await program.send("hello", save=False)
    # Not for itself, nor for one that cannot be read: it goes on.
    assert await program.look_at(left.id)
    with pytest.raises(SessionNotFound):
        await program.look_at("session-20260101-000000-000000")
    await program.send("again")
    assert program.current is left
    assert world.texts(left.id) == ["hello", "again"]
    assert world.reader.journal(left.id).load().closed_at is None
    before = program.store.appends
    await program.send("bye", save=False)
    assert await program.look_at(there)
    assert program.store.appends == before + 1
    assert world.reader.journal(left.id).load().closed_at
    assert world.holder(left.id) is None


async def test_who_waits_no_more_for_sessions_that_were_left_does_not_stop_their_closing(
    world,
):
    program = world.started(await world.session("here"))
    disk, closed = asyncio.Event(), []

    async def close():
        await disk.wait()
        closed.append("here")

    program.workspace.switcher.do_behind(close())
    waiting = asyncio.create_task(program.workspace.switcher.settle())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    disk.set()
    await program.workspace.switcher.settle()
    assert closed == ["here"]
