"""The lines of an open file, from both ends."""

import os
import tempfile
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.stories import blocks_of
from tui.files import UnfitFile
from tui.storage import lines
from tui.storage.lines import line_at, lines_backward, lines_forward, whole_end

some_lines = st.lists(st.binary(max_size=12), max_size=12).map(b"\n".join)


@contextmanager
def holding(data):
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield file.fileno()


def placed(data):
    """The lines of some bytes, each with its place, as a careful reader would split them."""
    found, place = [], 0
    for line in data.split(b"\n"):
        found.append((place, line))
        place += len(line) + 1
    return found if found[-1][1] else found[:-1]


@given(data=some_lines, block=st.integers(1, 20))
def test_lines_are_the_same_from_both_ends(data, block):
    with blocks_of(block), holding(data) as descriptor:
        assert list(lines_forward(descriptor, 0, len(data))) == placed(data)
        assert list(lines_backward(descriptor, len(data))) == placed(data)[::-1]


@given(data=some_lines, start=st.integers(0, 60), block=st.integers(1, 20))
def test_lines_can_be_read_from_any_place_in_any_blocks(data, start, block):
    start = min(start, len(data))
    with blocks_of(block), holding(data) as descriptor:
        after = [(start + place, line) for place, line in placed(data[start:])]
        assert list(lines_forward(descriptor, start, len(data))) == after
        assert list(lines_backward(descriptor, start)) == placed(data[:start])[::-1]


@given(data=some_lines, block=st.integers(1, 20))
def test_the_whole_lines_end_after_the_last_newline(data, block):
    with blocks_of(block), holding(data) as descriptor:
        assert whole_end(descriptor, len(data)) == data.rfind(b"\n") + 1


@given(data=some_lines, place=st.integers(-3, 70), block=st.integers(1, 20))
def test_a_line_is_found_only_where_one_begins(data, place, block):
    with blocks_of(block), holding(data) as descriptor:
        assert line_at(descriptor, place, len(data)) == dict(placed(data)).get(place)


@pytest.mark.parametrize("block", [7, 64, 1000])
@pytest.mark.parametrize("last", [b"\n", b""])
def test_a_line_that_is_too_long_is_given_as_what_is_no_record(monkeypatch, block, last):
    monkeypatch.setattr(lines, "LINE_BYTES", 100)
    data = b"first\n" + b"x" * 5000 + last
    if last:
        data += b"second\nthird\n"
    with blocks_of(block), holding(data) as descriptor:
        forward = list(lines_forward(descriptor, 0, len(data)))
        backward = list(lines_backward(descriptor, len(data)))[::-1]
    for found in (forward, backward):
        assert [line for _, line in found if not line.strip(b"x\0")] == [found[1][1]]
        assert found[0] == (0, b"first")
        assert found[2:] == [(5007, b"second"), (5014, b"third")][: len(found[2:])]
        assert len(found) == (4 if last else 2)
        assert b"\0" in found[1][1] or block == 1000 or len(found[1][1]) == 5000


def test_a_line_that_is_too_long_is_not_kept_in_memory(monkeypatch):
    monkeypatch.setattr(lines, "LINE_BYTES", 100)
    with blocks_of(64), holding(b"a\n" + b"x" * 1_000_000 + b"\nb") as descriptor:
        size = os.fstat(descriptor).st_size
        longest = max(len(line) for _, line in lines_backward(descriptor, size))
        assert longest < 1000
        longest = max(len(line) for _, line in lines_forward(descriptor, 0, size))
        assert longest < 1_000_000


@pytest.mark.parametrize(
    "read", [lambda fd: lines_forward(fd, 0, 20), lambda fd: lines_backward(fd, 20)]
)
def test_more_lines_than_anybody_waits_for_are_refused(monkeypatch, read):
    monkeypatch.setattr(lines, "LINES", 20)
    with holding(b"\n" * 21) as descriptor:
        assert len(list(read(descriptor))) == 20
        monkeypatch.setattr(lines, "LINES", 18)
        with pytest.raises(UnfitFile, match="more than 18 lines"):
            list(read(descriptor))


def test_a_file_that_becomes_shorter_while_it_is_read_ends_early():
    with holding(b"one\ntwo\n") as descriptor:
        assert list(lines_forward(descriptor, 0, 1000)) == [(0, b"one"), (4, b"two")]
