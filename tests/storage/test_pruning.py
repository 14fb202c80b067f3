"""Setting aside what is old or too much."""

import json
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tui.domain.journal.message import Message
from tui.domain.journal.records import Settings
from tui.domain.moves import Batch
from tui.domain.timestamps import format_utc
from tui.errors import NewerVersion, SessionBusy, StorageFull
from tui.storage import protocol
from tui.storage.file_store import FileStore
from tui.storage.pruning import (
    HookFailed,
    PartlySetAside,
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


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "data", lambda: NOW)


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


def pruned(store, reason, limit=2):
    if reason == "age":
        return prune_by_age(store, policy(), NOW)
    return prune_backlog(store, policy(limit), SHOP)


def test_the_backlog_keeps_the_most_recently_used_and_not_the_last_made(store, used):
    recent, old, newest = used(1), used(3), used(0)
    store.set_active(SHOP, newest)
    assert prune_backlog(store, policy(), SHOP) == (SetAside(SHOP, (old,), "backlog"),)
    assert store.entry(old).status == "archived"
    assert store.entry(recent).status == "closed"


def test_a_backlog_within_its_limit_or_of_another_scope_is_left_alone_and_zero_is_off(store, used):
    for days in range(40, 45):
        used(days, scope="project:/other")
    used(1), used(2)
    assert prune_backlog(store, policy(), SHOP) == ()
    used(3)
    assert prune_backlog(store, policy(limit=0), SHOP) == ()
    assert prune_by_age(store, policy(days=0), NOW + timedelta(days=999)) == ()
    assert prune_by_age(store, policy(days=1_000_000), NOW) == (), "that is before all time"


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
    store.restore(old_here)
    assert prune_by_age(store, policy(), NOW) == (), "restored today, it is not old"


@pytest.mark.parametrize("prune", ["age", "backlog"])
def test_what_an_undo_brought_back_stays_until_it_is_used(store, used, prune):
    old, _ = used(40), [used(number) for number in range(2)]

    assert pruned(store, prune) == (SetAside(SHOP, (old,), prune),)
    store.restore(old, Batch(store.moves()[-1].batch, "undo"))
    assert pruned(store, prune) == ()


@pytest.mark.parametrize(("action", "status"), [("archive", "archived"), ("trash", "trashed")])
def test_where_the_active_one_was_archived_the_most_recently_used_other_stays(
    store, used, action, status
):
    old, older, active = used(40), used(50), used(0)
    store.set_active(SHOP, active)
    store.archive(active)
    assert prune_by_age(store, policy(action=action), NOW) == (SetAside(SHOP, (older,), "age"),)
    assert store.entry(older).status == status
    assert store.active(SHOP) == old


def fails_for(monkeypatch, store, verb, session_id, error):
    """Let a verb fail for one session."""
    real = getattr(store, verb)

    def call(wanted, *arguments):
        if wanted == session_id:
            raise error
        return real(wanted, *arguments)

    monkeypatch.setattr(store, verb, call)


@pytest.mark.parametrize("prune", ["age", "backlog"])
def test_a_session_that_this_program_opens_meanwhile_is_left_alone(store, used, monkeypatch, prune):
    old = used(31)
    store.set_active(SHOP, used(0))
    listed = store.list

    def list_and_open(*arguments):
        listing = listed(*arguments)
        if any(entry.id == old for entry in listing.entries):
            store.lease(old)
        return listing

    monkeypatch.setattr(store, "list", list_and_open)
    assert pruned(store, prune, limit=1) == ()
    assert store.entry(old).status == "open"


@pytest.mark.parametrize("error", [SessionBusy("s0", "on host"), NewerVersion("s0", 2)])
def test_what_cannot_be_taken_keeps_no_other_from_being_set_aside(store, used, monkeypatch, error):
    first, second = used(40), used(31)
    store.set_active(SHOP, used(0))
    fails_for(monkeypatch, store, "lease", first, error)
    assert prune_by_age(store, policy(), NOW) == (SetAside(SHOP, (second,), "age"),)


def test_what_cannot_be_moved_is_told_with_what_was(store, used, monkeypatch):
    first, second, third = used(50), used(40), used(31)
    store.set_active(SHOP, used(0))
    fails_for(monkeypatch, store, "archive", second, StorageFull("No room."))
    with pytest.raises(PartlySetAside, match="No room") as failed:
        prune_by_age(store, policy(), NOW)
    assert failed.value.done == (SetAside(SHOP, (third, first), "age"),)
    assert store.entry(first).status == store.entry(third).status == "archived"


def test_a_pinned_session_stays(store, used):
    pinned, old = used(50), used(40)
    store.set_active(SHOP, used(0))
    lease = store.lease(pinned)
    store.append(lease, [Settings(pinned=True)])
    lease.release()
    assert prune_by_age(store, policy(), NOW) == (SetAside(SHOP, (old,), "age"),)
    assert prune_backlog(store, policy(limit=1), SHOP) == ()


@pytest.mark.parametrize(("limit", "pruned"), [(3, 1), (2, 2), (1, 2)])
def test_a_new_session_that_is_not_on_disk_counts(store, used, limit, pruned):
    active, older = used(0), (used(1), used(2))
    store.set_active(SHOP, active)
    done = prune_backlog(store, policy(limit), SHOP, unwritten=1)
    assert done == (SetAside(SHOP, older[-pruned:], "backlog"),)


def test_more_than_a_page_is_set_aside(store, used, monkeypatch):
    monkeypatch.setattr(protocol, "_PAGE", 2)
    old = [used(31 + day) for day in range(7)]
    store.set_active(SHOP, used(0))
    assert prune_by_age(store, policy(), NOW) == (SetAside(SHOP, tuple(old), "age"),)


def test_the_hook_is_told_once_with_all_sessions_of_a_scope(tmp_path):
    told = tmp_path / "told"
    script = f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read())"
    run_archive_hook([sys.executable, "-c", script], SetAside(SHOP, ("a", "b"), "backlog"))
    expected = {"scope": SHOP, "sessions": ["a", "b"], "reason": "backlog"}
    assert json.loads(told.read_text()) == expected


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([sys.executable, "-c", "raise SystemExit(3)"], "exit code 3"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "longer than"),
        (["/nowhere/at/all"], "could not be started"),
        (["hook\0"], "could not be started"),
    ],
)
def test_a_hook_that_fails_or_does_not_end_says_how(command, said, monkeypatch):
    if said == "longer than":
        monkeypatch.setattr("tui.storage.pruning.HOOK_SECONDS", 0.2)
    with pytest.raises(HookFailed, match=said):
        run_archive_hook(command, SetAside(SHOP, ("a",), "age"))
