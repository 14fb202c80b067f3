"""What a target means, among real sessions."""

import pytest

from tests.builders import user
from tests.storage.contract import SCOPE, closed, state
from tui.errors import AmbiguousSession, SessionNotFound


def named(store, name, session_id=None, scope=SCOPE):
    return closed(store, state(name), session_id=session_id, scope=scope)


def test_the_first_kind_that_matches_wins(store):
    listed = named(store, "a")
    full = named(store, "b", session_id="1")
    by_ordinal = named(store, "c", session_id="o1", scope="2")
    by_name = named(store, "2#1", session_id="n1")
    prefixed = named(store, "d", session_id="session-77777777")
    assert store.resolve("1", SCOPE, listed=[listed]) == listed
    assert store.resolve("1", SCOPE) == full
    assert store.resolve("2#1", SCOPE) == by_ordinal
    store.delete(by_ordinal)
    store.purge(by_ordinal)
    assert store.resolve("2#1", SCOPE) == by_name
    assert store.resolve("77777777", SCOPE) == prefixed
    rival = named(store, "session-7")
    assert store.resolve("session-7", SCOPE) == rival


@pytest.mark.parametrize("target", ["0", "2", "-1", "1.0", "１", "9" * 30, " 1"])
def test_a_number_that_was_not_listed_is_none(store, target):
    name = closed(store, session_id="tale")
    with pytest.raises(SessionNotFound):
        store.resolve(target, SCOPE, listed=[name])


@pytest.mark.parametrize(
    "target", ["#", "#x", "#0", "#2", "#-1", "#１", "x#1", "#1#", f"#{'9' * 30}"]
)
def test_what_looks_like_a_number_of_a_scope_and_is_none_is_not_found(store, target):
    closed(store)
    with pytest.raises(SessionNotFound):
        store.resolve(target, SCOPE)


@pytest.mark.parametrize(
    "name", ["会話", "two words", " ", "a\nb", "\u2028", "\ud800", "#x", "../x"]
)
def test_any_name_is_found_exactly(store, name):
    wanted = named(store, name)
    named(store, name + "!")
    assert store.resolve(name, SCOPE) == wanted


def test_a_name_that_was_changed_means_nothing_any_more(store):
    name = closed(store, state("Old"), state("New"))
    assert store.resolve("New", SCOPE) == name
    with pytest.raises(SessionNotFound):
        store.resolve("Old", SCOPE)


def test_a_tie_names_the_candidates(store):
    first, second = sorted(named(store, "Twins", scope=scope) for scope in ("one", "two"))
    with pytest.raises(AmbiguousSession, match='Several sessions match "Twins":') as told:
        store.resolve("Twins", SCOPE)
    assert told.value.candidates == (first, second)


def test_a_whole_id_is_not_the_beginning_of_another(store):
    short, long = named(store, "", "session-12345678"), named(store, "", "session-123456789")
    assert store.resolve("session-12345678", SCOPE) == short
    assert store.resolve("session-123456789", SCOPE) == long
    with pytest.raises(AmbiguousSession):
        store.resolve("session-1234567", SCOPE)


def test_the_closest_are_found_by_id_and_by_name(store):
    first = named(store, "Garden plans", "session-20260111-120000-000001")
    second = named(store, "Holiday", "session-20260112-120000-000002")

    def closest(target):
        with pytest.raises(SessionNotFound) as told:
            store.resolve(target, SCOPE)
        return told.value.closest

    assert closest("Garden plan") == (first,)
    assert closest("session-20260112-120000-000003")[0] == second
    assert closest("20260111-120000-00009")[0] == first
    assert closest("completely different") == ()
    assert closest("") == ()


def test_a_damaged_session_is_no_obstacle_to_finding_others(store, put):
    put(b"garbage", "session-a")
    name = named(store, "Tale")
    assert store.resolve("Tale", SCOPE) == name
    assert store.resolve("a", SCOPE) == "session-a"


def test_a_session_without_a_name_has_no_empty_name(store):
    closed(store, user("m1"))
    with pytest.raises(SessionNotFound):
        store.resolve("", SCOPE)
