"""``/todo``: what is shown as done is on disk."""

import asyncio

import pytest

from tests.engine.workspaces import FULL

USAGE = "Usage: /todo [list | add TEXT | start NUMBER | done NUMBER | remove NUMBER]"


def kept(world, session_id):
    """What is on disk, as another program reads it."""
    return [(item.content, item.status) for item in world.reader.journal(session_id).load().todos]


async def test_there_are_no_to_dos_before_one_is_added(commands, world):
    assert await commands("/todo") == "No to-dos yet. /todo add TEXT adds one"
    assert await commands("/todo list") == "No to-dos yet. /todo add TEXT adds one"
    assert commands.current.empty


async def test_what_is_added_is_on_disk_when_it_is_said(commands, world):
    assert await commands("/todo add Read the code") == "Added to-do 1: Read the code"
    assert await commands("/todo  ADD   会話を読む") == "Added to-do 2: 会話を読む"
    wanted = [("Read the code", "pending"), ("会話を読む", "pending")]
    assert kept(world, commands.current.id) == wanted
    assert commands.kinds == ["show_todos", "say"]


async def test_an_item_is_started_done_and_removed(commands, world):
    for text in ("one", "two", "three"):
        await commands(f"/todo add {text}")
    assert await commands("/todo start 2") == "Started to-do 2: two"
    assert await commands("/todo done 1") == "Completed to-do 1: one"
    assert await commands("/todo remove 3") == "Removed to-do 3: three"
    assert kept(world, commands.current.id) == [("one", "completed"), ("two", "in_progress")]
    assert (await commands("/todo")).splitlines() == [
        "To-dos: 1 of 2 done, 1 in progress",
        "  1. [x] one",
        "  2. [>] two",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        *["add", "add \u200b", "done", "done 1x", "done 1 2", "remove", "start -1", "start ٣"],
        *["list 1", "what", "done " + "9" * 5000],
    ],
)
async def test_what_cannot_be_meant_is_answered_with_how_it_is_used(commands, arguments):
    await commands("/todo add one")
    assert await commands(f"/todo {arguments}") == USAGE
    assert [item.status for item in commands.current.session.todos] == ["pending"]


async def test_a_number_out_of_range_changes_nothing_and_opens_nothing(started, world):
    there = await world.session("hello")
    commands = started()
    await commands.program.look_at(there)
    before = world.bytes(there)
    assert await commands("/todo done 1") == "No to-dos."
    assert commands.current.opened is None
    assert world.bytes(there) == before


async def test_a_session_that_is_looked_at_is_opened_by_the_change(started, world):
    there = await world.session("hello")
    commands = started()
    await commands.program.look_at(there)
    await commands("/todo add one")
    assert commands.current.opened is not None
    assert kept(world, there) == [("one", "pending")]


async def test_a_list_that_another_program_has_changed_since_is_not_written_over(started, world):
    there = await world.session("hello")
    commands = started()
    await commands.program.look_at(there)
    other = started(there)
    await other("/todo add theirs")
    await other.program.end()
    told = await commands("/todo add mine")
    assert told == "Another window changed the to-dos meanwhile. /todo shows them"
    assert kept(world, there) == [("theirs", "pending")]
    assert (await commands("/todo")).endswith("1. [ ] theirs")
    assert await commands("/todo add mine") == "Added to-do 2: mine"


async def test_a_change_in_a_session_that_was_left_meanwhile_is_kept_and_the_session_closed(
    started, world
):
    there = await world.session("hello")
    commands = started()
    await commands.program.look_at(there)
    asked = asyncio.create_task(commands("/todo add one"))
    await asyncio.sleep(0)  # it waits for the lease
    await commands.workspace.begin()
    await asked
    await commands.program.settle()
    assert kept(world, there) == [("one", "pending")]
    assert world.holder(there) is None


async def test_what_cannot_be_saved_is_told_and_comes_with_the_next_save(commands, world):
    await commands("/todo add one")
    commands.program.store.fail_next(FULL)
    assert await commands("/todo done 1") == str(FULL)
    assert kept(world, commands.current.id) == [("one", "pending")]
    assert commands.current.unsaved
    await commands("/save")
    assert kept(world, commands.current.id) == [("one", "completed")]


async def test_the_list_is_found_behind_many_messages_after_a_kill(commands, started, world):
    await commands("/todo add far back")
    for number in range(300):
        commands.current.opened.add_message("user", f"{number} " + "x" * 500)
    await commands("/save")
    there = commands.current.id
    commands.program.store.die()
    assert "far back" in await started(there)("/todo")
