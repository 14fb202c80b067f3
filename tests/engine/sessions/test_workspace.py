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


@pytest.fixture
def slow(monkeypatch):
    """Lets the loads of a program wait until they are told to go on; gives what was asked for."""

    def slow(program, name):
        loader, go_on, begun = program.workspace.loader, threading.Event(), []
        load = getattr(loader, name)

        def held_up(argument):
            begun.append(argument)
            assert go_on.wait(20)
            return load(argument)

        monkeypatch.setattr(loader, name, held_up)
        return begun, go_on

    return slow


async def wanted(coroutine):
    """Begin a switch, or another change: it is wanted from its first step on."""
    task = asyncio.create_task(coroutine)
    await asyncio.sleep(0)
    return task


async def held_up(program, coroutine):
    """Begin something, and wait until the disk holds up what it writes; gives the task."""
    program.store.gate = threading.Event()
    task = asyncio.create_task(coroutine)
    await until(program.store.waiting.is_set)
    return task


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


async def test_a_new_session_is_held_and_leaves_nothing_behind(world):
    program = world.program()
    with pytest.raises(ValueError, match="not been started"):
        _ = program.workspace.current
    program.workspace.start()
    session_id = program.current.id
    assert program.workspace.open == (program.current,)
    assert world.holder(session_id) is not None
    await program.end()
    assert world.holder(session_id) is None
    with pytest.raises(SessionNotFound):
        world.reader.journal(session_id).load()


async def test_a_start_in_a_session_holds_it_and_makes_it_the_active_one(world):
    first, second = await world.session(), await world.session()
    assert world.reader.active(SHOP) == second
    program = world.started(first)
    assert world.holder(first) is not None
    await program.workspace.note_opened(program.current)
    assert world.reader.active(SHOP) == first
    # One that is held elsewhere is read.
    other = world.started(first)
    assert (other.workspace.open, other.workspace.rows()) == ((), ())
    assert other.current.access.read_only
    assert other.workspace.marks() == {first: Mark.READ_ONLY}
    assert program.current.opened is not None


# --- looking


async def test_looking_at_a_session_writes_nothing_holds_nothing_and_makes_nothing_active(world):
    there, second = await world.session("One", "Two"), await world.session()
    before = world.bytes(there)
    program = world.started()
    assert await program.look_at(there)
    assert program.current.id == there
    assert world.holder(there) is None
    assert program.workspace.open == ()
    await program.end()
    assert world.bytes(there) == before
    assert world.reader.active(SHOP) == second


async def test_a_session_left_is_saved_closed_and_free_once_the_other_one_is_on_screen(
    world, there, program
):
    await program.send("hello")
    left = program.current
    # Who comes back before the closing begins keeps it open.
    assert await program.workspace.switcher.look_at(there)
    assert await program.workspace.switcher.look_at(left.id)
    await program.settle()
    assert (program.current, world.holder(left.id) is None) == (left, False)
    assert await program.workspace.switcher.look_at(there)
    assert program.current.id == there
    assert left in program.workspace.open
    await program.settle()
    assert left not in program.workspace.open
    assert world.texts(left.id) == ["hello"]
    assert world.holder(left.id) is None
    assert world.reader.entry(left.id).closed_at is not None


async def test_looking_at_what_is_not_there_or_on_screen_already_stays(world, program):
    current = program.current
    await program.type("half")
    with pytest.raises(SessionNotFound):
        await program.look_at("session-20260101-000000-000000")
    assert await program.look_at(current.id)
    assert program.current is current
    assert world.holder(current.id) is not None
    assert (current.prompt.text, current.opened is None) == ("half", False)


async def test_looking_at_a_session_again_or_opening_it_keeps_what_was_just_typed(world):
    there, program = await world.looked_at()
    current = program.current
    current.prompt.edit("half")
    assert await program.look_at(there)
    assert program.current is program.workspace.switcher.find(there) is current
    await program.open(there)
    assert program.current.opened is not None
    assert program.current.prompt.text == "half"


# --- answers that go on


async def test_a_session_in_which_an_answer_is_made_stays_open_and_is_unread_once_it_is_done(
    world, there, program
):
    await program.send("hello")
    running = program.current
    running.activity.begin_answer()
    await program.workspace.switcher.leave(running)
    assert program.workspace.open == (running,), "it is on screen"
    await program.look_at(there)
    assert running in program.workspace.open
    assert program.workspace.marks()[running.id] is Mark.RUNNING
    running.activity.end_answer()
    running.unread = True
    await program.workspace.switcher.leave(running)
    assert world.holder(running.id) is None
    assert program.workspace.marks()[running.id] is Mark.UNREAD
    await program.look_at(running.id)
    assert program.workspace.marks()[running.id] is Mark.NONE
    await program.look_at(there)
    assert running.id not in program.workspace.marks()


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


# --- several switches


async def test_of_several_switches_the_latest_wins_and_the_others_hold_nothing(world, slow):
    first, second, third = [await world.session() for _ in range(3)]
    program = world.started()
    begun, go_on = slow(program, "opened")
    tasks = [asyncio.create_task(program.workspace.open_session(first))]
    await until(lambda: begun)
    tasks += [await wanted(program.workspace.open_session(each)) for each in (second, third)]
    go_on.set()
    assert await asyncio.gather(*tasks) == [False, False, True]
    assert begun == [first, third]
    await program.settle()
    assert program.current.id == third
    assert [each.id for each in program.workspace.open] == [third]
    assert [world.holder(each) is None for each in (first, second, third)] == [True, True, False]


async def test_a_switch_that_fails_is_not_told_once_another_one_is_wanted(there, program, slow):
    begun, go_on = slow(program, "looked_at")
    look_at = program.workspace.switcher.look_at
    failing = asyncio.create_task(look_at("session-20260101-000000-000000"))
    await until(lambda: begun)
    going = await wanted(look_at(there))
    go_on.set()
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
    looking = await wanted(workspace.switcher.look_at("session-20200101-000000-000000"))
    released.set()
    await leaving
    with pytest.raises(SessionNotFound):
        await looking
    await program.send("more")
    assert world.texts(workspace.current.id) == ["more"]
    assert workspace.current is not closed


async def test_a_switch_saves_this_session_before_it_loads_the_other_unless_it_is_superseded(
    world, reads
):
    first, second = await world.session(), await world.session()
    program = world.started()
    loaded = reads(program)
    await program.send("hello", save=False)
    losing = await held_up(program, program.workspace.open_session(first))
    assert (loaded, world.holder(first)) == ([], None)
    winning = await wanted(program.workspace.switcher.look_at(second))
    program.store.gate.set()
    assert await asyncio.gather(losing, winning) == [False, True]
    assert loaded == [second]


async def test_a_session_wanted_while_it_is_closed_is_read_when_that_is_done(world, there, program):
    await program.send("hello")
    first = program.current.id
    await held_up(program, program.workspace.switcher.look_at(there))
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
    await held_up(program, program.workspace.switcher.look_at(there))
    ending = asyncio.create_task(program.workspace.pool.close(left))
    await asyncio.sleep(0.01)
    assert world.holder(left.id) is not None
    program.store.gate.set()
    await ending
    await program.settle()
    assert world.holder(left.id) is None
    assert world.bytes(left.id).count(b'"closed"') == 1


async def test_what_is_typed_while_the_other_session_is_loaded_is_kept(world, there, slow):
    program = world.started(await world.session())
    begun, go_on = slow(program, "looked_at")
    first = program.current
    switch = asyncio.create_task(program.workspace.switcher.look_at(there))
    await until(lambda: begun)
    await program.type("half")
    go_on.set()
    assert await switch
    await program.settle()
    assert world.drafts.load(first.id).text == "half"


# --- failures of a switch


async def test_a_session_that_cannot_be_saved_is_not_left_and_the_other_is_not_loaded(
    world, there, program, reads
):
    loaded = reads(program)
    await program.send("hello", save=False)
    await program.type("half a sentence")
    first = program.current
    stayed = rf'^Stayed in "{first.label()}": could not save \(disk full\)$'
    program.store.fail_next(FULL)
    with pytest.raises(StayedError, match=stayed):
        await program.open(there)
    assert program.workspace.marks()[first.id] is Mark.UNSAVED
    # Nor one whose draft cannot be kept.
    program.drafts.failures = [FULL]
    with pytest.raises(StayedError, match=stayed):
        await program.open(there)
    assert (program.current, first.prompt.text) == (first, "half a sentence")
    assert (loaded, world.holder(there)) == ([], None)
    assert str(first.save) == "NOT SAVED: disk full"
    assert await program.open(there)
    assert world.texts(first.id) == ["hello"]
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
    switch = await held_up(program, program.workspace.open_session(there))
    switch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await switch
    assert world.holder(there) is None
    program.store.gate.set()
    await program.end()
    assert world.texts(program.current.id) == ["hello"]


# --- the first change


async def test_the_first_change_takes_the_session_and_makes_it_the_active_one(world):
    first, second = await world.session(), await world.session()
    program = world.started()
    # Not where that is not on screen.
    found = await program.workspace.find_to_change(first)
    await program.workspace.change(found, lambda opened: opened.rename("Plans"))
    assert world.reader.entry(first).name == "Plans"
    assert world.reader.active(SHOP) == second
    await program.look_at(first)
    await program.type("x")
    assert [each.id for each in program.workspace.open] == [first]
    assert world.holder(first) is not None
    assert world.reader.active(SHOP) == first
    assert program.current.model is program.model


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
    assert program.workspace.open == (current,)
    assert not current.access.read_only


async def test_taking_a_session_that_another_program_holds_makes_it_read_only(world):
    there, program = await world.looked_at()
    current = program.current
    other = world.started(there)
    # A key that waits for the refused session is refused as well.
    takes = [program.workspace.take(current) for _ in range(2)]
    results = await asyncio.gather(*takes, return_exceptions=True)
    assert {type(result) for result in results} == {SessionBusy, ReadOnly}
    assert current.access.read_only.startswith("Read-only: open in another window (pid ")
    assert other.current.opened is not None
    assert program.workspace.open == ()


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


@pytest.mark.parametrize("sends", [False, True])
async def test_a_session_taken_after_it_was_left_is_closed_again_unless_something_is_sent_in_it(
    world, slow, sends
):
    there, other = await world.session(), await world.session()
    program = world.started()
    await program.look_at(there)
    left, workspace = program.current, program.workspace
    begun, go_on = slow(program, "looked_at")
    switch = asyncio.create_task(workspace.switcher.look_at(other))
    await until(lambda: begun)

    async def take():
        await workspace.take(left)
        if sends:
            left.opened.add_message("user", "sent")
            left.activity.begin_answer()

    left.prompt.edit("" if sends else "x")
    taking = await wanted(take())
    go_on.set()
    await asyncio.gather(switch, taking)
    await program.settle()
    assert program.current.id == other
    if sends:
        assert left in workspace.open
        left.activity.end_answer()
        await workspace.switcher.leave(left)
        assert world.texts(there) == ["hello", "sent"]
        return
    # Also where it was left for good.
    for text in ("x", "xy"):
        assert workspace.open == ()
        assert world.holder(there) is None
        assert world.drafts.load(there).text == text
        assert world.drafts.aside(there) == ()
        if text == "x":
            await program.look_at(there)
            left = program.current
            await program.look_at(other)
            left.prompt.edit("xy")
            await workspace.take(left)
            await program.settle()


async def test_a_key_that_waits_while_the_session_is_opened_does_not_open_it_twice(world, slow):
    there, program = await world.looked_at()
    looked_at = program.current
    begun, go_on = slow(program, "opened")
    switch = asyncio.create_task(program.workspace.open_session(there))
    await until(lambda: begun)
    looked_at.prompt.edit("x")
    taking = await wanted(program.workspace.take(looked_at))
    go_on.set()
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


async def test_opening_a_session_says_so_on_disk_and_makes_it_the_active_one(world, there, program):
    await program.open(program.current.id)
    assert world.reader.active(SHOP) == there, "nothing is said in the new one"
    await program.send("hello")
    first = program.current
    first.activity.begin_answer()
    assert await program.open(there)
    assert b'"resumed":true' in world.bytes(there)
    assert world.reader.active(SHOP) == there
    assert str(program.current.save) == ""
    # One that is open is shown.
    await program.open(first.id)
    assert program.current is first
    assert world.reader.active(SHOP) == first.id


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
    assert world.drafts.load(session.id).text == "a word"
    await program.look_at(session.id)
    await program.send("more")
    assert world.reader.stamp(session.id).where == "closed"
    assert world.texts(session.id) == ["hello", "half", "more"]


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
    _, program = await world.opened(scope="")
    assert program.workspace.scope == SHOP, "that of the start, where it is lost"


async def test_a_new_session_is_begun_beside_another_new_one_if_that_is_named_or_has_a_draft(
    world, program
):
    current = program.current
    assert not await program.workspace.begin()
    assert program.current is current
    assert await program.workspace.begin("Plans")
    assert program.current is current
    await program.workspace.switcher.settle()
    assert world.reader.entry(current.id).name == "Plans"
    assert await program.workspace.begin()
    second = program.current
    assert second is not current
    await program.type("not sent")
    assert await program.workspace.begin("More plans")
    assert program.current is not second
    await program.settle()
    assert world.reader.entry(program.current.id).name == "More plans"
    assert second in program.workspace.open
    assert world.drafts.load(second.id).text == "not sent"


async def test_a_new_session_is_not_begun_if_another_one_is_wanted_meanwhile(world, slow):
    there, program = await world.opened()
    begun, go_on = slow(program, "new")
    begin = asyncio.create_task(program.workspace.begin("Never"))
    await until(lambda: begun)
    look = await wanted(program.workspace.switcher.look_at(there))
    go_on.set()
    assert await asyncio.gather(begin, look) == [False, True]
    await program.settle()
    assert [each.id for each in program.workspace.open] == [there]
    assert len([lease for lease in program.store.leases if lease.lock.held]) == 1


# --- the limit


async def test_no_more_sessions_are_opened_than_the_limit(world):
    there, other = await world.session(), await world.session()
    program = world.started(limit=2)
    first = program.current
    first.activity.begin_answer()
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
        await program.type("half a sentence")
    assert world.holder(other) is None
    # One can still go to a session that is open, and what was typed is put aside.
    assert await program.open(first.id)
    assert program.current is first
    assert world.drafts.aside(other)[0][1].text == "half a sentence"
    await program.look_at(other)
    assert program.current.prompt.text == "half a sentence"


async def test_a_session_that_will_be_closed_does_not_count(world):
    there, other = await world.session(), await world.session()
    program = world.started(limit=1)
    await program.open(there)
    await program.workspace.open_session(other)
    await program.workspace.begin()
    await program.settle()
    assert len(program.workspace.open) == 1


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


# --- models


async def test_a_session_goes_on_with_its_model_if_the_settings_know_it(world):
    there, program = await world.opened(model="strange:model")
    assert program.current.model is program.model
    assert said(program.current) == ["strange:model is not among your models."]
    await program.end()
    other = world.started(there, known=("strange:model",))
    assert said(other.current) == []


async def test_choosing_a_model_opens_the_session_and_is_kept_with_it(world, there, program):
    new, model = program.current, type(program.model)()
    model.name = "other:model"
    await program.workspace.use_model(new, model)
    assert new.model is model
    await program.workspace.save_all()
    assert new.empty, "it makes no session of a new one"
    with pytest.raises(SessionNotFound):
        world.reader.journal(new.id).load()
    await program.look_at(there)
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


async def test_a_reset_is_not_made_if_what_was_said_cannot_be_saved(world, there, program):
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
    # Nor in a session that was closed, or is only looked at.
    await program.look_at(there)
    for conversation in (current, program.current):
        with pytest.raises(ReadOnly):
            await program.workspace.reset(conversation)


async def test_a_reset_after_the_save_counts_although_it_is_written_later(world, program):
    await program.send("hello")
    current = program.current
    program.store.fail_next(FULL)
    await program.workspace.reset(current)
    assert current.session.loaded_messages == ()
    assert str(current.save) == "NOT SAVED: disk full"
    await program.end()
    assert world.reader.journal(current.id).load().loaded_messages == ()


# --- pages


def numbers(count):
    return [str(number) for number in range(count)]


async def test_earlier_messages_come_page_by_page_each_once(world):
    _, program = await world.looked_at(*numbers(260))
    current, read_earlier = program.current, program.workspace.read_earlier
    assert [each.text for each in current.entries] == numbers(260)[160:]
    nothing, read = sorted(
        await asyncio.gather(read_earlier(current), read_earlier(current)), key=len
    )
    assert (nothing, [each.text for each in read]) == ((), numbers(160)[110:])
    while current.pages.cursor is not None:
        await read_earlier(current)
    assert [each.text for each in current.entries] == numbers(260)
    assert await read_earlier(current) == ()
    # Of a session that is gone none is read.
    there, program = await world.looked_at(*numbers(160))
    world.reader.path(there).unlink()
    with pytest.raises(SessionNotFound):
        await program.workspace.read_earlier(program.current)


@pytest.mark.parametrize("others", [[], ["more"]])
async def test_pages_stay_when_the_session_is_taken_also_if_others_wrote_to_it(world, others):
    there, program = await world.looked_at(*numbers(160))
    current = program.current
    await program.workspace.read_earlier(current)
    for text in others:
        other = world.started(there)
        await other.send(text)
        await other.end()
    await program.type("x")
    expected = [*numbers(160), *others]
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

    async def pin(program, pinned):
        await program.workspace.change_settings(
            await program.workspace.find_to_change(there),
            lambda known: replace(known, pinned=pinned),
        )
        await program.settle()

    program, other = world.started(), world.started()
    await program.look_at(there)
    await pin(other, pinned=True)
    loaded = program.current
    await program.workspace.change_settings(loaded, lambda known: replace(known, temperature=0.5))
    assert world.reader.journal(there).load().settings == Settings(temperature=0.5, pinned=True)
    # While it is held they are left alone.
    with pytest.raises(SessionBusy):
        await pin(other, pinned=False)
    assert world.reader.entry(there).pinned
    assert program.current.id == there
