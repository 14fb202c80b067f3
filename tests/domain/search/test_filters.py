"""The filters of a query: what they pass, and what is said about those that cannot be used."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import header
from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.search.filters import (
    ends_with_filter,
    origin_of,
    parse_filters,
    split_filters,
)
from tui.domain.search.query import parse
from tui.domain.search.search_results import as_typed


def filters(text):
    return parse(text).filters


def local(*day):
    return int(datetime(*day).astimezone().timestamp() * 1000)


@each_row(
    "text, words, found",
    [
        ("in:shop login", " login", ("in:shop",)),
        ("login from:claude-code", "login ", ("from:claude-code",)),
        ('in:"my shop" x', " x", ('in:"my shop"',)),
        ('in:"my sh', "", ('in:"my sh',)),
        ('"say in:shop"', '"say in:shop"', ()),
        ("plugin:shop", "plugin:shop", ()),
        ("text:foo", "text:foo", ()),
        ("Before:2026 IN:x", " ", ("Before:2026", "IN:x")),
    ],
)
def test_a_filter_is_a_word_of_its_own_outside_of_quotes(text, words, found):
    assert split_filters(text) == (words, found)


@given(any_text(30))
def test_words_and_filters_are_all_of_the_text(text):
    words, found = split_filters(text)
    assert len(words) + sum(map(len, found)) == len(text)
    assert not parse_filters(found).are_none or not found


@each_row("text, passes", rows(__file__, "passing"))
def test_a_project_passes_by_a_part_of_its_path_a_program_by_its_beginning(text, passes):
    place = "/home/u/Shop"
    known = header(scope=f"project:{place}", project_path=place, imported_from="claude-code:1f")
    assert filters(text).pass_session(origin_of(known)) is passes


@pytest.mark.parametrize("imported_from", [None, "rescue.jsonl"])
def test_an_own_session_is_from_sibyl(imported_from):
    assert filters("from:sibyl").pass_session(origin_of(header(imported_from=imported_from)))
    assert not filters("from:claude").pass_session(origin_of(header(imported_from=imported_from)))


def test_a_session_of_a_named_scope_is_in_its_scope_and_in_its_project():
    origin = origin_of(header(scope="work", project_path="/home/u/shop"))
    assert filters("in:work").pass_session(origin)
    assert filters("in:u/shop").pass_session(origin)


@each_row(
    "value, day",
    [
        ("2026", (2026, 1, 1)),
        ("2026-05", (2026, 5, 1)),
        ("2026-5-3", (2026, 5, 3)),
        ('"2026-05-03"', (2026, 5, 3)),
    ],
)
def test_a_date_is_a_local_year_month_or_day_that_after_includes(value, day):
    begin = local(*day)
    after, before = filters(f"after:{value}"), filters(f"before:{value}")
    assert [after.pass_time(time) for time in (begin - 1, begin)] == [False, True]
    assert [before.pass_time(time) for time in (begin - 1, begin)] == [True, False]


def test_of_several_dates_the_narrowest_counts_and_an_unknown_time_passes_none():
    found = filters("after:2024 after:2025 before:2027 before:2026")
    assert (found.since, found.until) == (local(2025, 1, 1), local(2026, 1, 1))
    assert filters("in:shop").pass_time(0)
    assert not filters("before:2026").pass_time(0)


@each_row(
    "text, fault",
    [
        (
            "before:soon",
            "before:soon is not a date. It needs a year, month or day: before:2026-05-01",
        ),
        (
            "after:2026-13",
            "after:2026-13 is not a date. It needs a year, month or day: after:2026-05-01",
        ),
        ("x after:", "after: needs a year, month or day: after:2026-05-01"),
        ("in:", "in: needs a project: in:shop"),
        ('from:""', "from: needs a program: from:claude-code"),
    ],
)
def test_a_filter_that_cannot_be_used_is_told(text, fault):
    assert filters(text).fault == fault
    assert parse(text).is_empty


@each_row("text, empty", [("", True), ("->", True), ("x", False), ("in:x", False), ("in:", True)])
def test_a_query_of_nothing_but_filters_is_not_empty(text, empty):
    assert parse(text).is_empty is empty


def test_the_value_of_a_filter_is_no_term():
    assert parse("in:shop login").terms == parse("login").terms


@pytest.mark.parametrize("text", ["login in:shop", "before:2026-05", 'in:"my shop'])
def test_an_unfinished_filter_is_not_made_a_prefix(text):
    assert ends_with_filter(text)
    assert as_typed(text) == text


def test_a_word_behind_a_filter_is_made_a_prefix():
    assert as_typed("in:shop logi") == "in:shop logi*"
    assert as_typed("in:shop ") == "in:shop "


@given(st.sampled_from(["in", "from", "before", "after"]), any_text(10))
def test_any_value_is_taken_or_told(name, value):
    query = parse(f"{name}:{value}")
    assert query.filters.fault or not query.filters.are_none
