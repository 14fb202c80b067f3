"""Rows of the session picker: their states, and what is said about one."""

from datetime import UTC, datetime

import pytest

from tests.domain.views.test_sidebar_rows import entry
from tui.domain.moves import Move
from tui.domain.text import UNREADABLE
from tui.domain.views.session_rows import Mark, about, picker_row

NOW = datetime(2026, 1, 14, 8, tzinfo=UTC)
MOVE = Move("s", "sessions", "archive", "2026-01-11T08:00:00.000Z", "age", "b")


def row(move=None, marks=None, own=(), **fields):
    return picker_row(entry("s", **fields), marks or {}, own, move, NOW)


@pytest.mark.parametrize(
    ("status", "own", "label", "state"),
    [
        ("open", ("s",), "Title", "open here"),
        ("open", (), "Title", "open elsewhere"),
        ("closed", (), "Title", "closed"),
        ("closed", (), UNREADABLE, "unreadable"),
        ("archived", (), "Title", "archived"),
        ("trashed", (), "Title", "in the trash"),
    ],
)
def test_each_state_has_its_name(status, own, label, state):
    assert row(own=own, status=status, label=label).state == state


def test_a_session_that_was_moved_says_when_and_why():
    words = about(row(MOVE, status="archived"), NOW)
    assert "archived 3 days ago, not used for long" in words


def test_an_imported_session_says_which_program_it_is_from():
    words = about(row(MOVE, status="archived", imported_from="claude-code:1"), NOW)
    assert words.startswith("shop · from claude-code · archived")


def test_a_kept_session_says_how_it_stands():
    words = about(row(MOVE, {"s": Mark.RUNNING}, ("s",), status="open"), NOW)
    assert "open here, used" in words
    assert "running" in words
