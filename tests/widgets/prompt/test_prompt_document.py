"""The document under the caret: any edit of any text, undone and redone, is as in a string."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets.text_area import Document

from tests.strategies import any_text
from tui.domain.references import without_marks
from tui.domain.text import make_visible
from tui.widgets.prompt import prompt_document as document
from tui.widgets.prompt.prompt_document import PromptDocument, PromptRow

# Rows of a few characters are cut as those of thousands are.
SHORT_ROWS = 8
# The mark of the program itself is no text of a user.
TEXTS = any_text().map(without_marks)


@pytest.fixture(autouse=True, scope="module")
def _short_rows():
    before, document.ROW_CHARACTERS = document.ROW_CHARACTERS, SHORT_ROWS
    yield
    document.ROW_CHARACTERS = before


@st.composite
def places(draw, text):
    """A place in a document: a row and a column of it."""
    row = draw(st.integers(0, text.line_count - 1))
    return row, draw(st.integers(0, len(text[row])))


def offset(text: PromptDocument, place) -> int:
    return len(text.get_text_range((0, 0), place))


@given(TEXTS)
def test_the_text_is_what_it_was_made_of(text):
    made = PromptDocument(text)
    assert made.text == text
    assert made.get_text_range((0, 0), made.end) == text
    assert max(map(len, made.lines)) <= SHORT_ROWS


@given(TEXTS, TEXTS, st.data())
def test_an_edit_changes_the_text_as_it_would_a_string(text, insert, data):
    edited = PromptDocument(text)
    start, end = sorted([data.draw(places(edited)), data.draw(places(edited))])
    before, after = text[: offset(edited, start)], text[offset(edited, end) :]
    result = edited.replace_range(start, end, insert)
    assert edited.text == before + insert + after
    assert offset(edited, result.end_location) == len(before + insert)
    assert result.replaced_text == text[len(before) : len(text) - len(after)]


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=5), st.data())
def test_edits_undone_leave_the_very_rows_that_were_there(text, inserts, data):
    edited = PromptDocument(text)
    history = []
    for insert in inserts:
        start, end = sorted([data.draw(places(edited)), data.draw(places(edited))])
        rows = list(edited.lines)
        result = edited.replace_range(start, end, insert)
        history.append((start, result, rows))
    for start, result, rows in reversed(history):
        edited.replace_range(start, result.end_location, result.replaced_text)
        assert edited.lines == rows
    assert edited.text == text


def test_a_long_line_is_cut_between_words_where_that_costs_little():
    assert PromptDocument("one two three").lines == ["one two ", "three"]
    assert PromptDocument("a bcdefghijk").lines == ["a bcdefg", "hijk"]


def test_deleting_a_last_line_that_is_not_there_deletes_the_line():
    edited = PromptDocument("one\ntwo")
    edited.replace_range((1, 0), (2, 0), "")
    assert edited.text == "one\n"


def test_every_character_is_shown_as_one_and_none_that_a_terminal_obeys():
    for code in range(sys.maxunicode + 1):
        shown = PromptRow(chr(code)).shown
        assert len(shown) == 1
        assert make_visible(shown) == shown


def test_a_mark_says_what_was_there_if_one_cell_can():
    assert PromptRow("\x1b[2J\x7f\x85\u202e\u2028\t会").shown == "␛[2J␡\ufffd\ufffd\u2424\t会"


def test_text_of_this_library_would_have_been_changed():
    # If it no longer is, there is less to do here.
    assert Document("a\u2028b\x85c").text != "a\u2028b\x85c"
