"""Switching between sessions, opening them, and what may get in the way."""

import asyncio
import threading

import pytest
from msgspec.structs import replace

from tests.engine.workspaces import FULL, SHOP, said
from tests.failing import raiser
from tests.waiting import until
from tui.domain.journal.records import Settings
from tui.domain.views.session_rows import Mark
from tui.engine.sessions.switching import StayedError
from tui.errors import (
    ReadOnly,
    SessionBusy,
    SessionNotFound,
    StorageError,
    UsageError,
)


class Slow:
    """Lets a reading wait until it is told to go on."""

    def __init__(self, monkeypatch, reader, name):
        self.go_on = threading.Event()
        self.begun = []
        read = getattr(reader, name)

        def slow(argument):
            self.begun.append(argument)
            assert self.go_on.wait(20)
            return read(argument)

        monkeypatch.setattr(reader, name, slow)


@pytest.fixture
def slow(monkeypatch):
    return lambda program, name: Slow(monkeypatch, program.workspace.loader, name)


@pytest.fixture
def reads(monkeypatch):
    """Gives the ids of the sessions that a program loads, as it loads them."""

    def watch(program):
        reader, loaded = program.workspace.loader, []
        for name in ("looked_at", "opened"):
            read = getattr(reader, name)

            def watched(session_id, read=read):
                loaded.append(session_id)
                return read(session_id)

            monkeypatch.setattr(reader, name, watched)
        return loaded

    return watch


# --- the start


async def test_a_new_session_is_held_and_leaves_nothing_behind(world, program):
    session_id = program.current.id
    assert program.workspace.open == (program.current,)
    assert world.holder(session_id) is not None
    await program.end()
    assert world.holder(session_id) is None
    with pytest.raises(SessionNotFound):
        world.reader.journal(session_id).load()


async def test_nothing_is_current_before_the_start(world):
    with pytest.raises(ValueError, match="not been started"):
        _ = world.program().workspace.current


async def test_a_start_in_a_session_holds_it_and_makes_it_the_active_one(world):
    first, second = await world.session(), await world.session()
    assert world.reader.active(SHOP) == second
    program = world.started(first)
    assert world.holder(first) is not None
    await program.workspace.note_opened(program.current)
    assert world.reader.active(SHOP) == first
    await program.end()


async def test_a_start_in_a_session_that_is_held_elsewhere_reads_it(world):
    there = await world.session("One")
    other = world.started(there)
    program = world.started(there)
    assert program.workspace.open == ()
    assert program.current.access.read_only
    assert other.current.opened is not None


# --- looking


async def test_looking_at_a_session_writes_nothing_and_holds_nothing(world):
    there = await world.session("One", "Two")
    before = world.bytes(there)
    program = world.started()
    assert await program.look_at(there)
    assert program.current.id == there
    assert world.holder(there) is None
    assert program.workspace.open == ()
    await program.end()
    assert world.bytes(there) == before


async def test_looking_never_makes_a_session_the_active_one(world):
    first, second = await world.session(), await world.session()
    program = world.started()
    await program.look_at(first)
    assert world.reader.active(SHOP) == second


async def test_a_session_left_with_nothing_going_on_is_saved_closed_and_free(world, there, program):
    first = program.current.id
    await program.send("hello")
    await program.look_at(there)
    assert world.texts(first) == ["hello"]
    assert world.holder(first) is None
    assert world.reader.entry(first).closed_at is not None


async def test_the_other_session_is_on_screen_before_the_one_that_was_left_is_closed(
    there, program
):
    await program.send("hello")
    left = program.current
    assert await program.workspace.switcher.look_at(there)
    assert program.current.id == there
    assert left in program.workspace.open
    await program.settle()
    assert left not in program.workspace.open


async def test_looking_at_what_is_not_there_stays(world, program):
    first = program.current
    with pytest.raises(SessionNotFound):
        await program.look_at("session-20260101-000000-000000")
    assert program.current is first
    assert world.holder(first.id) is not None


async def test_looking_at_the_session_on_screen_changes_nothing(program):
    current = program.current
    await program.type("half")
    assert await program.look_at(current.id)
    assert program.current is current
    assert (current.prompt.text, current.opened is None) == ("half", False)


async def test_selecting_a_session_that_is_looked_at_again_keeps_what_was_just_typed(world):
    there, program = await world.looked_at()
    current = program.current
    current.prompt.edit("half")
    assert await program.look_at(there)
    assert program.current is current
    await program.workspace.take(current)
    assert program.workspace.switcher.find(there) is current


# --- answers that go on


async def test_a_session_in_which_an_answer_is_made_stays_open_until_it_is_done(
    world, there, program
):
    await program.send("hello")
    running = program.current
    running.activity.begin_answer()
    await program.look_at(there)
    assert running in program.workspace.open
    assert program.workspace.marks()[running.id] is Mark.RUNNING
    running.activity.end_answer()
    await program.workspace.switcher.leave(running)
    assert world.holder(running.id) is None


@pytest.mark.parametrize("reason", ["running", "queued", "draft of a new session"])
async def test_coming_back_to_a_busy_session_finds_it_as_it_was(there, program, reason):
    first = program.current
    if reason == "running":
        first.activity.begin_answer()
    elif reason == "queued":
        first.prompt.enqueue("next")
    else:
        first.prompt.edit("not sent")
    await program.look_at(there)
    assert first in program.workspace.open
    await program.look_at(first.id)
    assert program.current is first


async def test_what_came_while_nobody_looked_is_unread_also_once_the_session_is_closed(
    there, program
):
    await program.send("hello")
    first = program.current
    first.activity.begin_answer()
    await program.look_at(there)
    first.activity.end_answer()
    first.unread = True
    await program.workspace.switcher.leave(first)
    assert program.workspace.marks()[first.id] is Mark.UNREAD
    await program.look_at(first.id)
    assert program.workspace.marks()[first.id] is Mark.NONE
    await program.look_at(there)
    assert first.id not in program.workspace.marks()


async def test_a_session_that_is_on_screen_is_not_left(program):
    await program.workspace.switcher.leave(program.current)
    assert program.workspace.open == (program.current,)


# --- several switches


async def test_of_several_switches_the_latest_wins_and_the_others_hold_nothing(world, slow):
    first, second, third = [await world.session() for _ in range(3)]
    program = world.started()
    opening = slow(program, "opened")
    tasks = [asyncio.create_task(program.workspace.open_session(first))]
    await until(lambda: opening.begun)
    tasks += [asyncio.create_task(program.workspace.open_session(each)) for each in (second, third)]
    await asyncio.sleep(0)
    opening.go_on.set()
    assert await asyncio.gather(*tasks) == [False, False, True]
    assert opening.begun == [first, third]
    await program.settle()
    assert program.current.id == third
    assert [each.id for each in program.workspace.open] == [third]
    assert [world.holder(each) is None for each in (first, second, third)] == [True, True, False]


async def test_a_switch_that_fails_is_not_told_once_another_one_is_wanted(there, program, slow):
    looking = slow(program, "looked_at")
    failing = asyncio.create_task(
        program.workspace.switcher.look_at("session-20260101-000000-000000")
    )
    await until(lambda: looking.begun)
    going = asyncio.create_task(program.workspace.switcher.look_at(there))
    await asyncio.sleep(0)
    looking.go_on.set()
    assert await asyncio.gather(failing, going) == [False, True]


async def test_a_session_that_was_given_up_is_left_also_if_the_one_wanted_then_is_not_there(
    world, program
):
    workspace = program.workspace
    await program.send("hello")
    closed = workspace.current
    closing, released = asyncio.Event(), asyncio.Event()

    async def close():
        closing.set()
        await released.wait()
        await workspace.pool.close(closed)

    leaving = asyncio.create_task(workspace.leave(workspace.current, close))
    await closing.wait()
    looking = asyncio.create_task(workspace.switcher.look_at("session-20200101-000000-000000"))
    await asyncio.sleep(0)  # it is wanted now
    released.set()
    await leaving
    with pytest.raises(SessionNotFound):
        await looking
    await program.send("more")
    assert world.texts(workspace.current.id) == ["more"]
    assert workspace.current is not closed


async def test_a_switch_superseded_while_this_session_is_saved_loads_nothing(world, reads):
    first, second = await world.session(), await world.session()
    program = world.started()
    loaded = reads(program)
    await program.send("hello", save=False)
    program.store.gate = threading.Event()
    losing = asyncio.create_task(program.workspace.open_session(first))
    await until(program.store.waiting.is_set)
    winning = asyncio.create_task(program.workspace.switcher.look_at(second))
    await asyncio.sleep(0)
    program.store.gate.set()
    assert await asyncio.gather(losing, winning) == [False, True]
    assert loaded == [second]


async def test_a_session_wanted_while_it_is_closed_is_read_when_that_is_done(world, there, program):
    await program.send("hello")
    first = program.current.id
    program.store.gate = threading.Event()
    await program.workspace.switcher.look_at(there)
    await until(program.store.waiting.is_set, "the closing")
    back = asyncio.create_task(program.workspace.switcher.look_at(first))
    await asyncio.sleep(0.01)
    assert not back.done()
    program.store.gate.set()
    assert await back
    await program.settle()
    await program.type("more")
    assert [each.id for each in program.workspace.open] == [first]
    assert world.holder(first) is not None


async def test_an_end_while_a_session_is_closed_gives_nothing_up_before_it_is_written(
    world, there, program
):
    await program.send("hello")
    left = program.current
    program.store.gate = threading.Event()
    await program.workspace.switcher.look_at(there)
    await until(program.store.waiting.is_set)
    ending = asyncio.create_task(program.workspace.pool.close(left))
    await asyncio.sleep(0.01)
    assert world.holder(left.id) is not None
    program.store.gate.set()
    await ending
    await program.settle()
    assert world.holder(left.id) is None
    assert world.bytes(left.id).count(b'"closed"') == 1


async def test_coming_back_before_the_closing_begins_keeps_the_session_open(world, there, program):
    await program.send("hello")
    first = program.current
    assert await program.workspace.switcher.look_at(there)
    assert await program.workspace.switcher.look_at(first.id)
    await program.settle()
    assert program.current is first
    assert world.holder(first.id) is not None


async def test_a_switch_saves_this_session_before_it_loads_the_other(world, there, program, reads):
    loaded = reads(program)
    await program.send("hello", save=False)
    program.store.gate = threading.Event()
    switch = asyncio.create_task(program.workspace.open_session(there))
    await until(program.store.waiting.is_set)
    assert (loaded, world.holder(there)) == ([], None)
    program.store.gate.set()
    assert await switch
    assert loaded == [there]


async def test_what_is_typed_while_the_other_session_is_loaded_is_kept(world, there, slow):
    program = world.started(await world.session())
    looking = slow(program, "looked_at")
    first = program.current
    switch = asyncio.create_task(program.workspace.switcher.look_at(there))
    await until(lambda: looking.begun)
    await program.type("half")
    looking.go_on.set()
    assert await switch
    await program.settle()
    assert world.drafts.load(first.id).text == "half"


# --- failures of a switch


async def test_a_session_that_cannot_be_saved_is_not_left_and_the_other_is_not_loaded(
    world, there, program, reads
):
    loaded = reads(program)
    await program.send("hello", save=False)
    first = program.current
    program.store.fail_next(FULL)
    with pytest.raises(StayedError) as raised:
        await program.open(there)
    assert str(raised.value) == f'Stayed in "{first.label()}": could not save (disk full)'
    assert program.current is first
    assert (loaded, world.holder(there)) == ([], None)
    assert str(first.save) == "NOT SAVED: disk full"
    assert program.workspace.marks()[first.id] is Mark.UNSAVED
    assert await program.open(there)
    assert world.texts(first.id) == ["hello"]


async def test_a_draft_that_cannot_be_kept_keeps_the_session_on_screen(world, there, program):
    await program.type("half a sentence")
    program.drafts.failures = [FULL]
    with pytest.raises(StayedError, match=r"could not save \(disk full\)"):
        await program.open(there)
    assert program.current.prompt.text == "half a sentence"
    assert world.holder(there) is None
    assert await program.open(there)
    assert str(program.workspace.switcher.find(there).save) == ""


async def test_a_closing_that_fails_keeps_what_is_unsaved_until_there_is_room_again(
    world, there, program
):
    await program.send("hello")
    first = program.current
    await program.workspace.switcher.look_at(there)
    first.opened.add_message("user", "late")
    program.store.fail_next(FULL, 3)
    await program.settle()
    assert first in program.workspace.open
    assert program.workspace.marks()[first.id] is Mark.UNSAVED
    assert world.holder(first.id) is not None
    assert not await program.workspace.save_all()
    program.store.failures.clear()
    assert await program.workspace.save_all()
    assert first not in program.workspace.open
    assert world.holder(first.id) is None
    assert world.texts(first.id) == ["hello", "late"]


async def test_a_session_that_only_could_not_be_noted_as_closed_is_given_up(world, there, program):
    await program.send("hello")
    first = program.current
    first.opened.note_state()
    await program.workspace.pool.save(first)
    await program.workspace.switcher.look_at(there)
    program.store.fail_next(FULL, 2)
    await program.settle()
    assert world.holder(first.id) is None
    assert world.texts(first.id) == ["hello"]


async def test_a_session_whose_draft_cannot_be_kept_at_the_last_moment_stays_open(world, there):
    program = world.started(await world.session())
    first = program.current
    await program.workspace.switcher.look_at(there)
    first.prompt.edit("typed at the last moment")
    program.drafts.failures = [FULL, FULL]
    await program.settle()
    assert first in program.workspace.open
    assert first.save.failure == "disk full"
    assert await program.workspace.save_all()
    assert world.holder(first.id) is None
    assert world.drafts.load(first.id).text == "typed at the last moment"


async def test_a_switch_that_is_cancelled_while_it_saves_holds_nothing(world, there, program):
    await program.send("hello", save=False)
    program.store.gate = threading.Event()
    switch = asyncio.create_task(program.workspace.open_session(there))
    await until(program.store.waiting.is_set)
    switch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await switch
    assert world.holder(there) is None
    program.store.gate.set()
    await program.end()
    assert world.texts(program.current.id) == ["hello"]


# --- the first change


async def test_the_first_change_takes_the_session_and_makes_it_the_active_one(world):
    first, _ = await world.session(), await world.session()
    program = world.started()
    await program.look_at(first)
    await program.type("x")
    assert [each.id for each in program.workspace.open] == [first]
    assert world.holder(first) is not None
    assert world.reader.active(SHOP) == first
    assert program.current.model is program.model


async def test_renaming_a_session_that_is_not_on_screen_leaves_the_active_one(world):
    first, second = await world.session(), await world.session()
    workspace = world.started().workspace
    await workspace.change(
        await workspace.find_to_change(first), lambda opened: opened.rename("Plans")
    )
    assert world.reader.entry(first).name == "Plans"
    assert world.reader.active(SHOP) == second


async def test_taking_a_session_twice_at_once_takes_it_once(world):
    _, program = await world.looked_at()
    current = program.current
    await asyncio.gather(program.workspace.take(current), program.workspace.take(current))
    assert program.workspace.open == (current,)
    assert not current.access.read_only


async def test_a_session_can_be_sent_in_as_soon_as_it_counts_as_taken(world, monkeypatch):
    _, program = await world.looked_at()
    current = program.current
    go_on, begun = threading.Event(), threading.Event()

    def slow(*_):
        begun.set()
        assert go_on.wait(20)

    monkeypatch.setattr(program.store, "set_active", slow)
    taking = asyncio.create_task(program.workspace.take(current))
    await until(begun.is_set)
    await program.workspace.take(current)
    assert current.opened is not None
    assert current.model is program.model
    go_on.set()
    await taking


async def test_taking_a_session_that_another_program_holds_makes_it_read_only(world):
    there, program = await world.looked_at()
    current = program.current
    other = world.started(there)
    with pytest.raises(SessionBusy):
        await program.workspace.take(current)
    assert current.access.read_only.startswith("Read-only: open in another window (pid ")
    with pytest.raises(ReadOnly):
        await program.workspace.take(current)
    assert other.current.opened is not None
    assert program.workspace.open == ()


async def test_a_key_that_waits_for_a_refused_session_is_refused_as_well(world):
    there, program = await world.looked_at()
    current = program.current
    world.started(there)
    results = await asyncio.gather(
        program.workspace.take(current), program.workspace.take(current), return_exceptions=True
    )
    assert {type(result) for result in results} == {SessionBusy, ReadOnly}


async def test_a_session_deleted_while_it_was_looked_at_can_still_be_read(world):
    there, program = await world.looked_at("One")
    world.reader.delete(there)
    with pytest.raises(SessionNotFound):
        await program.type("x")
    current = program.current
    assert current.access.read_only.startswith("Read-only: ")
    assert [each.text for each in current.entries] == ["One"]
    await program.workspace.keep_drafts()
    assert world.drafts.aside(there)[0][1].text == "x"


async def test_a_session_taken_after_it_was_left_is_closed_again_with_what_was_typed(world, slow):
    there, other = await world.session(), await world.session()
    program = world.started()
    await program.look_at(there)
    left = program.current
    looking = slow(program, "looked_at")
    switch = asyncio.create_task(program.workspace.switcher.look_at(other))
    await until(lambda: looking.begun)
    left.prompt.edit("x")
    taking = asyncio.create_task(program.workspace.take(left))
    await asyncio.sleep(0)
    looking.go_on.set()
    await asyncio.gather(switch, taking)
    await program.settle()
    assert program.current.id == other
    assert program.workspace.open == ()
    assert world.holder(there) is None
    assert world.drafts.load(there).text == "x"
    assert world.drafts.aside(there) == ()


async def test_a_key_that_comes_when_its_session_is_left_for_good_keeps_no_lease(world):
    there, other = await world.session(), await world.session()
    program = world.started()
    await program.look_at(there)
    left = program.current
    await program.look_at(other)
    left.prompt.edit("x")
    await program.workspace.take(left)
    await program.settle()
    assert world.holder(there) is None
    assert world.drafts.load(there).text == "x"


async def test_a_session_taken_after_it_was_left_stays_open_for_what_is_sent_in_it(world, slow):
    there, other = await world.session(), await world.session()
    program = world.started()
    await program.look_at(there)
    left = program.current
    looking = slow(program, "looked_at")
    switch = asyncio.create_task(program.workspace.switcher.look_at(other))
    await until(lambda: looking.begun)
    sending = asyncio.create_task(_take_and_run(program, left))
    await asyncio.sleep(0)
    looking.go_on.set()
    await asyncio.gather(switch, sending)
    await program.settle()
    assert left in program.workspace.open
    left.activity.end_answer()
    await program.workspace.switcher.leave(left)
    assert world.texts(there) == ["hello", "sent"]


async def _take_and_run(program, conversation):
    await program.workspace.take(conversation)
    conversation.opened.add_message("user", "sent")
    conversation.activity.begin_answer()


async def test_a_key_that_waits_while_the_session_is_opened_does_not_open_it_twice(world, slow):
    there, program = await world.looked_at()
    looked_at = program.current
    opening = slow(program, "opened")
    switch = asyncio.create_task(program.workspace.open_session(there))
    await until(lambda: opening.begun)
    looked_at.prompt.edit("x")
    taking = asyncio.create_task(program.workspace.take(looked_at))
    await asyncio.sleep(0)
    opening.go_on.set()
    assert await switch
    await taking
    await program.settle()
    assert program.workspace.open == (program.current,)
    assert program.current.prompt.text == "x"
    assert looked_at.opened is None


@pytest.mark.parametrize("error", [StorageError("no"), RecursionError("too deep")])
async def test_a_session_can_be_changed_where_it_cannot_be_made_the_active_one(
    world, monkeypatch, error
):
    there, program = await world.looked_at()

    monkeypatch.setattr(program.store, "set_active", raiser(error))
    await program.send("hello")
    assert world.texts(there) == ["hello", "hello"]


# --- opening


async def test_opening_a_session_says_so_on_disk_and_makes_it_the_active_one(world):
    first, _ = await world.session(), await world.session()
    program = world.started()
    assert await program.open(first)
    assert b'"resumed":true' in world.bytes(first)
    assert world.reader.active(SHOP) == first
    assert str(program.current.save) == ""


async def test_opening_a_session_that_is_looked_at_keeps_what_stands_in_its_prompt(world):
    there, program = await world.looked_at()
    program.current.prompt.edit("half")
    await program.open(there)
    assert program.current.opened is not None
    assert program.current.prompt.text == "half"


async def test_opening_a_session_that_is_open_shows_it_and_makes_it_the_active_one(
    world, there, program
):
    await program.send("hello")
    first = program.current
    first.activity.begin_answer()
    await program.open(there)
    assert world.reader.active(SHOP) == there
    await program.open(first.id)
    assert program.current is first
    assert world.reader.active(SHOP) == first.id


async def test_opening_a_new_session_that_is_on_screen_makes_nothing_active(world, there, program):
    await program.open(program.current.id)
    assert world.reader.active(SHOP) == there


async def test_a_session_that_became_free_is_opened_with_what_was_typed_while_reading_it(
    world, there
):
    other = world.started(there)
    program = world.started()
    await program.look_at(there)
    await program.type("typed while reading")
    await other.end()
    await program.open(there)
    assert program.current.opened is not None
    assert program.current.prompt.text == "typed while reading"
    await program.send("typed while reading")
    await program.end()
    assert world.drafts.load(there) is None
    assert world.drafts.aside(there) == ()


async def test_looking_again_at_a_read_only_session_reads_it_anew_with_its_prompt(world):
    there = await world.session("One")
    other = world.started(there)
    program = world.started()
    await program.look_at(there)
    program.current.prompt.edit("typed")
    await other.send("Two")
    await program.look_at(there)
    current = program.current
    assert [each.text for each in current.entries] == ["One", "Two"]
    assert current.prompt.text == "typed"
    await other.end()
    await program.look_at(there)
    assert program.current.access.read_only == ""
    assert program.current.prompt.text == "typed"


# --- archived


async def test_an_archived_session_is_opened_and_left_where_it_is(world, there):
    world.reader.archive(there)
    before = world.bytes(there)
    program = world.started()
    await program.open(there)
    assert await program.workspace.save_all()
    await program.workspace.begin()
    await program.settle()
    assert world.holder(there) is None
    assert world.reader.entry(there).status == "archived"
    assert world.bytes(there) == before


@pytest.mark.parametrize("opened", [True, False])
async def test_an_archived_session_that_a_crash_cut_off_is_restored_by_a_change_only(world, opened):
    crashed = world.started()
    await crashed.send("hello")
    session = crashed.current.opened
    answer = session.begin_answer("m")
    answer.receive("half")
    session.add_piece(answer)
    await session.save()
    crashed.store.die()
    world.reader.archive(session.id)
    before = world.bytes(session.id)
    program, there = world.started(), await world.session()
    for _ in range(2):
        await (program.open if opened else program.look_at)(session.id)
        await program.type("a word")
        await program.workspace.save_all()
        await program.look_at(there)
    assert world.holder(session.id) is None
    assert world.bytes(session.id) == before
    assert world.reader.stamp(session.id).where == "archived"
    await program.look_at(session.id)
    await program.send("more")
    assert world.reader.stamp(session.id).where == "closed"
    assert world.texts(session.id) == ["hello", "half", "more"]


async def test_what_is_typed_in_an_archived_session_does_not_restore_it(world, there):
    world.reader.archive(there)
    program = world.started()
    await program.look_at(there)
    await program.type("x")
    await program.workspace.begin()
    await program.settle()
    assert world.reader.entry(there).status == "archived"
    assert world.drafts.load(there).text == "x"


# --- new sessions


@pytest.mark.parametrize(
    ("how", "is_there", "scope"),
    [("opened", True, "other"), ("opened", False, "shop"), ("looked_at", True, "shop")],
)
async def test_a_new_session_is_in_the_project_of_the_one_that_is_open_if_it_is_on_this_machine(
    world, tmp_path, how, is_there, scope
):
    folder = tmp_path if is_there else tmp_path / "gone"
    fields = {"scope": "project:/other", "project": str(folder)}
    _, program = await getattr(world, how)(**fields)
    assert program.workspace.scope == "project:/other"
    assert await program.workspace.begin()
    header = program.current.session.header
    expected = str(folder) if scope == "other" else "/shop"
    assert (header.scope, header.project_path) == (f"project:/{scope}", expected)


async def test_a_session_whose_scope_is_lost_is_in_the_scope_of_the_start(world):
    _, program = await world.opened(scope="")
    assert program.workspace.scope == SHOP


async def test_a_new_session_is_not_begun_in_a_new_session(program):
    current = program.current
    assert not await program.workspace.begin()
    assert program.current is current


async def test_a_new_session_that_is_named_exists(world, program):
    current = program.current
    assert await program.workspace.begin("Plans")
    assert program.current is current
    await program.workspace.switcher.settle()
    assert world.reader.entry(current.id).name == "Plans"
    assert await program.workspace.begin("More plans")
    assert program.current is not current
    await program.workspace.switcher.settle()
    assert world.reader.entry(program.current.id).name == "More plans"


async def test_a_new_session_with_a_draft_is_kept_beside_another_new_one(world, program):
    first = program.current
    await program.type("not sent")
    assert await program.workspace.begin()
    await program.settle()
    assert program.current is not first
    assert first in program.workspace.open
    assert world.drafts.load(first.id).text == "not sent"


async def test_a_new_session_is_not_begun_if_another_one_is_wanted_meanwhile(world, slow):
    there, program = await world.opened()
    making = slow(program, "new")
    begin = asyncio.create_task(program.workspace.begin("Never"))
    await until(lambda: making.begun)
    look = asyncio.create_task(program.workspace.switcher.look_at(there))
    await asyncio.sleep(0)
    making.go_on.set()
    assert await asyncio.gather(begin, look) == [False, True]
    await program.settle()
    assert [each.id for each in program.workspace.open] == [there]
    assert len([lease for lease in program.store.leases if lease.lock.held]) == 1


# --- the limit


async def test_no_more_sessions_are_opened_than_the_limit(world):
    there, other = await world.session(), await world.session()
    program = world.started(limit=2)
    program.current.activity.begin_answer()
    await program.open(there)
    program.current.activity.begin_answer()
    words = "The limit is 2 open sessions. Close one first."
    with pytest.raises(UsageError, match=words):
        await program.open(other)
    with pytest.raises(UsageError, match=words):
        await program.workspace.begin()
    assert program.current.id == there
    await program.look_at(other)
    with pytest.raises(UsageError, match=words):
        await program.type("x")
    assert world.holder(other) is None


async def test_at_the_limit_one_can_still_go_to_a_session_that_is_open(world, there):
    program = world.started(limit=2)
    first = program.current
    first.activity.begin_answer()
    await program.open(there)
    program.current.activity.begin_answer()
    assert await program.open(first.id)
    assert program.current is first


async def test_a_session_that_will_be_closed_does_not_count(world):
    there, other = await world.session(), await world.session()
    program = world.started(limit=1)
    await program.open(there)
    await program.workspace.open_session(other)
    await program.workspace.begin()
    await program.settle()
    assert len(program.workspace.open) == 1


async def test_what_was_typed_in_a_session_that_could_not_be_opened_is_put_aside(world):
    there, other = await world.session(), await world.session()
    program = world.started(limit=1)
    program.current.activity.begin_answer()
    await program.look_at(there)
    with pytest.raises(UsageError):
        await program.type("half a sentence")
    await program.look_at(other)
    assert world.drafts.aside(there)[0][1].text == "half a sentence"
    await program.look_at(there)
    assert program.current.prompt.text == "half a sentence"


# --- what is known


async def test_the_open_sessions_are_listed_in_the_order_in_which_they_were_opened(world):
    there = await world.session("A long story")
    program = world.started()
    first = program.current
    first.activity.begin_answer()
    await program.open(there)
    rows = program.workspace.rows()
    assert [(row.id, row.label, row.active) for row in rows] == [
        (first.id, "(empty)", False),
        (there, "A long story", True),
    ]
    assert program.workspace.switcher.find(first.id) is first
    assert program.workspace.switcher.find("another") is None


async def test_a_read_only_session_is_marked_as_one(world, there):
    world.started(there)
    program = world.started(there)
    assert program.workspace.marks() == {there: Mark.READ_ONLY}
    assert program.workspace.rows() == ()


# --- models


async def test_a_session_goes_on_with_its_model_if_the_settings_know_it(world):
    there, program = await world.opened(model="strange:model")
    assert program.current.model is program.model
    assert said(program.current) == ["strange:model is not among your models."]
    await program.end()
    other = world.started(there, known=("strange:model",))
    assert said(other.current) == []


async def test_choosing_a_model_makes_no_session_of_a_new_one(world, program):
    current = program.current
    model = type(program.model)()
    model.name = "other:model"
    await program.workspace.use_model(current, model)
    assert current.model is model
    await program.workspace.save_all()
    assert current.empty
    with pytest.raises(SessionNotFound):
        world.reader.journal(current.id).load()


async def test_choosing_a_model_opens_the_session_and_is_kept_with_it(world):
    there, program = await world.looked_at()
    model = type(program.model)()
    model.name = "other:model"
    await program.workspace.use_model(program.current, model)
    assert world.reader.entry(there).model == "other:model"
    assert program.current.model is model


# --- names and resets


async def test_a_name_that_cannot_be_saved_counts_here_and_is_saved_later(world, program):
    current = program.current
    program.store.fail_next(FULL)
    with pytest.raises(StorageError):
        await program.workspace.change(current, lambda opened: opened.rename("Plans"))
    assert current.label() == "Plans"
    assert await program.workspace.save_all()
    assert world.reader.entry(current.id).name == "Plans"
    assert str(current.save).startswith("saved ")


async def test_a_session_left_while_its_name_is_saved_is_closed_when_that_is_done(world, there):
    program = world.started(await world.session())
    first = program.current
    await program.workspace.pool.save(first)
    await program.type("half")
    program.drafts.gate = drafts = threading.Event()
    switch = asyncio.create_task(program.workspace.switcher.look_at(there))
    await until(lambda: program.drafts.gate is None)
    program.store.gate = threading.Event()
    naming = asyncio.create_task(
        program.workspace.change(first, lambda opened: opened.rename("Plans"))
    )
    await until(program.store.waiting.is_set)
    drafts.set()
    assert await switch
    program.store.gate.set()
    await naming
    await program.settle()
    assert world.holder(first.id) is None
    assert world.reader.entry(first.id).name == "Plans"


async def test_a_reset_is_not_made_if_what_was_said_cannot_be_saved(world, program):
    await program.send("hello", save=False)
    current = program.current
    program.store.fail_next(FULL)
    with pytest.raises(StorageError):
        await program.workspace.reset(current)
    assert [m.text for m in current.session.loaded_messages] == ["hello"]
    await program.workspace.reset(current)
    assert current.session.loaded_messages == ()
    assert world.texts(current.id) == ["hello"]
    assert world.reader.journal(current.id).load().loaded_messages == ()


async def test_a_reset_after_the_save_counts_although_it_is_written_later(world, program):
    await program.send("hello")
    current = program.current
    program.store.fail_next(FULL)
    await program.workspace.reset(current)
    assert current.session.loaded_messages == ()
    assert str(current.save) == "NOT SAVED: disk full"
    await program.end()
    assert world.reader.journal(current.id).load().loaded_messages == ()


async def test_a_session_that_was_closed_is_not_reset(there, program):
    await program.send("hello")
    first = program.current
    await program.look_at(there)
    for conversation in (first, program.current):
        with pytest.raises(ReadOnly):
            await program.workspace.reset(conversation)


# --- pages


def numbers(count):
    return [str(number) for number in range(count)]


async def test_earlier_messages_come_page_by_page(world):
    _, program = await world.looked_at(*numbers(260))
    current = program.current
    assert [each.text for each in current.entries] == numbers(260)[160:]
    read = await program.workspace.read_earlier(current)
    assert [each.text for each in read] == numbers(160)[110:]
    while current.pages.cursor is not None:
        await program.workspace.read_earlier(current)
    assert [each.text for each in current.entries] == numbers(260)
    assert await program.workspace.read_earlier(current) == ()


async def test_a_page_asked_for_twice_at_once_is_shown_once(world):
    _, program = await world.opened(*numbers(160))
    current = program.current
    pages = await asyncio.gather(*[program.workspace.read_earlier(current) for _ in range(2)])
    assert sorted(map(len, pages)) == [0, 50]
    assert [each.text for each in current.entries] == numbers(160)[10:]


async def test_pages_stay_when_the_session_is_taken_as_it_was(world):
    _, program = await world.looked_at(*numbers(160))
    current = program.current
    await program.workspace.read_earlier(current)
    await program.type("x")
    assert [each.text for each in current.entries] == numbers(160)[10:]
    await program.workspace.read_earlier(current)
    assert len(current.entries) == 160


async def test_pages_stay_when_the_session_is_taken_that_others_wrote_to(world):
    there, program = await world.looked_at(*numbers(160))
    current = program.current
    await program.workspace.read_earlier(current)
    other = world.started(there)
    await other.send("more")
    await other.end()
    await program.type("x")
    expected = [*numbers(160), "more"]
    assert [each.text for each in current.entries] == expected[10:]
    while current.pages.cursor is not None:
        await program.workspace.read_earlier(current)
    assert [each.text for each in current.entries] == expected


async def test_damage_in_a_page_is_told_once_it_is_read(world):
    there = await world.session(*numbers(160))
    path = world.reader.path(there)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[20] = b"x" * (len(lines[20]) - 1) + b"\n"
    path.write_bytes(b"".join(lines))
    program = world.started(there)
    current = program.current
    assert said(current) == []
    while current.pages.cursor is not None:
        await program.workspace.read_earlier(current)
    assert said(current) == ['1 damaged record skipped in "0"; the file is unchanged']


async def test_a_page_of_a_session_that_is_gone_says_so(world):
    there, program = await world.looked_at(*numbers(160))
    world.reader.path(there).unlink()
    with pytest.raises(SessionNotFound):
        await program.workspace.read_earlier(program.current)


async def test_a_session_whose_holder_cannot_be_asked_for_is_read_and_says_why(world):
    there = await world.session("hello")
    program = world.started()
    lock = world.root / "locks" / f"{there}.lock"
    lock.unlink()
    lock.symlink_to(lock.name)
    await program.look_at(there)
    current = program.current
    assert [message.text for message in current.session.loaded_messages] == ["hello"]
    assert f"{there}.lock is not a regular file" in current.access.read_only
    with pytest.raises(StorageError, match="is not a regular file"):
        await program.workspace.take(current)
    lock.unlink()
    await program.workspace.take(current)
    assert (current.opened is not None, current.access.read_only) == (True, "")


async def test_settings_are_changed_from_those_that_another_program_left(world):
    there = await world.session("hello")
    program = world.started()
    await program.workspace.switcher.look_at(there)
    other = world.started()
    await other.workspace.change_settings(
        await other.workspace.find_to_change(there), lambda known: replace(known, pinned=True)
    )
    await other.settle()
    loaded = program.current
    await program.workspace.change_settings(loaded, lambda known: replace(known, temperature=0.5))
    assert world.reader.journal(there).load().settings == Settings(temperature=0.5, pinned=True)
    assert world.reader.entry(there).pinned


async def test_settings_of_a_session_that_another_program_holds_are_left_alone(world):
    there = await world.session("hello")
    other = world.started(there)
    program = world.started()
    with pytest.raises(SessionBusy):
        await program.workspace.change_settings(
            await program.workspace.find_to_change(there), lambda known: replace(known, pinned=True)
        )
    assert not world.reader.entry(there).pinned
    assert other.current.id == there
