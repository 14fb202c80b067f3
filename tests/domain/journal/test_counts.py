"""What requests took, as their records say it."""

import pytest

from tests.builders import answer, user
from tests.domain.journal_lines import LINES
from tui.domain.journal.message import TokenUsage
from tui.domain.journal.records import (
    CountedRequest,
    Summary,
    Titled,
    by_model,
    counted_requests,
    decode,
    encode,
    may_answer,
)


def test_a_later_record_of_an_answer_takes_the_place_of_an_earlier_one():
    records = [answer("a1"), user("u1"), answer("a1", model="m", usage=TokenUsage(3, 2))]
    expected = CountedRequest("a1", "m", records[-1].timestamp, TokenUsage(3, 2))
    assert counted_requests([*records, None]) == (expected,)


def test_a_summary_counts_once_though_it_is_repeated():
    summary = Summary("So far.", "u1", "m", TokenUsage(9, 1))
    (found,) = counted_requests([summary, Summary("So far.", "u1"), summary])
    assert (found.model, found.usage) == ("m", TokenUsage(9, 1))


def test_no_line_that_answers_a_request_is_passed_over():
    lines = [*LINES, encode(Summary("x", "u1", usage=TokenUsage(1, 1)))]
    answering = [line for line in lines if counted_requests([decode(line.strip())])]
    assert len(answering) > 3
    assert all(map(may_answer, answering))


def test_the_guide_is_sent_no_request():
    assert counted_requests([answer("a1", model="offline:guide")]) == ()


def test_requests_are_grouped_by_their_models():
    records = [answer(f"a{number}", model="mn"[number % 2]) for number in range(5)]
    groups = by_model(counted_requests(records))
    assert {model: [each.id for each in group] for model, group in groups.items()} == {
        "m": ["a0", "a2", "a4"],
        "n": ["a1", "a3"],
    }


def test_a_title_that_a_model_made_is_a_request():
    made = Titled("Two", "2026-01-11T14:30:00.000Z", "m", TokenUsage(9, 1))
    assert [each.usage for each in counted_requests([answer("a1", model="m"), made])][1:] == [
        TokenUsage(9, 1)
    ]


@pytest.mark.parametrize("record", [user("u1"), Summary("x", "u1"), None])
def test_other_records_answer_nothing(record):
    assert counted_requests([record]) == ()
