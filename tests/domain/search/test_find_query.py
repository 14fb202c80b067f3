"""What fits a text that is looked for in one conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import answer, user
from tui.domain.journal.message import ToolCall
from tui.domain.search.find import Piece, count, count_in, needle, places


def counted(wanted, text):
    return count(needle(wanted), text)


def marked(wanted, *rows, full=False):
    """The text of each place, its rows joined by a bar."""
    given_rows = [(row, full) for row in rows]
    return [
        "|".join(rows[piece.row][piece.begin : piece.end] for piece in place)
        for place in places(needle(wanted), given_rows)
    ]


@pytest.mark.parametrize(
    ("wanted", "text", "times"),
    [
        ("log", "Login, logout, BLOG", 3),
        ("CAFE", "Café, cafe\u0301", 2),
        ("検", "検索と検査", 2),
        ("ガ", "\uff76\uff9e と が と カ", 1),
        ("strasse", "Straße", 1),
        ("aa", "aaaa", 2),
        ("two words", "two\n  words, two\twords", 2),
        ("two words", "two\n\nwords", 0),
        ("a->b", "if a->b", 1),
        ("AND -x", "this and -x", 1),
        ('"a b"', "a b", 0),
        ("bold text", "some **bold** `text`", 1),
        ("**bold", "some **bold** text", 1),
        ("foo*", "foo* and foobar", 1),
        (".", "a.b", 1),
    ],
)
def test_a_text_is_found_anywhere_as_it_was_typed(wanted, text, times):
    assert counted(wanted, text) == times


@pytest.mark.parametrize("text", ["", "  ", "\n", "\u0301", "\u200d"])
def test_nothing_is_looked_for_without_a_character(text):
    assert needle(text) is None


def test_what_is_folded_on_screen_is_found_too():
    call = ToolCall("c", "read_file", {"path": "auth.py", "deep": ["日本"]})
    message = answer("m", "see auth.py", tool_calls=(call,))
    assert count_in(needle("auth.py"), message) == 2
    assert count_in(needle("日本"), message) == 1
    assert count_in(needle("read_file"), message) == 1
    assert count_in(needle("auth.py read"), message) == 0
    assert count_in(needle("x"), user("m", "")) == 0


def test_places_are_the_characters_as_they_stand_there():
    assert marked("cafe", "Un CAFÉ, cafe\u0301!") == ["CAFÉ", "cafe\u0301"]
    assert places(needle("b"), [("abc", False)]) == [(Piece(0, 1, 2),)]
    assert marked("ss", "Straße") == ["ß"]


def test_a_place_goes_on_where_a_row_was_wrapped():
    assert marked("two words", "here two ", "  words there") == ["two|words"]
    assert marked("検索", "日本の検", "索です", full=True) == ["検|索"]
    assert marked("検 索", "日本の検", "索です", full=True) == ["検|索"]
    assert marked("検索", "日本の検", "索です") == []
    assert marked("two words", "two", "", "words") == []


WORDS = st.text("abA éÉ検が ガßſﬁ*`_\u0301\u3099-.", max_size=12)


@given(text=WORDS, wanted=WORDS)
def test_as_much_is_marked_in_a_row_as_is_counted(text, wanted):
    looked_for = needle(wanted)
    if looked_for is not None:
        assert len(places(looked_for, [(text, False)])) == count(looked_for, text)


@given(text=st.text(max_size=30), part=st.tuples(st.integers(0, 30), st.integers(1, 5)))
def test_as_much_is_marked_of_any_text_as_is_counted(text, part):
    looked_for = needle(text[part[0] : part[0] + part[1]])
    if looked_for is not None and not any(c.isspace() for c in text):
        assert len(places(looked_for, [(text, False)])) == count(looked_for, text)
