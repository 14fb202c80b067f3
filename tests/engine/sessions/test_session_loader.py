"""What a session is said to be when it is shown."""

import re

import pytest

from tests.builders import Story
from tests.engine.workspaces import said
from tests.failing import raiser
from tui.domain.journal.message import Message, ToolCall
from tui.engine.sessions.external_changes import Follower
from tui.engine.sessions.open_sessions import read_only_words
from tui.errors import NewerVersion, SessionBusy, SessionDamaged, SessionNotFound, StorageError


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
        current.read_only,
    )
    assert said(current) == [current.read_only]
    assert current.view().read_only == current.read_only
    assert current.status().read_only
    assert current.opened is None


async def test_a_session_of_a_newer_version_is_read_only(world, show):
    path = put(world, Story(version=7).user("from the future").state())
    before = path.read_bytes()
    program = world.started()
    await show(program, "tale")
    current = program.current
    words = "Read-only: written by a newer sibyl-tui (format 7)"
    assert (current.read_only, said(current)) == (words, [words])
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


def calls(program):
    """Two calls of tools, of which one has its result."""
    opened = program.current.opened
    answer = opened.begin_answer("m")
    for number in (1, 2):
        answer.add_call(ToolCall(f"c{number}", "read_file", {}))
    opened.end_answer(answer)
    opened.add_message("tool", "read", tool_call_id="c1")


def results(entries):
    return [
        (m.tool_call_id, m.text) for m in entries if isinstance(m, Message) and m.role == "tool"
    ]


async def test_a_call_that_a_crash_cut_off_is_shown_so_and_answered_by_the_next_holder(world):
    killed = world.started()
    await killed.send("go")
    calls(killed)
    await killed.workspace.pool.save(killed.current)
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


async def test_calls_before_a_reset_are_answered_by_nobody(world):
    killed = world.started()
    await killed.send("go")
    calls(killed)
    killed.current.opened.reset()
    await killed.workspace.pool.save(killed.current)
    killed.store.die()
    there = killed.current.id
    program = world.started(there)
    await program.end()
    assert results(world.reader.journal(there).load().all_messages) == [("c1", "read")]


async def test_a_session_that_cannot_be_locked_is_read_and_says_why(world, monkeypatch):
    there = await world.session("One")
    program = world.started()

    monkeypatch.setattr(
        program.store,
        "lease",
        raiser(StorageError("Cannot write to the data directory /data: Read-only file system")),
    )
    await program.open(there)
    current = program.current
    assert current.read_only == (
        "Read-only: Cannot write to the data directory /data: Read-only file system"
    )
    assert said(current) == [current.read_only]
    assert [each.text for each in current.entries] == ["One"]


async def test_a_session_is_looked_at_in_a_directory_that_cannot_be_written(world, monkeypatch):
    there = await world.session("One")
    program = world.started()

    monkeypatch.setattr(
        program.store._folders.__class__, "prepare", raiser(StorageError("Read-only file system"))
    )
    assert await program.look_at(there)
    assert program.current.read_only == ""


@pytest.mark.parametrize("way", ["look_at", "open"])
async def test_a_session_that_cannot_be_read_is_not_shown_and_not_held(world, there, way):
    path = world.reader.path(there)
    path.unlink()
    path.mkdir()
    program = world.started()
    first = program.current
    with pytest.raises(StorageError):
        await getattr(program, way)(there)
    assert program.current is first
    assert world.holder(there) is None


async def test_a_session_in_the_trash_is_not_opened(world, there):
    world.reader.delete(there)
    program = world.started()
    with pytest.raises(SessionNotFound):
        await program.open(there)


@pytest.mark.parametrize("failing", ["aside", "load"])
async def test_a_session_whose_drafts_cannot_be_read_is_not_held(
    world, there, program, monkeypatch, failing
):

    monkeypatch.setattr(program.drafts, failing, raiser(PermissionError(13, "no")))
    with pytest.raises(StorageError, match=f"Cannot read the drafts of {there}: Permission"):
        await program.open(there)
    assert world.holder(there) is None


async def test_a_long_session_is_called_as_in_the_list(world, show):
    there = await world.session(*[f"text {number}" for number in range(140)])
    program = world.started()
    await show(program, there)
    assert program.current.label() == "text 0"
    assert program.current.label() == world.reader.entry(there).label


async def test_a_long_session_with_a_name_is_called_by_it(world):
    _, program = await world.opened(*[str(number) for number in range(140)], name="Numbers")
    assert program.current.label() == "Numbers"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StorageError("No way."), "Read-only: No way"),
        (NewerVersion("tale", 2), "Read-only: written by a newer sibyl-tui (format 2)"),
        (SessionDamaged("tale", "gone"), "Read-only: damaged: gone"),
        (SessionBusy("tale", "in another window"), "Read-only: open in another window"),
    ],
)
def test_a_reason_begins_with_its_consequence_and_names_no_id(error, words):
    assert read_only_words(error) == words
