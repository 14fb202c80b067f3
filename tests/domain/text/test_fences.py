"""Fenced blocks that hold whatever is in them."""

import pytest

from tui.domain.text import closed, code_span, codes, fenced


@pytest.mark.parametrize(
    "text", ["plain", "a\n```python\nb\n```\nc", "````\n```\n````", "~~~\n~~~"]
)
def test_a_text_whose_blocks_end_stays_as_it_is(text):
    assert closed(text) == text


@pytest.mark.parametrize(
    ("text", "end"), [("a\n```python\nb", "```"), ("````\n```", "````"), ("~~~\n```\nx", "~~~")]
)
def test_a_block_that_was_cut_off_is_closed_by_its_own_mark(text, end):
    assert closed(text) == f"{text}\n{end}"


@pytest.mark.parametrize("text", ["", "x", "```\ninner\n```", "`````", "a ```` b", "~~~\n"])
def test_a_fence_holds_any_text(text):
    assert codes(f"before\n{fenced(text)}\nafter") == [text]


def test_a_span_of_code_holds_its_own_marks():
    assert code_span("a") == "`a`"
    assert code_span("a ``b`` c") == "```a ``b`` c```"
    assert code_span("`a`") == "`` `a` ``"
