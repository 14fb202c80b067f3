"""The prompts of a project, newest first, over all its sessions."""

import pytest

from tests.builders import answer, user
from tests.engine.workspaces import SHOP
from tests.failing import raiser
from tui.engine.library import prompt_history
from tui.engine.library.prompt_history import PAGE, PromptHistory
from tui.errors import StorageError


def prompts_of(program):
    history = PromptHistory(program.workspace.reader, program.current)
    while history.more:
        history.read_more()
    return history.prompts


@pytest.fixture
def session(program):
    """Adds a session with prompts, each at a time of its own."""

    def add(*times, scope=SHOP, **words):
        lease = program.store.create(scope, "/shop", "m", **words)
        for at in times:
            key = f"{lease.session_id}-{at}"
            program.store.append(
                lease, [user(key, f"prompt {at}", at), answer(f"{key}a", "hi", at)]
            )
        lease.release()
        return lease.session_id

    return add


async def test_prompts_of_all_sessions_of_the_project_are_merged_by_time(program, session):
    session(10, 40)
    program.store.archive(session(20, 50))
    session(60, scope="project:/elsewhere")
    await program.send("now")
    program.current.opened.add_message("user", "not saved yet")
    wanted = ["not saved yet", "now", "prompt 50", "prompt 40", "prompt 20", "prompt 10"]
    found = prompts_of(program)
    # The clock of the test goes on by a second each time.
    assert sorted(found) == sorted(wanted)
    assert [each for each in found if each.startswith("prompt")] == wanted[2:]
    assert found.index("not saved yet") < found.index("now")


async def test_what_is_in_the_trash_or_purged_is_left_out(program, session):
    trashed, purged = session(10), session(20)
    program.store.delete(trashed)
    program.store.delete(purged)
    program.store.purge(purged)
    session(30)
    assert prompts_of(program) == ["prompt 30"]


async def test_prompts_of_a_private_session_are_found_in_it_alone(world, program, session):
    session(10)
    assert await program.workspace.begin_private()
    await program.send("secret")
    assert sorted(prompts_of(program)) == ["prompt 10", "secret"]
    assert prompts_of(world.started()) == ["prompt 10"]


async def test_a_session_is_read_only_as_far_as_its_prompts_are_next(program, session, monkeypatch):
    old = [session(n) for n in range(30)]
    newest = session(*range(1000, 1000 + 5 * PAGE))
    opened = []
    store, journal = program.store, program.store.journal

    def counted(session_id):
        opened.append(session_id)
        return journal(session_id)

    monkeypatch.setattr(store, "journal", counted)
    history = PromptHistory(store, program.current)
    history.read_more()
    assert history.prompts[0] == f"prompt {999 + 5 * PAGE}"
    assert PAGE <= len(history.prompts) <= 2 * PAGE
    assert set(opened) == {program.current.id, newest}
    while history.more:
        history.read_more()
    expected = [*range(999 + 5 * PAGE, 999, -1), *range(29, -1, -1)]
    assert history.prompts == [f"prompt {n}" for n in expected]
    assert set(old) < set(opened)


async def test_a_damaged_session_and_a_store_that_is_away_hide_no_other_prompts(
    program, session, monkeypatch
):
    broken = session(20)
    program.store.path(broken).write_bytes(b"\xff\n")
    session(10)
    assert prompts_of(program) == ["prompt 10"]
    await program.send("now")

    monkeypatch.setattr(program.store, "list", raiser(StorageError("away")))
    assert prompts_of(program) == ["now"]


async def test_no_more_is_read_than_memory_is_for(program, session, monkeypatch):
    session(*range(5 * PAGE))
    monkeypatch.setattr(prompt_history, "MOST_CHARACTERS", 100)
    assert len(prompts_of(program)) <= 2 * PAGE
