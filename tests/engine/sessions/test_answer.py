"""An answer while it arrives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import any_text
from tui.domain.journal.fold import Fold
from tui.domain.journal.message import ToolCall
from tui.domain.journal.records import SessionHeader
from tui.engine.sessions import answer as answers
from tui.engine.sessions.answer import Answer

HEADER = SessionHeader(1, "s", "2026-01-01T00:00:00.000Z", "project:/a", 1, "/a", "m")


def new_answer(**fields):
    return Answer("m1", "2026-01-01T00:00:00.000Z", "scripted:model", **fields)


def test_the_first_piece_says_whose_answer_it_is_and_no_piece_is_given_twice():
    answer = new_answer(replaces="m0")
    assert answer.next_piece() is None
    answer.receive("one ")
    first = answer.next_piece()
    assert answer.next_piece() is None
    answer.receive("two")
    second = answer.next_piece()
    assert (first.role, first.model, first.replaces) == ("assistant", "scripted:model", "m0")
    assert (first.timestamp, first.at) == ("2026-01-01T00:00:00.000Z", 0)
    assert (second.role, second.timestamp, second.at, second.text) == (None, None, 4, "two")


@given(st.lists(st.tuples(any_text(), st.booleans()), max_size=20))
def test_the_pieces_of_any_answer_fold_into_its_text(parts):
    answer = new_answer()
    fold = Fold(HEADER)
    for text, noted in parts:
        answer.receive(text)
        if noted and (piece := answer.next_piece()):
            fold.add(piece)
    if (piece := answer.next_piece()) is not None:
        fold.add(piece)
    interrupted = fold.session().loaded_messages
    assert "".join(each.text for each in interrupted) == answer.text


@pytest.mark.parametrize("text", ["x" * 25, "会" * 9, "é" * 15])
def test_an_answer_beyond_the_limit_is_cut_to_whole_characters(monkeypatch, text):
    monkeypatch.setattr(answers, "TEXT_BYTES", 20)
    answer = new_answer()
    taken = answer.receive(text)
    assert answer.full
    assert answer.text == taken == text[: len(taken)]
    assert 20 - len(text[0].encode()) < len(taken.encode()) <= 20


def test_arguments_that_no_record_can_hold_are_kept_as_text():
    deep = []
    for _ in range(300):
        deep = [deep]
    answer = new_answer()
    answer.add_call(ToolCall("c", "tool", deep))
    assert answer.message().tool_calls[0].arguments.startswith("[[[[")
