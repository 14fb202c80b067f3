"""Lines of a program, bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.tool_servers.messages import ErrorTail, LineBuffer, LineTooLong


@given(st.lists(st.binary()))
def test_lines_are_the_same_however_they_arrive(pieces: list[bytes]):
    buffer = LineBuffer(10_000)
    lines = [line for piece in pieces for line in buffer.feed(piece)]
    assert lines == b"".join(pieces).split(b"\n")[:-1]


@pytest.mark.parametrize("pieces", [[b"123456"], [b"123", b"456"], [b"\n123", b"4\n12", b"3456"]])
def test_a_line_that_is_too_long_is_refused(pieces: list[bytes]):
    buffer = LineBuffer(5)
    with pytest.raises(LineTooLong):
        [buffer.feed(piece) for piece in pieces]


def test_the_last_lines_with_visible_characters_are_kept_the_very_last_first():
    tail = ErrorTail()
    assert tail.last_words == ""
    tail.feed(b"x" * 1_000_000 + b"\nthe \x1b[1m\xff end\n \n\n")
    assert tail.last_words == f"the ␛[1m\ufffd end. Before that: {'x' * 300}"
    tail.feed(b"one\ntwo\nthree\nfour\n")
    assert tail.last_words == "four. Before that: one / two / three"
    tail.feed(b"y" * 5000)
    assert tail.last_words == "y" * 300
