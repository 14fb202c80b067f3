"""Setting aside what is old or too much."""

import json
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tui.domain.message import Message
from tui.domain.timestamps import format_utc
from tui.errors import SessionBusy
from tui.storage.file_store import FileStore
from tui.storage.memory_store import MemoryStore
from tui.storage.retention import (
    HookFailed,
    RetentionPolicy,
    SetAside,
    prune_backlog,
    prune_by_age,
    run_archive_hook,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SHOP = "project:/shop"


def policy(limit=2, days=30, action="archive"):
    return RetentionPolicy(limit, days, action)


@pytest.fixture(params=["files", "memory"])
def store(request, tmp_path):
    clock = lambda: NOW  # noqa: E731
    return FileStore(tmp_path / "data", clock) if request.param == "files" else MemoryStore(clock)


@pytest.fixture
def used(store):
    """Makes a session that was last used so many days ago."""
    numbers = iter(range(1000))

    def make(days_ago, scope=SHOP):
        lease = store.create(scope, "/shop", "m", session_id=f"s{next(numbers)}")
        moment = format_utc(NOW - timedelta(days=days_ago))
        store.append(lease, [Message(f"m-{lease.session_id}", "user", "hello", moment)])
        lease.release()
        return lease.session_id

    return make


def test_the_backlog_keeps_the_most_recently_used_and_not_the_last_made(store, used):
    recent, old, newest = used(1), used(3), used(0)
    store.set_active(SHOP, newest)
    assert prune_backlog(store, policy(), SHOP) == (SetAside(SHOP, (old,), "backlog"),)
    assert store.entry(old).status == "archived"
    assert store.entry(recent).status == "closed"


def test_a_backlog_within_its_limit_is_left_alone(store, used):
    used(1), used(2)
    assert prune_backlog(store, policy(), SHOP) == ()


def test_the_backlog_of_another_scope_is_left_alone(store, used):
    for days in range(5):
        used(days, scope="project:/other")
    assert prune_backlog(store, policy(), SHOP) == ()


def test_a_limit_of_zero_is_off(store, used):
    for days in range(5):
        used(days)
    assert prune_backlog(store, policy(limit=0), SHOP) == ()
    assert prune_by_age(store, policy(days=0), NOW + timedelta(days=999)) == ()


def test_open_active_and_named_sessions_stay_and_still_count(store, used):
    held, active, named, pruned = used(6), used(7), used(8), used(9)
    used(0), used(1)
    lease = store.lease(held)
    store.set_active(SHOP, active)
    done = prune_backlog(store, policy(), SHOP, keep=[named])
    assert done == (SetAside(SHOP, (pruned,), "backlog"),)
    lease.release()


def test_what_was_not_used_for_too_long_is_set_aside_in_every_scope(store, used):
    old_here, old_there, fresh = used(31), used(40, "project:/other"), used(29)
    store.set_active(SHOP, fresh)
    store.set_active("project:/other", used(0, "project:/other"))
    done = prune_by_age(store, policy(), NOW)
    assert set(done) == {
        SetAside(SHOP, (old_here,), "age"),
        SetAside("project:/other", (old_there,), "age"),
    }
    assert store.entry(fresh).status == "closed"


def test_a_session_restored_today_is_not_old(store, used):
    session_id, other = used(90), used(0)
    store.set_active(SHOP, other)
    prune_by_age(store, policy(), NOW)
    store.restore(session_id)
    assert prune_by_age(store, policy(), NOW) == ()


def test_the_trash_is_a_setting(store, used):
    old, fresh = used(31), used(0)
    store.set_active(SHOP, fresh)
    prune_by_age(store, policy(action="trash"), NOW)
    assert store.entry(old).status == "trashed"


def test_a_session_that_was_opened_meanwhile_is_left_alone(store, used, monkeypatch):
    used(31)
    store.set_active(SHOP, used(0))

    def busy(session_id):
        raise SessionBusy(session_id, "pid 1 on host")

    monkeypatch.setattr(store, "archive", busy)
    assert prune_by_age(store, policy(), NOW) == ()


def test_the_hook_is_told_once_with_all_sessions_of_a_scope(tmp_path):
    told = tmp_path / "told"
    script = f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read())"
    run_archive_hook([sys.executable, "-c", script], SetAside(SHOP, ("a", "b"), "backlog"))
    assert json.loads(told.read_text()) == {
        "scope": SHOP,
        "sessions": ["a", "b"],
        "reason": "backlog",
    }


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([sys.executable, "-c", "raise SystemExit(3)"], "exit code 3"),
        (["/nowhere/at/all"], "could not be started"),
        (["hook\0"], "could not be started"),
    ],
)
def test_a_hook_that_fails_says_how(command, said):
    with pytest.raises(HookFailed, match=said):
        run_archive_hook(command, SetAside(SHOP, ("a",), "age"))


def test_a_hook_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr("tui.storage.retention.HOOK_SECONDS", 0.2)
    with pytest.raises(HookFailed, match="longer than"):
        run_archive_hook(
            [sys.executable, "-c", "import time; time.sleep(60)"], SetAside(SHOP, (), "age")
        )
