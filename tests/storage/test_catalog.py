"""What a target means, among real sessions."""

import pytest

from tests.storage.contract import SCOPE, closed, state
from tests.tables import each_row
from tui.errors import SessionNotFound


def named(store, name, session_id=None, scope=SCOPE):
    return closed(store, state(name), session_id=session_id, scope=scope)


@each_row("name", ["会話", "two words", " ", "a\nb", "\u2028", "\ud800", "#x", "../x"])
def test_any_name_is_found_exactly(store, name):
    wanted = named(store, name)
    named(store, name + "!")
    assert store.resolve(name, SCOPE) == wanted


def test_the_closest_are_found_by_id_and_by_name(store):
    first = named(store, "Garden plans", "session-20260111-120000-000001")
    second = named(store, "Holiday", "session-20260112-120000-000002")

    def closest(target):
        with pytest.raises(SessionNotFound) as told:
            store.resolve(target, SCOPE)
        return told.value.closest

    assert closest("Garden plams") == (first,)
    assert closest("session-20260112-120000-000003")[0] == second
    assert closest("20260111-120000-00009")[0] == first
    assert closest("completely different") == ()
    assert closest("") == ()


def test_a_damaged_session_is_no_obstacle_to_finding_others(store, put):
    put(b"garbage", "session-a")
    name = named(store, "Tale")
    assert store.resolve("Tale", SCOPE) == name
    assert store.resolve("a", SCOPE) == "session-a"
