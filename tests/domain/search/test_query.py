"""What a query means, what fits it, and what is shown of a hit."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import answer, user
from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.search.query import (
    SNIPPET_CHARACTERS,
    Candidate,
    SearchResult,
    SessionScan,
    Term,
    needle,
    occurrences,
    parse,
    places,
    rank,
    snippet,
    spaced,
    time_of,
)
from tui.domain.search.tokens import cut
from tui.domain.text import make_visible


@each_row("text, terms", rows(__file__, "terms"))
def test_words_and_phrases_are_terms_and_operators_are_plain_text(text, terms):
    assert parse(text).terms == tuple(Term(tuple(each)) for each in terms)


@each_row(
    "text, term",
    [
        ("foo*", Term(("foo",), prefix=True)),
        ("foo_ba*", Term(("foo", "ba"), prefix=True)),
        ("foo**", Term(("foo",), prefix=True)),
        ("foo-*", Term(("foo",))),
        ("検索*", Term(("検", "索"))),
        ('"foo*"', Term(("foo",))),
    ],
)
def test_a_star_after_a_word_makes_it_a_beginning(text, term):
    assert parse(text).terms == (term,)


@each_row("text", ["", " ", "*", '"', '""', "^ - ->", "\x00", "😀"])
def test_what_has_no_word_has_no_term(text):
    assert parse(text).terms == ()
    assert occurrences(parse(text), "anything") == 0


@each_row("query, text, count", rows(__file__, "fitting"))
def test_a_text_fits_that_has_every_term_as_tokens_that_follow_each_other(query, text, count):
    assert occurrences(parse(query), text) == count


def test_a_snippet_is_one_line_around_the_best_place_or_all_of_a_short_text():
    text = "before " * 50 + "the\n\tneedle" + " after" * 50
    line, marks = snippet(parse("needle"), text)
    assert line.startswith("…before")
    assert line.endswith("after…")
    assert "the needle after" in line
    assert [line[begin:end] for begin, end in marks] == ["needle"]
    assert len(line) <= SNIPPET_CHARACTERS + 2

    assert snippet(parse("b"), "a b c") == ("a b c", ((2, 3),))
    text = "x " * 100_000 + "needle"
    assert snippet(parse("needle"), text)[0].endswith("needle")


def test_a_snippet_shows_terms_together_rather_rare_ones_and_marks_no_place_twice():
    far = "login " * 20 + "word " * 60
    text, marks = snippet(parse("login cache"), f"{far}the login and its cache {'word ' * 60}{far}")
    assert [text[begin:end] for begin, end in marks] == ["login", "cache"]
    text, marks = snippet(parse("login cache"), f"{far}{'word ' * 60}the cache {'word ' * 60}")
    assert "cache" in [text[begin:end] for begin, end in marks]

    line, marks = snippet(parse('"b c" c b*'), "a b c d")
    assert [line[begin:end] for begin, end in marks] == ["b c"]


@given(any_text(60), st.integers(0, 10))
def test_a_snippet_is_safe_to_show_wherever_it_is_cut(text, place):
    words = cut(text)
    query = parse(words[place % len(words)] if words else "x")
    line, marks = snippet(query, text)
    assert make_visible(line) == line
    assert "\n" not in line
    assert all(0 <= begin < end <= len(line) for begin, end in marks)
    assert all(one[1] <= other[0] for one, other in pairwise(marks))


@given(any_text(30), any_text(30))
def test_there_are_places_where_there_are_occurrences(text, query):
    if occurrences(parse(query), text):
        assert places(parse(query), text)


def test_a_message_counts_by_its_last_writing_and_not_if_it_was_replaced():
    scan = SessionScan("s", parse("needle"))
    for message in reversed(
        [
            user("m1", "needle"),
            user("m1", "noodle"),
            answer("m2", "needle", status="failed"),
            answer("m3", "needle", replaces="m2"),
            answer("m2", "needle again"),
        ]
    ):
        scan.add(message)
    assert [each.message.id for each in scan.candidates] == ["m3"]


def candidate(message, count=1):
    return Candidate("s", time_of(message), message, count)


def test_own_words_come_first_then_more_of_them_then_newer_ones():
    found = rank(
        parse("x"),
        [
            candidate(answer("old", "x", 1)),
            candidate(answer("new", "x", 9)),
            candidate(answer("often", "x x x", 2), 3),
            candidate(user("own", "x", 0)),
        ],
        10,
    )
    assert [hit.message_id for hit in found.hits] == ["own", "often", "new", "old"]


def test_only_the_newest_are_ranked_of_names_those_that_can_be_shown_and_the_rest_is_said():
    every = [candidate(user(f"m{number}", "x", number)) for number in range(301)]
    found = rank(parse("x"), every, 2)
    assert [hit.message_id for hit in found.hits] == ["m300", "m299"]
    assert (found.total, found.more) == (300, True)
    assert rank(parse("x"), every[:300], 0) == SearchResult((), 300)

    names = [Candidate(f"s{number}", number, name="x") for number in range(5)]
    found = rank(parse("x"), [*names, candidate(user("m", "x"))], 3)
    assert [hit.session_id for hit in found.hits] == ["s4", "s3", "s"]
    assert (found.total, found.more) == (4, True)
    assert not rank(parse("x"), names, 5).more


def test_a_message_without_a_time_is_the_oldest():
    assert time_of(answer("m", "x")) > 0
    for moment in ("", "nonsense", "0001-01-01T00:00:00Z"):
        message = user("m", "x")
        assert time_of(type(message)("m", "user", "x", moment)) == 0


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (SearchResult(total=1), "1 match"),
        (SearchResult(total=2), "2 matches"),
        (SearchResult(total=300, more=True), "300+ matches"),
    ],
)
def test_how_many_were_found_is_said_in_words(found, words):
    assert found.words == words


@given(
    st.text("abAB1_ .-\n", max_size=40).map(lambda text: text.replace("1", "b" * 63)),
    st.sampled_from(["a", "ab", '"a b"', "b*", '"a b a"', "A.B", "b" * 64, "bb"]),
)
def test_plain_text_is_searched_as_if_it_were_cut(text, words):
    query = parse(words)
    (term,) = query.terms
    is_there = needle(term) in spaced(text)
    assert bool(occurrences(query, text)) == is_there
    spans = places(query, text)
    assert bool(spans) == is_there
    for begin, end in spans:
        assert needle(term).strip() in spaced(text[begin:end])
