"""Trips to the server for each gesture: it may be far away."""

import pytest

from tests.builders import header, user
from tests.storage.contract import closed, new
from tui.domain.journal.records import encode
from tui.storage.protocol import EVERYWHERE, SessionFilter

EVERY = SessionFilter(statuses=EVERYWHERE)


@pytest.fixture
def store(cutter, open_store):
    store = open_store(cutter.address)
    store.count(EVERY)
    return store


@pytest.fixture
def trips(cutter):
    """Count the trips of an action."""

    def count(action):
        before = cutter.trips
        action()
        return cutter.trips - before

    return count


def test_a_session_is_published_saved_leased_opened_resolved_and_moved_by_few_trips(store, trips):
    lease = store.create("project:/shop", "/shop", "local:qwen3")
    session_id, journal = lease.session_id, store.journal(lease.session_id)
    assert trips(lambda: store.append(lease, [user("m", "hello")])) <= 3
    assert trips(lambda: store.append(lease, [user("more")])) == 1
    lease.release()
    held = []
    assert trips(lambda: held.append(store.lease(session_id))) <= 2
    held[0].release()
    for most, action in (
        (1, lambda: journal.tail(50)),
        (1, lambda: journal.since(None)),
        (1, lambda: store.stamp(session_id)),
        (1, journal.load),
        (1, lambda: store.resolve(session_id, "project:/shop")),
        (1, lambda: store.resolve("#1", "project:/shop")),
        (4, lambda: store.resolve(session_id[:-1], "project:/shop")),
        (4, lambda: store.archive(session_id)),
        (4, lambda: store.delete(session_id)),
    ):
        assert 0 < trips(action) <= most


def test_a_list_of_sessions_is_described_anew_only_where_one_was_changed(store, trips):
    ids = [closed(store) for _ in range(12)]
    lease = new(store)
    assert trips(lambda: store.list(EVERY, None, 50)) <= 3
    assert trips(lambda: store.list(EVERY, None, 50)) == 1
    assert trips(lambda: store.entries(ids)) == 1
    store.append(lease, [user("more")])
    assert trips(lambda: store.list(EVERY, None, 50)) == 2


def test_a_long_session_is_read_in_few_trips(store, trips):
    records = [user(f"m{number}", "x" * 1000) for number in range(8000)]
    store.add_imported(header("session-20250111-153000-000001"), [(r, encode(r)) for r in records])
    assert trips(lambda: store.journal("session-20250111-153000-000001").load()) <= 8


def test_an_import_of_a_short_session_takes_few_trips(store, trips):
    record = user("m", "hello")
    new = header("session-20250111-153000-000001")
    assert trips(lambda: store.add_imported(new, [(record, encode(record))])) <= 4
