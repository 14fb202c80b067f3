"""``/archive /restore /delete /fork /undo``."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest

from tests.engine.workspaces import FULL, SHOP
from tests.waiting import SECONDS, until
from tui.commands import archive
from tui.domain.journal.records import Settings, Summary, Todos
from tui.domain.journal.todo import TodoItem
from tui.errors import SessionNotFound, StorageError
from tui.storage.protocol import EVERYWHERE, SessionFilter


def status(world, session_id):
    return world.reader.entry(session_id).status


def ordered(world):
    return [entry.id for entry in world.reader.list(SessionFilter(SHOP), None, 10).entries]


async def change(world, session_id):
    """Write in a session, in another window."""
    program = world.started()
    await program.look_at(session_id)
    await program.send("more")


async def delete(commands, arguments=""):
    await commands(f"/delete {arguments}".strip())
    return await commands.answer()


# --- /archive


async def test_the_current_session_is_archived_and_the_most_recent_other_is_shown(started, world):
    await world.session("oldest")
    other = await world.session("newer")
    here = await world.session("here")
    commands = started(here)
    assert await commands("/archive") == 'Archived "here". /undo brings it back'
    assert commands.kinds[:2] == ["show_session", "show_moved"]
    assert commands.current.id == other
    assert status(world, here) == "archived"
    assert world.holder(here) is None


async def test_a_running_answer_is_stopped_and_kept_with_what_waits_before_its_session_goes(
    started, world
):
    here = await world.session("here")
    commands = started(here)
    opened = commands.current.opened
    answer = opened.begin_answer("scripted:model")
    answer.receive("half")
    opened.add_piece(answer)
    commands.current.activity.begin_answer()
    commands.running = True
    commands.current.prompt.enqueue("next")
    commands.current.prompt.edit("and this")
    await commands("/archive")
    assert not commands.running
    last = world.reader.journal(here).load().loaded_messages[-1]
    assert (last.text, last.status) == ("half", "interrupted")
    draft = world.drafts.load(here)
    assert (draft.queued, draft.text) == (("next",), "and this")


async def test_a_session_that_works_behind_another_is_archived(started, world):
    there = await world.session("there")
    commands = started(there)
    commands.current.activity.begin_answer()
    commands.running = True
    await commands.program.open(await world.session("here"))
    assert await commands(f"/archive {there}") == 'Archived "there". /undo brings it back'
    assert status(world, there) == "archived"
    assert world.holder(there) is None
    assert commands.workspace.switcher.find(there) is None


@pytest.mark.parametrize("command", ["/archive", "/delete"])
async def test_a_session_that_cannot_be_saved_stays(started, world, command):
    await world.session("other")
    here = await world.session("here")
    commands = started(here)
    commands.current.opened.add_message("user", "more")
    commands.program.store.fail_next(FULL, times=9)
    await commands(command)
    told = await commands.answer() if command == "/delete" else commands.told
    assert told == f'Could not save "{commands.current.label()}": disk full'
    assert commands.severity == "error"
    assert commands.current.id == here
    assert world.holder(here) is not None
    assert status(world, here) == "open"
    assert await commands("/undo") == "Nothing to undo."


# --- /delete


async def test_deleting_asks_and_only_a_yes_does_it(started, world):
    other = await world.session("other")
    here = await world.session("here")
    commands = started(here)
    await commands("/delete")
    assert commands.question == 'Move "here" (1 message) to the trash?'
    assert status(world, here) == "open"
    assert await commands.answer() == 'Moved "here" to the trash. /undo brings it back'
    assert status(world, here) == "trashed"
    assert commands.current.id == other


@pytest.mark.parametrize("target", ["There", "#1", "session-2"])
async def test_what_is_to_go_is_never_guessed(commands, world, target):
    there = await world.session("hello", name="There")
    words = f"Deleting takes the complete id or a listed number: {there}"
    assert await commands(f"/delete {target}") == words
    assert status(world, there) == "closed"


async def test_an_archived_session_is_deleted_and_not_again(commands, world):
    there = await world.session("there")
    world.reader.archive(there)
    assert (await delete(commands, there)).startswith('Moved "there" to the trash')
    assert await delete(commands, there) == f"Session {there} is already in the trash."
    assert await commands("/undo") == 'Archived "there" again'
    assert status(world, there) == "archived"


async def test_the_sidebar_deletes_without_another_question(commands, world):
    there = await world.session("there")
    told = await commands.do(partial(archive.delete_at_once, session_id=there))
    assert told == 'Moved "there" to the trash. /undo brings it back'


# --- /restore


@pytest.mark.parametrize("move", ["archive", "delete"])
@pytest.mark.parametrize("how", ["{id}", "There", "#2"])
async def test_a_session_comes_back_as_it_was_and_is_opened(commands, world, move, how):
    await world.session("first")
    there = await world.session("hello", "yes", name="There")
    await world.session("newer")
    before = world.reader.entry(there)
    getattr(world.reader, move)(there)
    assert await commands("/restore " + how.format(id=there)) == 'Brought back "There"'
    after = world.reader.entry(there)
    assert (after.name, after.scope, after.ordinal) == ("There", before.scope, before.ordinal)
    assert after.last_used_at > before.last_used_at
    assert ordered(world)[0] == there
    assert commands.current.id == there
    assert world.holder(there) is not None
    assert world.reader.active(SHOP) == there


async def test_the_session_on_screen_is_restored_without_a_target(commands, world):
    there = await world.session("there")
    world.reader.archive(there)
    await commands.program.look_at(there)
    assert await commands("/restore") == 'Brought back "there"'
    assert status(world, there) == "open"


async def test_an_archived_session_that_is_open_is_restored_and_says_so_once(commands, world):
    there = await world.session("there")
    world.reader.archive(there)
    await commands.program.open(there)
    assert status(world, there) == "archived"
    assert await commands("/restore") == ""
    told = [notice.text for notice in commands.current.notices]
    assert told == ["Restored this session from the archive"]
    assert status(world, there) == "open"


# --- /undo


async def test_undoing_the_deletion_of_the_session_one_was_in_goes_back_to_it(started, world):
    await world.session("other")
    here = await world.session("here")
    commands = started(here)
    await commands.program.type("not done")
    await delete(commands)
    used = world.reader.entry(here).last_used_at
    world.clock.now += timedelta(days=1)
    assert commands.current.id != here
    assert await commands("/undo") == 'Brought back "here"'
    assert commands.current.id == here
    assert commands.current.prompt.text == "not done"
    assert world.reader.entry(here).last_used_at == used
    assert await commands("/undo") == "Nothing to undo."


async def test_the_last_is_taken_back_first_and_an_undo_is_not_undone(commands, world):
    first, second = await world.session("first"), await world.session("second")
    await commands(f"/archive {first}")
    await delete(commands, second)
    await commands(f"/restore {second}")
    await commands(f"/restore {first}")
    assert await commands("/undo") == 'Archived "first" again'
    assert commands.current.id != first
    assert await commands("/undo") == 'Moved "second" to the trash again'
    assert status(world, second) == "trashed"
    assert await commands("/undo") == 'Brought back "second"'
    assert commands.current.id != second
    assert await commands("/undo") == 'Brought back "first"'
    assert await commands("/undo") == "Nothing to undo."
    assert status(world, first) == "closed"


async def test_what_was_done_in_an_earlier_run_is_undone_batch_by_batch(started, world):
    first, second = await world.session("first"), await world.session("second")
    commands = started()
    await commands(f"/archive {first}")
    await delete(commands, second)
    await commands.program.end()
    again = started()
    assert await again("/undo") == 'Brought back "second"'
    third = started()
    assert await third("/undo") == 'Brought back "first"'
    assert (status(world, first), status(world, second)) == ("closed", "closed")
    assert await started()("/undo") == "Nothing to undo."


async def test_what_was_set_aside_at_the_start_is_brought_back_at_once(commands, world):
    old = [await world.session(text) for text in ("one", "two")]
    world.clock.now += timedelta(days=40)
    await world.session("new")
    await commands.context.retention.after_start(commands.workspace)
    assert [status(world, each) for each in old] == ["archived", "archived"]
    assert await commands("/undo") == "Brought back 2 sessions"
    assert [status(world, each) for each in old] == ["closed", "closed"]


async def test_a_purged_session_and_one_moved_since_are_named_and_then_passed_over(commands, world):
    first, second, third = [await world.session(text) for text in ("one", "two", "three")]
    await commands(f"/archive {first}")
    await commands(f"/archive {second}")
    await commands(f"/resume delete {third}")
    world.reader.purge(third)
    await change(world, second)
    assert await commands("/undo") == f"{third} stays as it is: purged"
    assert await commands("/undo") == '"two" stays as it is: moved since'
    assert await commands("/undo") == 'Brought back "one"'
    assert await commands("/undo") == "Nothing to undo."


async def test_of_those_moved_together_the_ones_that_stay_are_counted(commands, world):
    made = [await world.session(f"Number {number}") for number in range(4)]
    await commands("/resume clear")
    await commands.answer()
    world.reader.purge(made[0])
    world.reader.purge(made[3])
    told = await commands("/undo")
    assert told == "Brought back 2 sessions\n2 sessions stay as they are: 2 purged"
    assert await commands("/undo") == "Nothing to undo."


async def test_a_session_open_in_another_window_is_named_and_can_be_tried_again(commands, world):
    there = await world.session("there")
    await commands(f"/archive {there}")
    lease = world.reader.lease(there)
    assert await commands("/undo") == '"there" stays as it is: open in another window'
    lease.release()
    assert await commands("/undo") == 'Brought back "there"'


# --- /fork


async def test_a_fork_goes_on_from_what_is_live(started, world):
    here = await world.session("before", "the reset", name="Named")
    commands = started(here)
    await commands("/reset")
    await commands.program.send("live one")
    opened = commands.current.opened
    answer = opened.begin_answer("scripted:model")
    answer.receive("live two")
    opened.end_answer(answer)
    todo = TodoItem("write", "pending", "writing")
    opened.add(Todos((todo,)))
    opened.add(Summary("so far", through=opened.session.loaded_messages[0].id))
    opened.change_settings(Settings(temperature=0.5))
    told = await commands("/fork")
    new = commands.current.id
    assert told == 'This is a copy of "Named"; the original is unchanged'
    assert new != here
    fork, source = world.reader.journal(new).load(), world.reader.journal(here).load()
    assert [m.text for m in fork.all_messages] == ["live one", "live two"]
    assert fork.summary == source.summary
    assert fork.todos == (todo,)
    assert fork.settings == Settings(temperature=0.5)
    assert (fork.header.forked_from, fork.header.ordinal) == (here, 2)
    assert fork.header.scope == source.header.scope
    assert (fork.message_count, fork.total_count, fork.prompt_count) == (2, 2, 1)
    assert world.holder(new) is not None
    assert world.reader.active(SHOP) == new
    assert commands.current.session.message_count == 2
    tail = world.reader.journal(new).tail(1).session
    assert (tail.message_count, tail.summary, tail.todos) == (2, source.summary, (todo,))


async def test_a_fork_has_the_last_summary_alone(started, world):
    commands = started()
    for word in ("one", "two", "three"):
        await commands.program.send(word)
        opened = commands.current.opened
        opened.add(Summary(f"Up to {word}.", opened.session.loaded_messages[-1].id))
    await commands("/save")
    await commands("/fork")
    fork = world.reader.journal(commands.current.id).load()
    assert [m.text for m in fork.loaded_messages] == ["one", "two", "three"]
    assert [e.text for e in fork.entries if isinstance(e, Summary)] == ["Up to three."]


async def test_a_session_held_elsewhere_can_be_forked(started, world):
    there = await world.session("hello", "yes")
    lease = world.reader.lease(there)
    commands = started(there)
    assert commands.current.access.read_only
    await commands("/fork")
    assert world.texts(commands.current.id) == ["hello", "yes"]
    assert not commands.current.access.read_only
    lease.release()


async def test_a_fork_of_a_session_at_work_has_what_has_arrived(started, world):
    here = await world.session("hello")
    commands = started(here)
    opened = commands.current.opened
    answer = opened.begin_answer("scripted:model")
    answer.receive("half")
    opened.add_piece(answer)
    commands.current.activity.begin_answer()
    await commands("/fork")
    [_, last] = world.reader.journal(commands.current.id).load().loaded_messages
    assert (last.text, last.status) == ("half", "interrupted")
    assert commands.workspace.switcher.find(here).activity.running


async def test_a_fork_of_what_could_not_be_saved_is_refused(started, world):
    here = await world.session("hello")
    commands = started(here)
    commands.current.opened.add_message("user", "more")
    commands.program.store.fail_next(FULL)
    assert await commands("/fork") == f'Could not save "{commands.current.label()}": disk full'
    assert len(world.reader.list(SessionFilter(statuses=EVERYWHERE), None, 9).entries) == 1


async def test_a_session_after_a_reset_has_nothing_to_fork(started, world):
    here = await world.session("hello")
    commands = started(here)
    await commands("/reset")
    assert await commands("/fork") == "Nothing to fork yet."
    assert commands.current.id == here


async def test_a_fork_at_the_limit_makes_nothing(started, world):
    there = await world.session("there")
    commands = started(await world.session("here"), limit=1)
    commands.current.activity.begin_answer()
    assert "The limit is 1 open session" in await commands(f"/fork {there}")
    assert len(ordered(world)) == 2


async def test_two_that_put_one_session_away_at_once_come_to_an_end(started, world):
    here = await world.session("here")
    commands = started(here)
    held = asyncio.Event()
    before = commands.workspace.switcher._wanted

    async def switch_slowly():
        async with commands.workspace.switcher.moves:
            await held.wait()

    switch = asyncio.create_task(switch_slowly())
    both = [
        asyncio.create_task(commands.shelf.archive(here)),
        asyncio.create_task(commands.shelf.delete(here)),
    ]
    await until(lambda: commands.workspace.switcher._wanted > before)
    # Where the second one does not wait for the first, it is there by then.
    await asyncio.sleep(0.1)
    held.set()
    await asyncio.wait_for(asyncio.gather(switch, *both, return_exceptions=True), SECONDS)
    await commands.program.settle()
    assert status(world, here) == "trashed"
    assert commands.current.id != here


# --- what is done though another session could not be left for it


async def stuck(commands):
    """The session on screen cannot be saved; gives what is told of that."""
    await commands.program.send("unsaved", save=False)
    commands.program.store.fail_next(FULL, times=9)
    return f'Stayed in "{commands.current.label()}": could not save (disk full)'


async def test_a_session_that_is_back_is_told_to_be_though_it_is_not_shown(started, world):
    there = await world.session("there")
    commands = started(there)
    await commands("/archive")
    stayed = await stuck(commands)
    assert await commands("/restore " + there) == f'Brought back "there"\n{stayed}'
    assert commands.calls[0] == ("show_moved", there)
    assert status(world, there) == "closed"
    assert commands.severity == "error"
    assert await commands("/undo") == 'Archived "there" again'
    commands.program.store.fail_next(FULL, times=9)
    assert await commands("/undo") == f'Brought back "there"\n{stayed}'
    assert status(world, there) == "closed"


async def test_a_fork_is_told_though_it_is_not_shown(started, world):
    there = await world.session("there")
    commands = started(await world.session("here"))
    stayed = await stuck(commands)
    append, failures = commands.program.store.append, commands.program.store.failures

    def append_but_here(lease, records, *lines):
        if lease.session_id != commands.current.id:
            failures.clear()
            appended = append(lease, records)
            failures.extend([FULL] * 9)
            return appended
        return append(lease, records)

    commands.program.store.append = append_but_here
    told = await commands("/fork " + there)
    new = commands.calls[0][1]
    assert told == f'This is a copy of "there"; the original is unchanged\n{stayed}'
    assert commands.calls[0] == ("show_moved", new)
    assert world.texts(new) == ["there"]


async def test_a_purged_session_is_gone_with_its_draft(commands, world):
    there = await world.session("there")
    world.draft(there, "not done")
    world.draft(there, "aside", token="abc123")
    world.reader.delete(there)
    world.reader.purge(there)
    assert world.drafts.load(there) is None
    assert world.drafts.aside(there) == ()
    with pytest.raises(SessionNotFound):
        world.reader.entry(there)


# --- /resume delete and /resume clear


async def test_a_listed_number_is_deleted_and_the_others_keep_theirs(commands, world, project):
    old = await world.session("Old", project=project)
    middle = await world.session("Middle")
    new = await world.session("New")
    commands.numbers[:] = [new, middle, old]
    told = await commands("/resume delete 2")
    assert told == 'Moved "Middle" to the trash. /undo brings it back'
    assert world.reader.entry(middle).status == "trashed"
    assert await commands("/resume 3") == 'Opened "Old"'
    assert commands.current.id == old


async def test_a_full_id_is_deleted_until_that_is_undone(commands, world):
    there = await world.session()
    assert (await commands(f"/resume delete {there}")).startswith('Moved "hello" to the trash')
    assert world.reader.entry(there).status == "trashed"
    assert world.texts(there) == ["hello"]
    assert await commands("/undo") == 'Brought back "hello"'
    assert world.reader.entry(there).status == "closed"


async def test_nothing_else_is_deleted(commands, world):
    there, mine = await world.session(name="Auth bug"), commands.current.id
    assert await commands("/resume delete") == "Usage: /resume delete NUMBER or ID"
    for target in ("Auth bug", "#1", "session-", "../x", "5abc", "nowhere"):
        assert await commands(f"/resume delete {target}") == f"Session not found: {target}"
    assert world.reader.entry(there).status == "closed"
    assert commands.current.id == mine


@pytest.mark.parametrize("index", ["0", "2", "99999999999"])
async def test_a_number_beyond_the_list_is_not_deleted(commands, world, index):
    there = await world.session(name=index)
    told = await commands(f"/resume delete {index}")
    assert told == f"There is no number {index} in the last list (1 to 1)."
    assert world.reader.entry(there).status == "closed"


async def test_a_session_that_is_open_is_not_deleted(commands, world):
    await commands.program.send("Working")
    mine = commands.current.id
    told = await commands(f"/resume delete {mine}")
    assert told == f"Session {mine} is open here. Close it first."
    held = await world.session()
    world.started(held)
    told = await commands(f"/resume delete {held}")
    assert told.startswith(f"Session {held} is open in another window (pid ")
    assert [world.reader.entry(each).status for each in (mine, held)] == ["open", "open"]


async def test_all_that_is_closed_goes_to_the_trash_after_asking(commands, world):
    closed = [
        await world.session(),
        await world.session(),
        await world.session(scope="project:/other"),
    ]
    archived, held = await world.session(), await world.session()
    world.reader.archive(archived)
    world.started(held)
    await commands.program.send("Working")
    mine = commands.current.id
    await commands("/resume clear")
    assert commands.question == "Move all 3 closed sessions of 2 projects to the trash?"
    assert await commands.answer(yes=False) == "Nothing was moved."
    await commands("/resume clear")
    since = await world.session()
    assert await commands.answer() == "Moved 3 sessions to the trash. /undo brings them back"
    status = [world.reader.entry(each).status for each in (*closed, archived, held, mine, since)]
    assert status == ["trashed"] * 3 + ["archived", "open", "open", "closed"]


async def test_what_was_opened_or_taken_away_since_the_question_is_passed_over(
    commands, world, project
):
    there = await world.session(project=project)
    held, gone, left = [await world.session() for _ in range(3)]
    await commands("/resume clear")
    await commands.program.open(there)
    world.started(held)
    world.reader.delete(gone)
    world.reader.purge(gone)
    assert await commands.answer() == "Moved 1 session to the trash. /undo brings it back"
    states = [world.reader.entry(each).status for each in (there, held, left)]
    assert states == ["open", "open", "trashed"]


async def test_what_a_newer_version_wrote_is_cleared_too(commands, world):
    newer, other = await world.session(), await world.session()
    path = world.reader.path(newer)
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    await commands("/resume clear")
    assert await commands.answer() == "Moved 2 sessions to the trash. /undo brings them back"
    assert [world.reader.entry(each).status for each in (newer, other)] == ["trashed"] * 2


async def test_the_session_on_screen_stays_there_if_it_cannot_be_cleared(
    commands, world, monkeypatch
):
    viewed, other = await world.session("Viewed"), await world.session()
    await commands.program.look_at(viewed)
    await commands("/resume clear")
    delete = commands.program.store.delete

    def refuse(session_id, batch):
        if session_id == viewed:
            raise StorageError("Cannot move it.")
        delete(session_id, batch)

    monkeypatch.setattr(commands.program.store, "delete", refuse)
    told = await commands.answer()
    assert told.splitlines() == [
        "Moved 1 session to the trash. /undo brings it back",
        "Cannot move it.",
    ]
    assert commands.current.id == viewed
    assert [world.reader.entry(each).status for each in (viewed, other)] == ["closed", "trashed"]


async def test_the_session_on_screen_is_not_cleared_once_it_was_typed_in(commands, world):
    viewed = await world.session("Viewed")
    await commands.program.look_at(viewed)
    await commands("/resume clear")
    await commands.program.type("a word")
    assert await commands.answer() == "No session was moved"
    assert (commands.current.id, commands.current.prompt.text) == (viewed, "a word")
    assert world.reader.entry(viewed).status == "open"


async def test_clearing_leaves_the_session_on_screen_and_one_undo_brings_all_back_in_their_order(
    commands, world
):
    made = [await world.session(f"Number {number}") for number in range(3)]
    await commands.program.look_at(made[1])
    await commands("/resume clear")
    await commands.answer()
    assert commands.kinds == ["in_background", "show_session", "say"]
    assert commands.current.untouched
    assert world.reader.entry(made[1]).status == "trashed"
    assert await commands("/undo") == "Brought back 3 sessions"
    assert [world.reader.entry(each).status for each in made] == ["closed", "closed", "closed"]
    assert commands.current.id == made[1]
    assert await commands("/undo") == "Nothing to undo."


async def test_an_undo_of_a_clearing_that_failed_midway_goes_on_with_the_rest(
    commands, world, monkeypatch
):
    made = [await world.session(f"Number {number}") for number in range(3)]
    await commands("/resume clear")
    await commands.answer()
    restore = commands.program.store.restore

    def fail_once(session_id, batch):
        if session_id == made[1]:
            monkeypatch.setattr(commands.program.store, "restore", restore)
            raise StorageError("No room.")
        restore(session_id, batch)

    monkeypatch.setattr(commands.program.store, "restore", fail_once)
    assert await commands("/undo") == "No room."
    assert await commands("/undo") == "Brought back 2 sessions"
    assert {world.reader.entry(each).status for each in made} == {"closed"}


async def test_one_that_cannot_be_cleared_keeps_no_other_in_the_list(commands, world):
    sessions = [await world.session(f"hello {number}") for number in range(3)]
    viewed = sessions[-1]
    await commands("/load " + viewed)
    await commands("/session close")
    await commands.program.look_at(viewed)
    damaged = world.reader.path(sessions[1])
    damaged.rename(world.root / "elsewhere")
    damaged.mkdir()
    await commands("/resume clear")
    assert (await commands.answer()).splitlines() == [
        "Moved 2 sessions to the trash. /undo brings them back",
        f"Session {sessions[1]} is damaged: it is not a regular file",
    ]
    assert {world.reader.entry(each).status for each in (sessions[0], viewed)} == {"trashed"}
