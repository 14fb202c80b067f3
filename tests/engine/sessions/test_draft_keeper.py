"""What was typed and not sent, or sent and not saved, is on disk and comes back."""

import asyncio
import os
import threading

import pytest

from tests.engine.workspaces import FULL, SHOP
from tests.failing import raiser
from tests.tables import each_row
from tests.waiting import until
from tui.domain.journal.message import FileBlock, content_of
from tui.errors import StorageError, StorageFull

# --- the holder's draft


async def test_what_is_typed_is_kept_comes_back_and_is_removed_once_it_is_emptied(world):
    first, second = await world.session(), await world.session()
    program = world.started(first)
    await program.keep("half a sentence")
    assert world.drafts.load(first).text == "half a sentence"
    # A switch keeps it, without waiting for the next time.
    await program.type("half")
    await program.look_at(second)
    assert world.drafts.load(first).text == "half"
    await program.look_at(first)
    assert program.current.prompt.text == "half"
    await program.keep("")
    assert list(world.drafts.files()) == []


async def test_what_was_typed_while_the_session_was_being_saved_is_kept_as_well(
    world, there, program
):
    await program.send("hello", save=False)
    first = program.current
    program.store.gate = threading.Event()
    switch = asyncio.create_task(program.workspace.switcher.look_at(there))
    await until(program.store.waiting.is_set)
    first.prompt.edit("typed meanwhile")
    program.store.gate.set()
    await switch
    await program.settle()
    assert world.drafts.load(first.id).text == "typed meanwhile"


async def test_nothing_is_written_where_nothing_was_typed(world, there):
    world.draft(there, "from before", queued=["sent later"])
    program = world.started()
    await program.look_at(there)
    await program.open(there)
    await program.end()
    assert program.drafts.saved == []


async def keeping_held_up(program, text):
    """Begins to keep this draft; gives the task, and what lets the disk go on."""
    await program.type(text)
    program.drafts.gate = gate = threading.Event()
    task = asyncio.create_task(program.workspace.keep_drafts())
    await until(lambda: program.drafts.gate is None)
    return task, gate


async def keeping_behind(program, text):
    """Begins to keep this one while another is written; gives the task."""
    await program.type(text)
    task = asyncio.create_task(program.workspace.keep_drafts())
    await until(lambda: len(program.current.prompt.writes._tasks) == 2, "both")
    return task


@pytest.mark.parametrize("meanwhile", ["", "sent", "cancelled"])
async def test_an_older_draft_never_overwrites_a_newer_one(world, meanwhile):
    there, program = await world.opened()
    older, gate = await keeping_held_up(program, "old")
    if meanwhile == "cancelled":
        older.cancel()
        await asyncio.gather(older, return_exceptions=True)
    newer = await keeping_behind(program, "newer")
    if meanwhile == "sent":
        program.current.opened.add_message("user", "sent")
    gate.set()
    await asyncio.gather(older, newer, return_exceptions=True)
    assert [text for text, _ in program.drafts.saved] == ["old", "newer"]
    draft = world.drafts.load(there)
    assert (draft.text, draft.queued) == ("newer", ())
    assert world.texts(there) == ["hello", *(["sent"] if meanwhile == "sent" else [])]


async def test_what_a_slow_disk_is_writing_already_is_not_put_aside_besides(world):
    there, program = await world.opened()
    keeping, gate = await keeping_held_up(program, "once")
    prompts = program.workspace.prompts
    aside = asyncio.create_task(prompts.put_aside(program.current))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(keeping, aside)
    assert world.drafts.load(there).text == "once"
    assert not world.drafts.aside(there)


async def test_one_draft_that_cannot_be_kept_keeps_no_other_from_it(world, there, program):
    first = program.current
    await program.type("one")
    first.prompt.enqueue("waits")
    await program.open(there)
    await program.type("two")
    first.prompt.edit("one more")
    program.drafts.failures = [FULL]
    with pytest.raises(StorageFull):
        await program.workspace.keep_drafts()
    assert str(first.save) == "NOT SAVED: disk full"
    assert world.drafts.load(there).text == "two"
    await program.workspace.keep_drafts()
    assert world.drafts.load(first.id).text == "one more"
    assert str(first.save) == ""


# --- prompts that were sent


async def test_a_prompt_that_was_sent_or_is_on_its_way_to_the_disk_is_no_draft_any_more(world):
    there, program = await world.opened()
    await program.keep("hello again")
    program.store.gate = threading.Event()
    sending = asyncio.create_task(program.send("hello again"))
    await until(program.store.waiting.is_set)
    keeping = asyncio.create_task(program.workspace.keep_drafts())
    await asyncio.sleep(0.01)
    program.store.gate.set()
    await asyncio.gather(sending, keeping)
    assert world.drafts.load(there) is None


async def test_a_prompt_that_could_not_be_saved_is_a_draft_until_there_is_room_for_it(
    world, program
):
    current = program.current
    program.store.fail_next(FULL)
    await program.send("hello", save=False)
    await program.workspace.keep_drafts()
    assert world.drafts.load(current.id).queued == ("hello",)
    await program.workspace.keep_drafts()
    assert world.drafts.load(current.id) is None
    assert world.texts(current.id) == ["hello"]


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_prompt_that_could_not_be_saved_is_there_after_a_crash(world, is_new):
    program = world.started(None if is_new else await world.session())
    session_id = program.current.id
    program.store.fail_next(FULL, 3)
    await program.send("hello", save=False)
    await program.workspace.keep_drafts()
    program.store.die()
    other = world.started(None if is_new else session_id)
    assert (other.current.id, other.current.prompt.text) == (session_id, "hello")


async def test_prompts_that_waited_wait_for_the_user_after_a_crash(world):
    there, program = await world.opened()
    current = program.current
    current.activity.begin_answer()
    current.prompt.enqueue("first")
    current.prompt.enqueue("second")
    await program.keep("half")
    program.store.die()
    other = world.started(there)
    prompt = other.current.prompt
    assert (prompt.text, prompt.queue.held, prompt.queued) == ("half", ("first", "second"), [])


# --- sessions that never came to be


def date_draft(world, session_id):
    """Let a draft have been written now, by the clock of the programs."""
    written = world.clock.now.timestamp()
    os.utime(world.root / "drafts" / f"{session_id}.json", (written, written))


async def killed_after_sending(world, draft, *sent, queued=()):
    """A session in which a draft was kept, then prompts were sent; nothing was kept after that."""
    session_id = await world.session()
    world.draft(session_id, draft, queued)
    date_draft(world, session_id)
    program = world.started(session_id)
    for text in sent:
        await program.send(text)
    program.store.die()
    return session_id


@pytest.mark.parametrize("resumed", [True, False])
async def test_a_prompt_that_was_sent_right_before_a_crash_is_not_offered_again(world, resumed):
    session_id = await killed_after_sending(world, "half a", "half a sentence")
    program = world.started(session_id if resumed else None)
    if not resumed:
        await program.look_at(session_id)
        assert program.current.prompt.text == ""
        await program.workspace.take(program.current)
    assert program.current.prompt.text == ""
    await program.workspace.keep_drafts()
    assert list(world.drafts.files()) == []


@each_row(
    "draft, queued, sent, text, held",
    [
        ("typed", ["one", "two"], ["one"], "typed", ("two",)),
        (
            "",
            ["see @a.txt", "more"],
            [content_of("see @a.txt", [FileBlock("a.txt", "alpha", 5)])],
            "more",
            (),
        ),
        # Of prompts alike those that still waited.
        (
            "yes",
            ["yes, go on", "yes", "go on", "go on"],
            ["yes, go on", "go on"],
            "yes",
            ("yes", "go on"),
        ),
        ("half", ["yes", "yes, but use tabs"], [], "half", ("yes", "yes, but use tabs")),
        ("half", ["go on", "go on"], [], "half", ("go on", "go on")),
    ],
)
async def test_of_what_waited_only_what_was_sent_is_not_offered_again(
    world, draft, queued, sent, text, held
):
    session_id = await killed_after_sending(world, draft, *sent, queued=queued)
    program = world.started(session_id)
    prompt = program.current.prompt
    assert (prompt.text, prompt.queue.held) == (text, held)
    await program.workspace.keep_drafts()
    kept = world.drafts.load(session_id)
    assert (kept.text, kept.queued) == (text, held)


async def test_what_was_typed_again_after_it_was_sent_is_offered(world):
    session_id = await killed_after_sending(world, "again", "again")
    date_draft(world, session_id)
    assert world.started(session_id).workspace.current.prompt.text == "again"


async def test_a_start_takes_up_what_was_typed_in_a_session_that_never_came_to_be(world, program):
    session_id = program.current.id
    await program.type("half a sentence")
    await program.end()
    draft = world.drafts.load(session_id)
    assert (draft.scope, draft.project_path) == (SHOP, "/shop")
    other = world.started()
    assert other.current.id == session_id
    assert other.current.prompt.text == "half a sentence"
    await other.send("half a sentence")
    await other.end()
    assert world.texts(session_id) == ["half a sentence"]
    assert world.drafts.load(session_id) is None


UNCLAIMED = "session-20260101-000000-000001"


async def test_a_draft_of_another_scope_or_of_a_living_program_is_not_taken_up(world, program):
    await program.keep("mine")
    world.draft(UNCLAIMED, "theirs", scope="project:/other")
    other = world.started()
    assert other.current.prompt.text == ""
    assert other.current.id != program.current.id


@pytest.mark.parametrize("meanwhile", ["taken up", "changed"])
async def test_a_draft_is_read_again_once_its_session_is_held(world, monkeypatch, meanwhile):
    world.draft(UNCLAIMED, "older")
    first, second = world.program(), world.program()
    unclaimed = second.drafts.unclaimed

    def late(scope):
        found = unclaimed(scope)
        if meanwhile == "taken up":
            first.workspace.start()
        else:
            world.draft(UNCLAIMED, "newer")
        return found

    monkeypatch.setattr(second.drafts, "unclaimed", late)
    second.workspace.start()
    if meanwhile == "taken up":
        assert first.current.prompt.text == "older"
        assert second.current.prompt.text == ""
    else:
        assert second.current.prompt.text == "newer"


@pytest.mark.parametrize("failing", ["unclaimed", "aside"])
async def test_a_start_does_without_drafts_that_cannot_be_read(world, monkeypatch, failing):
    world.draft(UNCLAIMED, "typed")
    program = world.program()
    monkeypatch.setattr(program.drafts, failing, raiser(PermissionError(13, "no")))
    program.workspace.start()
    assert world.holder(UNCLAIMED) is None
    assert program.current.prompt.text == ""


# --- sessions that this program does not hold


async def test_what_is_typed_in_a_read_only_session_is_put_aside_and_offered_to_the_next(
    world, there
):
    other = world.started(there)
    await other.keep("the holder's")
    program = world.started(there)
    assert program.current.prompt.text == ""
    await program.keep("the reader's")
    (token, aside), *rest = world.drafts.aside(there)
    assert (aside.text, rest) == ("the reader's", [])
    assert len(token) == 6
    assert world.drafts.load(there).text == "the holder's"
    await program.end()
    await other.end()
    third = world.started(there)
    assert third.current.prompt.text == "the holder's\n\nthe reader's"
    await third.keep("both")
    assert world.drafts.aside(there) == ()
    assert world.drafts.load(there).text == "both"


async def test_what_was_put_aside_comes_back_to_who_typed_it_and_to_no_other_reader(world):
    there, elsewhere = await world.session(), await world.session()
    world.started(there)
    program, another = world.started(), world.started(there)
    await program.look_at(there)
    await program.type("mine")
    await another.keep("another's")
    await program.look_at(elsewhere)
    await program.look_at(there)
    assert program.current.prompt.text == "mine"
    # It is removed when it is emptied.
    await program.keep("")
    assert [draft.text for _, draft in world.drafts.aside(there)] == ["another's"]


async def test_what_a_reader_types_later_is_not_thrown_away_by_the_holder(world, there):
    world.draft(there, "ok", token="aaaaaa")
    holder = world.started(there)
    assert holder.current.prompt.text == "ok"
    world.draft(there, "okay", token="aaaaaa")
    world.draft(there, "look", token="bbbbbb")
    await holder.keep("look, that is okay")
    assert sorted(draft.text for _, draft in world.drafts.aside(there)) == ["look", "okay"]


async def test_what_was_offered_is_shown_once_and_offered_no_more_when_it_is_sent(world, there):
    world.draft(there, "half")
    world.draft(there, "half a sentence", token="aaaaaa")
    program = world.started(there)
    assert program.current.prompt.text == "half a sentence", "one begins with the other"
    await program.send("half a sentence")
    await program.end()
    assert world.drafts.aside(there) == ()
    assert world.started(there).workspace.current.prompt.text == ""


async def test_what_was_put_aside_before_the_session_was_taken_becomes_the_holders(world):
    there, program = await world.looked_at()
    current = program.current
    current.prompt.edit("typed")
    await program.workspace.keep_drafts()
    assert world.drafts.aside(there)[0][1].text == "typed"
    await program.workspace.take(current)
    await program.workspace.keep_drafts()
    assert world.drafts.aside(there) == ()
    assert world.drafts.load(there).text == "typed"


async def test_a_draft_that_was_shown_is_not_put_aside_when_it_is_edited(world, there):
    world.draft(there, "shown", queued=["queued"])
    program = world.started()
    await program.look_at(there)
    await program.keep("edited")
    assert world.drafts.aside(there) == ()
    assert world.drafts.load(there).text == "edited"


async def test_a_draft_written_since_the_session_was_looked_at_is_not_lost_by_taking_it(world):
    there, program = await world.looked_at()
    other = world.started(there)
    await other.type("from the other program")
    await other.end()
    await program.keep("x")
    assert world.drafts.load(there).text == "x"
    assert [draft.text for _, draft in world.drafts.aside(there)] == ["from the other program"]


async def test_a_session_is_not_taken_if_the_draft_in_it_could_not_be_spared(world):
    there, program = await world.looked_at()
    world.draft(there, "from another program")
    program.drafts.failures = [StorageError("Cannot save it.")]
    with pytest.raises(StorageError):
        await program.type("x")
    assert world.holder(there) is None
    assert program.current.access.read_only == "Read-only: Cannot save it"


async def test_a_prompt_that_was_sent_before_a_crash_is_not_offered_to_who_takes_over(world, there):
    holder = world.started(there)
    reader = world.started(there)
    holder.current.prompt.enqueue("one")
    holder.current.prompt.enqueue("two")
    await holder.workspace.keep_drafts()
    date_draft(world, there)
    await holder.send("one")
    holder.store.die()
    conversation, prompts = reader.current, reader.workspace.prompts
    await reader.workspace.take(conversation)
    prompts.show(conversation, prompts.typed(conversation))
    assert (conversation.prompt.text, conversation.prompt.queue.prompts) == ("two", ())


@pytest.mark.parametrize("token", [None, "a1b2c3"])
async def test_a_draft_that_names_another_session_keeps_nobody_out_of_this_one(world, token):
    there = await world.session("hello")
    world.draft(there, "typed", token=token)
    (path,) = world.drafts.files()
    path.write_text(path.read_text().replace(there, "../x"))
    program = world.started()
    assert await program.open(there)
    assert program.current.opened
    assert program.current.prompt.text == ""


async def test_a_draft_whose_leftover_cannot_be_removed_is_kept_all_the_same(world, there):
    world.draft(there, "offered", token="aaaaaa")
    program = world.started(there)
    await program.type("offered, and more")
    save = program.drafts.save

    def no_removing(draft, *, token=None):
        if token is not None:
            raise FULL
        save(draft, token=token)

    program.drafts.save = no_removing
    await program.workspace.keep_drafts()
    assert world.drafts.load(there).text == "offered, and more"
