from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.targets import resolve, titled
from tui.errors import AmbiguousSession, SessionNotFound

HERE, THERE = "project:/here", "project:/c#/there"


class FakeCatalog:
    """Sessions in a dict: by id, their scope, ordinal and name."""

    def __init__(self, **sessions):
        self._sessions = {name.replace("_", "-"): each for name, each in sessions.items()}

    def has(self, session_id):
        return session_id in self._sessions

    def beginning(self, prefixes):
        return [name for name in self._sessions if name.startswith(prefixes)]

    def numbered(self, scope, ordinal):
        return self._first(lambda each: each[:2] == (scope, ordinal))

    def scopes(self):
        return {each[0] for each in self._sessions.values()}

    def named(self, name):
        return [key for key, each in self._sessions.items() if each[2] == name]

    def imported(self, name):
        return {"imported", "purged"} if name == "theirs" else ()

    def newest(self, count):
        return list(self._sessions)[:count]

    def newest_names(self, count):
        return {each[2]: key for key, each in self._sessions.items() if each[2]}

    def _first(self, wanted):
        return next((key for key, each in self._sessions.items() if wanted(each)), None)


CATALOG = FakeCatalog(
    session_20260111_1=(HERE, 1, "Auth bug"),
    session_20260111_2=(HERE, 2, ""),
    session_20260222_3=(THERE, 1, "Auth bug"),
    session_20260222_4=(THERE, 7, "#2"),
    imported=(THERE, 12, "Übung 会話"),
)


def find(target, listed=(), catalog=CATALOG):
    return resolve(target, HERE, catalog, listed)


def candidates(target, catalog=CATALOG):
    with pytest.raises(AmbiguousSession) as caught:
        find(target, catalog=catalog)
    assert str(caught.value) == f'Several sessions match "{target}":'
    return caught.value.candidates


def is_unknown(target, listed=(), catalog=CATALOG):
    with pytest.raises(SessionNotFound) as caught:
        find(target, listed, catalog)
    return str(caught.value) == f"Session not found: {target}"


# --- each kind


def test_a_listed_number_is_the_session_in_that_line_even_if_it_is_gone_or_an_id_is_like_it():
    listed = ["imported", "gone"]
    assert [find("1", listed), find("2", listed)] == listed
    catalog = FakeCatalog(**{"1": (HERE, 4, "")})
    assert find("1", listed, catalog) == "imported"
    assert find("1", [], catalog) == "1"


@each_row("kind, target, session_id", rows(__file__, "targets"))
def test_a_target_means_one_session(kind, target, session_id):
    assert find(target) == session_id, kind


@pytest.mark.parametrize(
    ("target", "session_id", "sessions"),
    [
        pytest.param("shop#1", "b", {"a": ("project:/shop", 1, ""), "b": ("shop", 1, "")},
                     id="a scope of that very name before a project"),
        pytest.param("a", "a", {"b": (HERE, 1, "a"), "a": (HERE, 2, "")}, id="an id before a name"),
        pytest.param("a", "a", {"a": (HERE, 1, ""), "ab": (HERE, 2, "")}, id="an id before longer"),
        pytest.param("#9", "a", {"a": (HERE, 1, "#9")}, id="a name like a number that none has"),
        pytest.param("ab", "x", {"abc": (HERE, 1, ""), "x": (HERE, 2, "ab")},
                     id="a name before a prefix"),
    ],
)  # fmt: skip
def test_the_first_kind_that_matches_wins(target, session_id, sessions):
    assert find(target, catalog=FakeCatalog(**sessions)) == session_id


def test_of_projects_of_one_name_this_one_is_meant_and_elsewhere_it_is_told():
    shops = FakeCatalog(a=("project:/one/shop", 1, ""), b=("project:/two/shop", 1, ""))
    assert resolve("shop#1", "project:/two/shop", shops) == "b"
    assert candidates("shop#1", shops) == ("a", "b")


# --- what is none


@each_row(
    "target",
    [
        *("", " ", "#", "#9", "#0", "#-1", f"{HERE}#3", "nowhere#1", "auth bug", "Auth"),
        *(" Auth bug", "session-2027", "2026x", "SESSION-20260111-1", "../imported"),
        *("imported\n", "imported\x00", "5abc", "1a", "1-", "#1a", "1#", "9" * 5000),
        *(f"#{'9' * 5000}", *"１¹١①一Ⅰ", *(f"#{digit}" for digit in "１¹١①一Ⅰ")),
    ],
)
def test_what_matches_nothing_is_not_found(target):
    assert is_unknown(target)
    assert is_unknown(target, ["imported"] * 9)
    assert not target or is_unknown("", catalog=FakeCatalog(only=(HERE, 1, "")))


@each_row("number", ["0", "3", "99", "-1", "+1", "1.0", " 1", "1 ", "1_0"])
def test_a_number_that_is_not_in_the_list_is_looked_for_as_something_else(number):
    listed = ["imported", "imported"]
    assert is_unknown(number, listed)
    assert find(number, listed, FakeCatalog(one=(HERE, 1, number))) == "one"


@each_row("number", ["2", "20", "2026", "2026011"])
def test_digits_that_say_no_whole_day_are_the_beginning_of_no_id(number):
    catalog = FakeCatalog(session_20260111_1=(HERE, 1, ""))
    assert is_unknown(number, catalog=catalog)
    assert find("20260111", catalog=catalog) == find("session-2", catalog=catalog)


# --- ties


@each_row(
    "target, sessions, named",
    [
        ("Auth bug", {}, ("session-20260111-1", "session-20260222-3")),
        ("20260111", {}, ("session-20260111-1", "session-20260111-2")),
        ("ab", {"abc": (HERE, 1, ""), "session_abd": (HERE, 2, "")}, ("abc", "session-abd")),
        ("x", {"a": (HERE, 1, "x"), "b": (HERE, 2, "x"), "xy": (HERE, 3, "")}, ("a", "b")),
    ],
)
def test_a_tie_is_an_error_that_names_the_candidates(target, sessions, named):
    assert candidates(target, FakeCatalog(**sessions) if sessions else CATALOG) == named


def test_a_session_told_twice_is_one():
    class Stuttering(FakeCatalog):
        def named(self, name):
            return super().named(name) * 2

    assert find("x", catalog=Stuttering(a=(HERE, 1, "x"))) == "a"


# --- anything


@given(any_text() | st.text(alphabet="0123456789#-simpo", max_size=12))
def test_any_target_is_one_session_or_none_or_several(target):
    with suppress(AmbiguousSession, SessionNotFound):
        assert CATALOG.has(find(target, ["session-20260222-4"]))


def test_no_file_is_asked_for_by_what_is_no_id_and_no_name_is_read_where_an_id_is_given():
    class NoFiles(FakeCatalog):
        def has(self, session_id):
            raise AssertionError(session_id)

    class NoNames(FakeCatalog):
        def named(self, name):
            raise AssertionError(name)

    assert is_unknown("../../etc/passwd", catalog=NoFiles())
    assert find("a", catalog=NoNames(a=(HERE, 1, ""))) == "a"
    assert find("#1", catalog=NoNames(a=(HERE, 1, ""))) == "a"


# --- titles


@each_row("target, found", rows(__file__, "titles"))
def test_a_title_is_meant_whole_or_by_its_beginning(target, found):
    titles = {"a": "Fix it", "b": "Fix it", "c": "Fix the login page…", "d": "42"}
    assert titled(target, titles.items()) == found
