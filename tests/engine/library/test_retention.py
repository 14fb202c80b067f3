"""What is set aside at the start and after ``/new``, and who is told."""

import json
import sys
from datetime import timedelta

import pytest

from tests.engine.workspaces import FULL, SHOP
from tests.failing import raiser
from tui.config.settings_schema import RetentionSettings
from tui.engine.library.retention import Pruned, Retention
from tui.errors import StorageError
from tui.storage.pruning import SetAside

OTHER = "project:/other"


@pytest.fixture
def retention(world):
    """What sets aside in a program, by these settings."""

    def make(program, *, hook=(), **settings):
        return Retention(program.store, RetentionSettings(**settings), hook, world.clock)

    return make


def status(world, *ids):
    return [world.reader.entry(session_id).status for session_id in ids]


async def test_what_was_not_used_for_long_is_archived_in_every_scope(world, retention):
    old = await world.session(), await world.session(scope=OTHER)
    world.clock.now += timedelta(days=31)
    new = await world.session(), await world.session(scope=OTHER)
    program = world.started()
    pruned = await retention(program).after_start(program.workspace)
    assert set(pruned.done) == {
        SetAside(SHOP, old[:1], "age"),
        SetAside(OTHER, old[1:], "age"),
    }
    assert status(world, *old, *new) == ["archived"] * 2 + ["closed"] * 2
    assert (
        retention(program).words(pruned)
        == "2 older sessions moved to the archive (not used for 30 days). /undo brings them back"
    )


async def test_what_is_beyond_the_limit_of_the_scope_is_archived_with_the_new_one_counted(
    world, retention
):
    made = [await world.session() for _ in range(4)]
    elsewhere = [await world.session(scope=OTHER) for _ in range(4)]
    program = world.started()
    settings = retention(program, backlog_limit=3)
    pruned = await settings.after_start(program.workspace)
    assert pruned.done == (SetAside(SHOP, (made[1], made[0]), "backlog"),)
    assert settings.words(pruned) == (
        "2 older sessions moved to the archive (3 are kept per project). /undo brings them back"
    )
    assert status(world, *elsewhere) == ["closed"] * 4


async def test_both_are_told_in_one_line(world, retention):
    old = await world.session()
    world.clock.now += timedelta(days=3)
    made = [await world.session() for _ in range(3)]
    program = world.started()
    settings = retention(program, backlog_limit=2, max_age_days=1, action="trash")
    pruned = await settings.after_start(program.workspace)
    assert settings.words(pruned) == (
        "3 older sessions moved to the trash (not used for 1 day; 2 are kept per project). "
        "/undo twice brings them back"
    )
    assert status(world, old, *made) == ["trashed", "trashed", "trashed", "closed"]


async def test_the_session_on_screen_and_those_that_work_stay(world, retention):
    viewed, working, held, old = [await world.session() for _ in range(4)]
    await world.session()
    world.clock.now += timedelta(days=90)
    active = await world.session()
    world.started(held)
    program = world.started(working)
    program.current.activity.begin_answer()
    await program.look_at(viewed)
    world.reader.set_active(SHOP, active)
    pruned = await retention(program, backlog_limit=1).after_start(program.workspace)
    assert old in pruned.done[0].sessions
    assert status(world, viewed, working, held, active) == ["closed", "open", "open", "closed"]


async def test_what_only_was_looked_at_is_not_used_and_without_limits_nothing_is_done(
    world, retention
):
    old = await world.session()
    world.clock.now += timedelta(days=40)
    await world.session()
    program = world.started()
    await program.look_at(old)
    await program.workspace.begin()
    await program.settle()
    unlimited = retention(program, backlog_limit=0, max_age_days=0)
    assert await unlimited.after_start(program.workspace) == Pruned()
    assert not unlimited.limits_scopes
    assert (await retention(program).after_start(program.workspace)).done[0].sessions == (old,)


async def test_what_was_set_aside_before_the_disk_failed_is_told_with_its_error(
    world, retention, monkeypatch
):
    first, second = await world.session(), await world.session()
    world.clock.now += timedelta(days=40)
    await world.session()
    program = world.started()
    archive = program.store.archive

    def archive_but_one(session_id, batch):
        if session_id == first:
            raise FULL
        archive(session_id, batch)

    monkeypatch.setattr(program.store, "archive", archive_but_one)
    pruned = await retention(program).after_start(program.workspace)
    assert pruned.done == (SetAside(SHOP, (second,), "age"),)
    assert str(pruned.failure) == "No room."
    monkeypatch.setattr(program.store, "list", raiser(StorageError("Cannot read.")))
    pruned = await retention(program).after_start(program.workspace)
    assert (pruned.count, str(pruned.failure)) == (0, "Cannot read.")


# --- the hook


@pytest.fixture
def told(tmp_path):
    """A hook that writes down what it is told, and what it was told."""
    file = tmp_path / "told"
    script = f"import sys; open({str(file)!r}, 'a').write(sys.stdin.read() + chr(10))"

    def read():
        return [json.loads(line) for line in file.read_text().splitlines()]

    return (sys.executable, "-c", script), read


async def test_the_hook_is_told_once_a_scope_and_reason(world, retention, told):
    hook, read = told
    old = await world.session(), await world.session(scope=OTHER)
    world.clock.now += timedelta(days=31)
    kept = [await world.session() for _ in range(3)]
    await world.session(scope=OTHER)
    program = world.started()
    settings = retention(program, backlog_limit=3, hook=hook)
    assert await settings.tell_hook(await settings.after_start(program.workspace)) == ()
    assert sorted(read(), key=str) == sorted(
        [
            {"scope": SHOP, "sessions": [old[0]], "reason": "age"},
            {"scope": OTHER, "sessions": [old[1]], "reason": "age"},
            {"scope": SHOP, "sessions": [kept[0]], "reason": "backlog"},
        ],
        key=str,
    )


async def test_the_hook_is_told_what_the_user_archived_and_nothing_that_went_to_the_trash(
    world, retention, told
):
    hook, read = told
    program = world.started()
    trashing = retention(program, hook=hook, action="trash")
    assert await trashing.tell_hook(Pruned((SetAside(SHOP, ("x",), "age"),))) == ()
    assert await retention(program).tell_archived(SHOP, "x") == (), "without a hook"
    assert await retention(program, hook=hook).tell_archived(SHOP, "a", "b") == ()
    assert read() == [{"scope": SHOP, "sessions": ["a", "b"], "reason": "user"}]


async def test_what_goes_wrong_with_the_hook_is_told_once(world, retention):
    failing = (sys.executable, "-c", "raise SystemExit(3)")
    settings = retention(world.started(), hook=failing)
    done = tuple(SetAside(scope, ("a",), "age") for scope in (SHOP, OTHER))
    assert await settings.tell_hook(Pruned(done)) == ("The archive hook failed with exit code 3.",)
