from datetime import UTC, datetime

import pytest

from tui.domain.views.shown_session import SaveState

AFTERNOON = datetime(2026, 1, 20, 14, 2, 59, tzinfo=UTC)


@pytest.mark.parametrize(("rule", "words"), [("UTC0", "saved 14:02"), ("JST-9", "saved 23:02")])
def test_the_time_of_a_save_is_the_local_one(rule, words, zone):
    zone(rule)
    assert str(SaveState(AFTERNOON)) == words


def test_nothing_is_said_of_a_session_in_which_nothing_was_said():
    assert str(SaveState()) == ""


def test_a_save_under_way_counts_more_than_the_last_one():
    assert str(SaveState(AFTERNOON, saving=True)) == "saving"


def test_a_failure_counts_most_and_says_why():
    failed = SaveState(AFTERNOON, saving=True, failure="disk full")
    assert str(failed) == "NOT SAVED: disk full"
