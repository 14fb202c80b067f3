"""The final save: each session by itself, and what is said of it."""

import json

import pytest

from tests.engine.workspaces import FULL
from tests.failing import raiser
from tui.engine.sessions import final_save as ending
from tui.engine.sessions.final_save import FinalSave
from tui.errors import StorageFull

UNFORESEEN = [RecursionError("too deep"), ValueError("4,300 digits")]


@pytest.fixture
def rescue(tmp_path):
    """The directory of rescue files."""
    return tmp_path / "rescue"


async def two_unsaved(world):
    """A program with two sessions, each with a prompt that is not on disk yet."""
    program = world.started()
    first = program.current
    first.activity.begin_answer()
    await program.open(await world.session("one"))
    first.opened.add_message("user", "from the first")
    await program.send("from the second", save=False)
    return program, first, program.current


def refuse(monkeypatch, program, session, error):
    """Let no save of this session succeed."""
    append = program.store.append

    def fail(lease, records, *lines):
        if lease.session_id == session.id:
            raise error
        return append(lease, records)

    monkeypatch.setattr(program.store, "append", fail)


async def finish(final_save, way):
    """End the program with its event loop, or where none is left."""
    if way == "run":
        await final_save.run()
    else:
        final_save.run_at_once()


def rescued(rescue):
    """The messages in the only rescue file."""
    (file,) = rescue.glob("rescue-*")
    records = [json.loads(line) for line in file.read_text().splitlines()]
    return [record["content"] for record in records if record["type"] == "message"]


@pytest.mark.parametrize("way", ["run", "run_at_once"])
@pytest.mark.parametrize("error", UNFORESEEN, ids=lambda error: type(error).__name__)
async def test_a_session_that_cannot_be_saved_keeps_no_other_from_it_and_is_rescued(
    world, rescue, monkeypatch, error, way
):
    program, first, second = await two_unsaved(world)
    refuse(monkeypatch, program, first, error)
    final_save = FinalSave(program.workspace, [rescue], None)
    await finish(final_save, way)
    assert world.texts(second.id) == ["one", "from the second"]
    assert rescued(rescue) == ["from the first"]
    assert final_save.failed
    reason = f"Unexpected error: {type(error).__name__}: {error}"
    assert f"Could not save {first.id}: {reason}" in final_save.lines


@pytest.mark.parametrize("way", ["run", "run_at_once"])
@pytest.mark.parametrize("error", [StorageFull("full"), RecursionError("too deep")])
async def test_a_session_that_cannot_be_rescued_either_keeps_no_other_from_being_saved(
    world, rescue, monkeypatch, error, way
):
    program, first, second = await two_unsaved(world)
    refuse(monkeypatch, program, first, FULL)

    monkeypatch.setattr(ending, "write_rescue", raiser(error))
    final_save = FinalSave(program.workspace, [rescue], None)
    await finish(final_save, way)
    assert world.texts(second.id) == ["one", "from the second"]
    assert final_save.failed
    assert any(str(error) in line for line in final_save.lines)


async def test_a_draft_that_an_unforeseen_error_keeps_from_disk_is_put_elsewhere(
    world, program, rescue
):
    await program.send("hello", save=False)
    program.current.prompt.edit("half")
    program.drafts.failures = [RecursionError("too deep")] * 9
    final_save = FinalSave(program.workspace, [rescue], None)
    await final_save.run()
    (kept,) = rescue.glob("draft-*")
    assert kept.read_text() == "half"
    assert world.texts(program.current.id) == ["hello"]


@pytest.mark.parametrize(
    ("store", "named"), [("postgresql://host/x y", "'postgresql://host/x y'"), ("", "''")]
)
async def test_the_commands_at_the_end_name_the_store_that_was_given(
    world, rescue, monkeypatch, store, named
):
    program, first, _ = await two_unsaved(world)
    refuse(monkeypatch, program, first, FULL)
    final_save = FinalSave(program.workspace, [rescue], None, None, store)
    await final_save.run()
    told = [line for line in final_save.lines if line.startswith(("Import it", "Resume"))]
    assert len(told) == 2
    assert all(line.endswith(f" --store {named}") for line in told)
