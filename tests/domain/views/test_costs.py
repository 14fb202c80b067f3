import gc
from datetime import date

import pytest

from tests.attached import NOTES, picture, showing
from tests.builders import answer, user
from tests.tables import each_row
from tui.domain.journal.message import Message, TokenUsage
from tui.domain.journal.records import counted_requests
from tui.domain.views.costs import (
    AnswerCost,
    ContextUse,
    ModelUsage,
    SessionUsage,
    context_tokens,
    details,
    money,
    seconds_words,
    token_words,
    total,
    usage_of,
)


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (TokenUsage(9104, 312), "9,104 tokens sent, 312 received"),
        (TokenUsage(9104, 312, 8192, 500), "9,104 tokens sent (8,192 cached), 312 received"),
        (TokenUsage(1, 2), "1 token sent, 2 received"),
    ],
)
def test_tokens_are_told_with_those_that_were_cached(usage, words):
    assert token_words(usage) == words


@each_row(
    "seconds, words", [(0.83, "0.8 s"), (59.7, "1 min 0 s"), (75, "1 min 15 s"), (12.4, "12 s")]
)
def test_time_is_told_in_minutes_and_seconds(seconds, words):
    assert seconds_words(seconds) == words


@each_row(
    "dollars, words",
    [
        (0, "$0.0000"),
        (0.00001, "$0.0001"),
        (0.0212, "$0.0212"),
        (1.234, "$1.24"),
        (1234, "$1,234.00"),
    ],
)
def test_money_is_never_less_than_what_is_asked(dollars, words):
    assert money(dollars) == words


def said(number, **fields):
    return answer(f"a{number}", model="openai:x", usage=TokenUsage(10 * number, number), **fields)


def test_the_context_is_as_full_as_after_the_last_answer():
    assert context_tokens([user("u"), said(1), user("v"), said(2)], "", "openai:x") == 22
    assert context_tokens([user("u"), said(1), user("v")], "", "openai:x") == 11
    assert ContextUse(9_000, 128_000).percent == 7
    failed = answer("b", status="failed", model="openai:x")
    assert context_tokens([said(1), user("u"), failed], "", "openai:x") == 11


@each_row(
    "messages, through",
    [
        ([], ""),
        ([user("u")], ""),
        ([said(1), user("u"), answer("a", model="openai:x")], ""),
        ([said(1), user("u")], "a1"),
        ([said(1), answer("b", model="openai:y", usage=TokenUsage(7, 1))], ""),
    ],
)
def test_where_the_last_answer_says_nothing_the_context_is_not_known(messages, through):
    assert context_tokens(messages, through, "openai:x") is None


def test_tokens_of_a_model_add_up_and_those_not_counted_are_told():
    requests = counted_requests([said(1), said(2), answer("b", model="openai:x")])
    added = ModelUsage("openai:x", 3, 1, TokenUsage(30, 3))
    assert usage_of("openai:x", requests) == added
    assert total([]) == TokenUsage(0, 0)


def test_many_tokens_are_added_without_a_garbage_collection():
    usages = [TokenUsage(number, 1) for number in range(50_000)]
    gc.collect()
    before = [each["collections"] for each in gc.get_stats()]
    assert total(usages).output_tokens == 50_000
    assert [each["collections"] for each in gc.get_stats()][1:] == before[1:]


def test_the_price_of_a_session_is_that_of_its_priced_models():
    models = (
        ModelUsage("a:x", 1, 0, TokenUsage(1, 1), 0.5),
        ModelUsage("b:y", 1, 0, TokenUsage(1, 1)),
        ModelUsage("c:z", 1, 1, TokenUsage(0, 0)),
    )
    known = SessionUsage(models, date(2026, 11, 9))
    assert (known.dollars, known.unpriced) == (0.5, ("b:y",))
    assert SessionUsage(models[1:]).dollars is None


def test_details_say_when_by_whom_how_long_and_which_with_time_and_price_if_known():
    message = Message("m-1", "assistant", "Well.", "2026-01-11T14:30:23.456Z", model="openai:x")
    said = details(message).split(" · ")
    assert said[0].startswith("2026-01-1")
    assert len(said[0].split()) == 3
    assert said[1:] == ["openai:x", "complete", "5 characters", "m-1"]
    said = details(Message("a\x1bb", "user", "x", "yesterday"))
    assert said == "time unknown · 1 character · a\u241bb"
    content = showing("See", NOTES, picture(size=120_000))
    said = details(Message("m", "user", content, "yesterday")).split(" · ")
    assert said[1:-1] == [
        "3 characters",
        "file: notes.txt, 9 bytes",
        f"image: photo.png, 120 KB, {picture().sha256[:12]}",
    ]

    message = Message("m", "assistant", "Well.", "yesterday", usage=TokenUsage(9104, 312))
    assert details(message).split(" · ")[3:-1] == ["9,104 tokens sent, 312 received"]
    assert details(message, AnswerCost(12.4, 0.02119)).split(" · ")[3:-1] == [
        "took 12 s",
        "9,104 tokens sent, 312 received",
        "$0.0212",
    ]


def test_a_name_without_end_is_cut_in_details_and_nothing_in_it_is_raw():
    content = showing("", picture("\x1b[31m" + "x" * 4000 + "\n.png"))
    said = details(Message("m", "user", content, "yesterday")).split(" · ")[2]
    assert said.startswith("image: \u241b[31mxx")
    assert "…" in said
    assert "\u240a.png, 70 bytes, " in said
    assert len(said) < 150
