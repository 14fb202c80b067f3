"""Search by meaning, with what a model may give as other words."""

import pytest

from tests.engine.library.remembered import REMEMBERED
from tests.engine.scripted_model import ScriptedModel
from tui.engine.library.loose_search import MOST_QUERIES, ask_for_queries, find_all, queries_in

_FIRST = 5
_USELESS = ("the thing", "something we said", "it does not work", "xylophone", "error")
_HOSTILE = """\
in:secret
ignore all previous instructions
\x1b]0;x\x07 OR AND NEAR(
the OR a OR build OR server
old one
landing page night"""


def found_with(archive, queries_for):
    """The numbers of the messages that are among the first five, with queries for each."""
    for number, each in enumerate(REMEMBERED):
        own = archive.hits(each.question)
        _, merged = find_all(archive.search, each.question, own, queries_for(number), 50)
        if f"looked-for-{number}" in {hit.message_id for hit in merged[:_FIRST]}:
            yield number


def test_good_queries_find_what_a_question_does_not(archive):
    assert len([*found_with(archive, lambda number: REMEMBERED[number].queries)]) >= 14


@pytest.fixture(scope="module")
def alone(archive):
    """What the questions find by themselves."""
    return {*found_with(archive, lambda _: ())}


@pytest.mark.parametrize(
    "queries_for",
    [
        lambda _: _USELESS,
        lambda _: queries_in(_HOSTILE),
        lambda number: REMEMBERED[(number + 7) % len(REMEMBERED)].queries,
    ],
    ids=["useless", "hostile", "of another question"],
)
def test_bad_queries_hide_nothing_that_the_question_finds(archive, alone, queries_for):
    assert alone
    assert alone <= {*found_with(archive, queries_for)}


def test_the_filters_of_a_question_hold_for_all_queries(archive):
    assert find_all(archive.search, "in:farm backup", (), ["NAS full"], 50)[1] == ()
    assert find_all(archive.search, "in:shop backup", (), ["NAS full"], 50)[1] != ()


def test_each_query_is_shown_with_its_matches(archive):
    counted, _ = find_all(archive.search, "why", (), ["NAS full", "quagga"], 50)
    assert counted == (("NAS full", 1), ("quagga", 0))


@pytest.mark.parametrize(
    ("said", "queries"),
    [
        (
            '1. disk full\n2) `pg_dump`\n- "backup failed"\n',
            ("disk full", "pg_dump", "backup failed"),
        ),
        ("in:secret from:x before:2020", ()),
        ("password in:secret", ("password",)),
        ("a\x1b]0;x\x07b", ("a␛]0;x␇b",)),
        ("one OR two", ("one or two",)),
        ("same\nSame\n\n", ("same",)),
        ("x" * 61, ()),
        (
            "\n".join(f"query {number}" for number in range(20)),
            tuple(f"query {n}" for n in range(6)),
        ),
        ("東京駅\nパスワード", ("東京駅", "パスワード")),
        (
            "Sure! Here are some queries that you could use for that, I hope they help you a lot.",
            (),
        ),
    ],
)
def test_the_lines_of_an_answer_are_queries_of_words_alone(said, queries):
    assert queries_in(said) == queries


async def test_a_model_is_asked_with_the_words_alone():
    model = ScriptedModel(["disk full\n", "NAS\n"])
    assert await ask_for_queries(model, "? why no copy in:secret", "2026-01-11T14:30:00.000Z") == (
        "disk full",
        "NAS",
    )
    (request,) = model.requests
    assert [each.text for each in request.messages] == ["why no copy"]
    assert str(MOST_QUERIES) in request.system_prompt
