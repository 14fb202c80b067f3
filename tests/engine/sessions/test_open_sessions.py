import re
import threading

import pytest

from tests.builders import Story
from tests.engine.workspaces import FULL, said
from tests.failing import raiser
from tests.tables import each_row
from tui.domain.journal.message import Message, ToolCall
from tui.engine.sessions.external_changes import Follower
from tui.engine.sessions.open_sessions import read_only_words
from tui.errors import (
    NewerVersion,
    SessionBusy,
    SessionDamaged,
    SessionNotFound,
    StorageError,
    StorageFull,
)
from tui.storage.file_holding import FileLease


@pytest.fixture(params=["look_at", "open"])
def show(request):
    """Shows a session in one of the two ways."""
    return lambda program, session_id: getattr(program, request.param)(session_id)


def put(world, story, session_id="tale"):
    world.program().store._folders.prepare()
    path = world.root / "sessions" / f"{session_id}.jsonl"
    path.write_bytes(story.data)
    return path


async def test_a_session_held_elsewhere_is_read_only_and_says_by_whom(world, show):
    there = await world.session("One")
    world.started(there)
    program = world.started()
    await show(program, there)
    current = program.current
    assert re.fullmatch(
        r"Read-only: open in another window "
        r"\(pid \d+ on \S+ since \d{4}-\d\d-\d\d \d\d:\d\d\)",
        current.access.read_only,
    )
    assert said(current) == [current.access.read_only]
    assert current.view().read_only == current.access.read_only
    assert current.status().read_only
    assert current.opened is None


async def test_a_session_of_a_newer_version_is_read_only(world, show):
    path = put(world, Story(version=7).user("from the future").state())
    before = path.read_bytes()
    program = world.started()
    await show(program, "tale")
    current = program.current
    words = "Read-only: written by a newer sibyl-tui (format 7)"
    assert (current.access.read_only, said(current)) == (words, [words])
    assert [each.text for each in current.entries] == ["from the future"]
    assert world.holder("tale") is None
    await program.end()
    assert path.read_bytes() == before


async def test_damage_is_counted_and_told(world, show):
    put(world, Story(model="scripted:model").user("one").raw(b"{torn\n").raw(b"more\n").user("two"))
    program = world.started()
    await show(program, "tale")
    current = program.current
    assert said(current) == ['2 damaged records skipped in "one"; the file is unchanged']
    assert [each.text for each in current.entries] == ["one", "two"]


async def test_an_answer_that_a_crash_cut_off_is_shown_and_kept_by_the_next_holder(world):
    put(world, Story().opened().user("one").pieces("half ", "an ans"))
    program = world.started()
    await program.look_at("tale")
    shown = program.current.entries[-1]
    assert (shown.text, shown.status) == ("half an ans", "interrupted")
    assert b'"interrupted"' not in world.bytes("tale")
    await program.open("tale")
    await program.end()
    assert world.bytes("tale").count(b'"interrupted"') == 1


async def calls(world, then=lambda opened: None):
    """A program that is to be killed, with two calls of tools, of which one has its result."""
    program = world.started()
    await program.send("go")
    opened = program.current.opened
    answer = opened.begin_answer("m")
    for number in (1, 2):
        answer.add_call(ToolCall(f"c{number}", "read_file", {}))
    opened.end_answer(answer)
    opened.add_message("tool", "read", tool_call_id="c1")
    then(opened)
    await program.workspace.pool.save(program.current)
    return program


def results(entries):
    return [
        (m.tool_call_id, m.text) for m in entries if isinstance(m, Message) and m.role == "tool"
    ]


async def test_a_call_that_a_crash_cut_off_is_shown_so_and_answered_by_the_next_holder(world):
    killed = await calls(world)
    there = killed.current.id
    reader = world.started()
    await reader.look_at(there)
    # Its holder may still run it.
    assert results(reader.current.entries) == [("c1", "read")]
    killed.store.die()
    expected = [("c1", "read"), ("c2", "interrupted")]
    assert await Follower(reader.workspace).look() is not None
    assert results(reader.current.entries) == expected
    program = world.started()
    await program.look_at(there)
    assert results(program.current.entries) == expected
    before = world.bytes(there)
    await program.open(there)
    assert results(program.current.entries) == expected
    await program.end()
    assert world.bytes(there).startswith(before)
    assert results(world.reader.journal(there).load().all_messages) == expected
    # Those before a reset are answered by nobody.
    killed = await calls(world, lambda opened: opened.reset())
    killed.store.die()
    await world.started(killed.current.id).end()
    assert results(world.reader.journal(killed.current.id).load().all_messages) == expected[:1]


async def test_a_session_that_cannot_be_locked_is_read_and_says_why(world, monkeypatch):
    there = await world.session("One")
    program = world.started()
    reason = "Cannot write to the data directory /data: Read-only file system"
    monkeypatch.setattr(program.store, "lease", raiser(StorageError(reason)))
    await program.open(there)
    current = program.current
    assert said(current) == [current.access.read_only] == [f"Read-only: {reason}"]
    assert [each.text for each in current.entries] == ["One"]


async def test_a_session_is_looked_at_in_a_directory_that_cannot_be_written(world, monkeypatch):
    there = await world.session("One")
    program = world.started()

    monkeypatch.setattr(
        program.store._folders.__class__, "prepare", raiser(StorageError("Read-only file system"))
    )
    assert await program.look_at(there)
    assert program.current.access.read_only == ""


@pytest.mark.parametrize("way", ["look_at", "open"])
async def test_a_session_that_is_gone_or_cannot_be_read_is_not_shown_and_not_held(
    world, there, way
):
    path = world.reader.path(there)
    path.unlink()
    path.mkdir()
    gone = await world.session()
    world.reader.delete(gone)
    program = world.started()
    first = program.current
    with pytest.raises(StorageError):
        await getattr(program, way)(there)
    with pytest.raises(SessionNotFound):
        await program.open(gone)
    assert program.current is first
    assert world.holder(there) is None


@pytest.mark.parametrize("failing", ["aside", "load"])
async def test_a_session_whose_drafts_cannot_be_read_is_not_held(
    world, there, program, monkeypatch, failing
):

    monkeypatch.setattr(program.drafts, failing, raiser(PermissionError(13, "no")))
    with pytest.raises(StorageError, match=f"Cannot read the drafts of {there}: Permission"):
        await program.open(there)
    assert world.holder(there) is None


@pytest.mark.parametrize("name", ["", "Numbers"])
async def test_a_long_session_is_called_as_in_the_list(world, show, name):
    there = await world.session(*[f"text {number}" for number in range(140)], name=name)
    program = world.started()
    await show(program, there)
    assert program.current.label() == world.reader.entry(there).label == (name or "text 0")


@each_row(
    "error, words",
    [
        (StorageError("No way."), "Read-only: No way"),
        (NewerVersion("tale", 2), "Read-only: written by a newer sibyl-tui (format 2)"),
        (SessionDamaged("tale", "gone"), "Read-only: damaged: gone"),
        (SessionBusy("tale", "in another window"), "Read-only: open in another window"),
    ],
)
def test_a_reason_begins_with_its_consequence_and_names_no_id(error, words):
    assert read_only_words(error) == words


async def test_a_save_says_when_it_was_and_nothing_where_nothing_is_pending(world, program):
    await program.send("hello")
    assert str(program.current.save).startswith("saved ")
    assert not program.current.save.saving
    there = await world.session()
    await program.look_at(there)
    before = world.bytes(there)
    assert await program.workspace.pool.try_save(program.current)
    assert world.bytes(there) == before
    assert str(program.current.save) == ""
    # Nor is what is only looked at closed.
    await program.workspace.pool.close(program.current)
    await program.workspace.pool.abandon(program.current)
    assert world.bytes(there) == before


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
    assert [each.typed_text for each in current.unsaved_questions] == ["hello"]
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


async def test_closing_ends_an_answer_where_it_is_writes_all_at_once_and_gives_it_up(
    world, program
):
    await program.send("hello", save=False)
    current = program.current
    current.opened.begin_answer("scripted:model").receive("half an ans")
    before = program.store.appends
    for _ in range(2):
        await program.workspace.pool.close(current)
        assert program.store.appends == before + 1
    assert world.texts(current.id) == ["hello", "half an ans"]
    last = world.reader.journal(current.id).load().loaded_messages[-1]
    assert last.status == "interrupted"
    assert world.reader.entry(current.id).closed_at is not None
    assert world.bytes(current.id).count(b'"closed"') == 1
    assert world.holder(current.id) is None
    assert program.workspace.open == ()


@pytest.mark.parametrize("saved", [False, True])
async def test_a_closing_that_failed_and_is_tried_again_loses_nothing(world, program, saved):
    await program.send("hello", save=saved)
    current = program.current
    program.store.fail_next(FULL, 2)
    for _ in range(2):
        with pytest.raises(StorageFull):
            await program.workspace.pool.close(current)
        assert current.unsaved
        assert str(current.save) == "NOT SAVED: disk full"
        assert world.holder(current.id) is not None
    await program.workspace.pool.close(current)
    assert world.texts(current.id) == ["hello"]
    assert world.reader.entry(current.id).closed_at is not None
    assert world.holder(current.id) is None


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
