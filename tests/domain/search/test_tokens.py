"""Cutting text into tokens, and questions into keywords."""

from hypothesis import given
from hypothesis import strategies as st

from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.search.tokens import (
    TOKEN_CHARACTERS,
    cut,
    cut_with_spans,
    search_words,
    stands_alone,
)


@each_row("text, tokens", rows(__file__, "tokens"))
def test_letters_and_digits_are_folded_and_everything_else_separates(text, tokens):
    assert cut(text) == tokens


def test_long_runs_are_cut_into_pieces_and_scripts_without_spaces_into_characters():
    run = "x" * (2 * TOKEN_CHARACTERS + 3)
    assert cut(run) == ["x" * TOKEN_CHARACTERS] * 2 + ["xxx"]
    assert cut("é" + run) == ["e" + "x" * (TOKEN_CHARACTERS - 1), "x" * TOKEN_CHARACTERS, "xxxx"]
    assert all(map(stands_alone, cut("全か力한ไ")))
    assert not any(map(stands_alone, cut("word слово 12 हिन्दी")))


@given(any_text(40) | st.text(max_size=40))
def test_the_places_are_those_of_the_same_tokens(text):
    found = list(cut_with_spans(text))
    assert [token for token, _ in found] == cut(text)
    for token, (begin, end) in found:
        assert token in cut(text[begin:end])


@given(any_text(20) | st.text(max_size=20), any_text(20) | st.text(max_size=20))
def test_what_stands_between_symbols_is_cut_by_itself(one, other):
    assert cut(f"{one}\n->{other}") == cut(one) + cut(other)


@given(st.text(max_size=40))
def test_a_token_holds_nothing_that_separates(text):
    for token in cut(text):
        assert token
        assert not any(character in token for character in ' _-"*\n')


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_the_short_way_for_plain_text_cuts_as_the_long_one(text):
    assert cut(text) == [token for token, _ in cut_with_spans(text)]


@given(st.text(max_size=30))
def test_case_is_ignored(text):
    assert cut(text.casefold()) == cut(text.casefold().casefold())
    assert cut(text.upper()) == cut(text.upper().casefold())


@each_row(
    "question, words",
    [
        ("What did we say about the login bug?", ("login*", '"bug"')),
        ("And in the SESSIONS of auth.py, what about caches?", ('"auth.py"', "cache*")),
        ("ログインのバグについて何と言いましたか？", ('"ログイン"', '"バグ"')),
        ("検索が遅い件はどうなった", ('"検索"', '"遅"')),
        ("我们说过什么关于登录错误的", ('"登录错误"',)),
        ("로그인 버그에 대해", ('"로그"', '"버그"')),
        ("What was it?", ()),
        ("", ()),
        ("foo_bar", ('"foo_bar"',)),
    ],
)
def test_only_what_means_something_is_searched_for(question, words):
    assert search_words(question) == words


def test_a_long_question_is_searched_for_by_its_first_words():
    assert len(search_words(" ".join(f"zebra{n}" for n in range(50)))) == 8
