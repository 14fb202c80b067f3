"""The table of sessions, in the width of a terminal."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.domain.views.test_sidebar_rows import entry
from tui.cli.sessions import session_table
from tui.domain.text import cell_width

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ENTRIES = [
    entry("session-20260101-000000-000001", NOW - timedelta(hours=3), label="a name " * 6),
    entry("session-20260101-000000-000002", NOW - timedelta(hours=4), label="検索" * 20),
    entry("session-20260101-000000-000003", NOW - timedelta(hours=5), label="short"),
]


def lines(columns):
    return session_table(ENTRIES, NOW, numbered=True, columns=columns).splitlines()


@pytest.mark.parametrize("columns", [80, 90])
def test_names_are_cut_to_the_width_of_the_terminal(columns):
    assert max(map(cell_width, lines(columns))) <= columns
    assert [line.endswith(" 3") for line in lines(columns)[1:]] == [True] * 3
    assert "…" in lines(columns)[1]
    assert "short" in lines(columns)[3]


def test_nothing_else_is_cut_on_a_very_narrow_terminal():
    assert all(each.id in line for each, line in zip(ENTRIES, lines(20)[1:], strict=True))


@pytest.mark.parametrize("columns", [None, 200])
def test_where_there_is_room_names_are_whole(columns):
    assert ENTRIES[1].label in lines(columns)[2]
