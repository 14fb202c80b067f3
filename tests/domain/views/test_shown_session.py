"""What the screen shows of one session."""

from datetime import UTC, datetime

import msgspec
import pytest

from tests.samples import rows
from tests.tables import each_row
from tui.domain.views.shown_session import (
    ActivityView,
    PromptQueue,
    SaveState,
    SessionView,
    seconds_words,
)


def view(*entries):
    return SessionView(
        session_id="tale",
        entries=entries,
        earlier=False,
        arriving=None,
        draft="",
        queue=PromptQueue(),
        prompt_count=0,
        read_only="",
    )


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("", ""),
        (
            "Read-only: open in another window (pid 7 on box)",
            "read-only: open in another window",
        ),
    ],
)
def test_why_it_is_read_only_is_said_without_the_process(sentence, said):
    assert msgspec.structs.replace(view(), read_only=sentence).read_only_in_short == said


AFTERNOON = datetime(2026, 1, 20, 14, 2, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rule", "state", "words"),
    [
        ("UTC0", SaveState(AFTERNOON), "saved 14:02"),
        ("JST-9", SaveState(AFTERNOON), "saved 23:02"),
        ("UTC0", SaveState(), ""),
        ("UTC0", SaveState(AFTERNOON, saving=True), "saving"),
        ("UTC0", SaveState(AFTERNOON, saving=True, failure="full"), "NOT SAVED: full"),
    ],
)
def test_a_failure_counts_most_then_a_save_under_way_then_the_local_time_of_the_last(
    rule, state, words, zone
):
    zone(rule)
    assert str(state) == words


@each_row("view, words", rows(__file__, "activities"))
def test_it_says_what_is_waited_for_and_for_how_long(view, words):
    assert ActivityView(**view).lines()[0] == words


def test_the_key_that_stops_is_named_after_all_else():
    lines = ActivityView("answering", "claude-sonnet-4-5", 4, 12).lines("Esc")
    assert lines == [
        "claude-sonnet-4-5 answers 4 s · ~12 tokens · Esc stops",
        "answering 4 s · ~12 tokens · Esc stops",
        "answering 4 s · Esc stops",
        "answering 4 s",
    ]

    lines = ActivityView("retrying", "fake", 1, attempt=2, reason="status 500", pause=3).lines(
        "Esc"
    )
    assert lines[1:3] == [
        "2nd attempt in 3 s after status 500 · Esc stops",
        "2nd attempt in 3 s · Esc stops",
    ]


def test_foreign_names_are_made_visible_and_only_a_question_does_not_move():
    view = ActivityView("tool", "x\x1b]0;t\x07", 1)
    assert view.lines()[0] == "x␛]0;t␇ 1 s"
    assert view.moves
    assert not ActivityView("approval", "write_todos").moves


def test_times_are_empty_below_a_second_and_ordinals_have_their_endings():
    assert [seconds_words(each) for each in (0, 0.9, 1, 59, 61)] == ["", "", "1 s", "59 s", "1:01"]
    attempts = (
        ActivityView("retrying", "m", attempt=each).lines()[-1] for each in (1, 2, 3, 4, 11)
    )
    assert [each.split()[0] for each in attempts] == ["1st", "2nd", "3rd", "4th", "11th"]
