"""Trips to the server for each gesture: it may be far away."""

import pytest

from tests.builders import header, user
from tests.storage.contract import closed, new
from tui.domain.journal.records import encode
from tui.storage.protocol import EVERYWHERE, SessionFilter

EVERY = SessionFilter(statuses=EVERYWHERE)


@pytest.fixture
def store(link, open_store):
    store = open_store(link.address)
    store.count(EVERY)
    return store


@pytest.fixture
def trips(link):
    """Count the trips of an action."""

    def count(action):
        before = link.trips
        action()
        return link.trips - before

    return count


def test_a_message_is_saved_by_one_trip(store, trips):
    lease = new(store)
    assert trips(lambda: store.append(lease, [user("more")])) == 1


def test_a_session_is_opened_by_one_trip(store, trips):
    session_id = closed(store, user("m1"), user("m2"))
    assert trips(lambda: store.journal(session_id).tail(50)) == 1
    assert trips(lambda: store.journal(session_id).since(None)) == 1
    assert trips(lambda: store.stamp(session_id)) == 1
    assert trips(lambda: store.journal(session_id).load()) == 1


def test_a_list_of_sessions_that_were_listed_before_comes_by_one_trip(store, trips):
    for _ in range(12):
        closed(store)
    first = trips(lambda: store.list(EVERY, None, 50))
    assert first <= 3
    assert trips(lambda: store.list(EVERY, None, 50)) == 1


def test_a_session_that_is_written_to_is_described_anew_only_if_it_was_changed(store, trips):
    lease = new(store)
    store.list(EVERY, None, 50)
    assert trips(lambda: store.list(EVERY, None, 50)) == 1
    store.append(lease, [user("more")])
    assert trips(lambda: store.list(EVERY, None, 50)) == 2


def test_entries_of_many_sessions_come_by_one_trip(store, trips):
    ids = [closed(store) for _ in range(12)]
    store.entries(ids)
    assert trips(lambda: store.entries(ids)) == 1


def test_a_target_is_resolved_without_a_list_of_all_sessions(store, trips):
    session_id = closed(store)
    assert trips(lambda: store.resolve(session_id, "project:/shop")) == 1
    assert trips(lambda: store.resolve("#1", "project:/shop")) == 1
    assert trips(lambda: store.resolve(session_id[:-1], "project:/shop")) <= 4


def test_a_long_session_is_read_in_few_trips(store, trips):
    records = [user(f"m{number}", "x" * 1000) for number in range(8000)]
    store.add_imported(header("session-20250111-153000-000001"), [(r, encode(r)) for r in records])
    assert trips(lambda: store.journal("session-20250111-153000-000001").load()) <= 8


def test_a_new_session_is_published_by_three_trips(store, trips):
    lease = store.create("project:/shop", "/shop", "local:qwen3")
    assert trips(lambda: store.append(lease, [user("m", "hello")])) <= 3


def test_a_session_is_leased_by_two_trips(store, trips):
    session_id = closed(store)
    assert trips(lambda: store.lease(session_id)) <= 2


def test_a_session_is_moved_by_few_trips(store, trips):
    session_id = closed(store)
    assert trips(lambda: store.archive(session_id)) <= 4
    assert trips(lambda: store.delete(session_id)) <= 4


def test_an_import_of_a_short_session_takes_few_trips(store, trips):
    record = user("m", "hello")
    new = header("session-20250111-153000-000001")
    assert trips(lambda: store.add_imported(new, [(record, encode(record))])) <= 4
