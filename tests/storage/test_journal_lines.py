"""The lines of an open file, from both ends."""

import tempfile
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.stories import blocks_of
from tui.files import UnfitFile
from tui.storage import journal_lines
from tui.storage.journal_lines import line_at, lines_backward, lines_forward, reader_of, whole_end

some_lines = st.lists(st.binary(max_size=12), max_size=12).map(b"\n".join)


@contextmanager
def holding(data):
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield reader_of(file.fileno())


def placed(data):
    """The lines of some bytes, each with its place, as a careful reader would split them."""
    found, place = [], 0
    for line in data.split(b"\n"):
        found.append((place, line))
        place += len(line) + 1
    return found if found[-1][1] else found[:-1]


@given(data=some_lines, block=st.integers(1, 20))
def test_lines_are_the_same_from_both_ends(data, block):
    with blocks_of(block), holding(data) as read:
        assert list(lines_forward(read, 0, len(data))) == placed(data)
        assert list(lines_backward(read, len(data))) == placed(data)[::-1]


@given(data=some_lines, start=st.integers(0, 60), block=st.integers(1, 20))
def test_lines_can_be_read_from_any_place_in_any_blocks(data, start, block):
    start = min(start, len(data))
    with blocks_of(block), holding(data) as read:
        after = [(start + place, line) for place, line in placed(data[start:])]
        assert list(lines_forward(read, start, len(data))) == after
        assert list(lines_backward(read, start)) == placed(data[:start])[::-1]


@given(data=some_lines, block=st.integers(1, 20))
def test_the_whole_lines_end_after_the_last_newline(data, block):
    with blocks_of(block), holding(data) as read:
        assert whole_end(read, len(data)) == data.rfind(b"\n") + 1


@given(data=some_lines, place=st.integers(-3, 70), block=st.integers(1, 20))
def test_a_line_is_found_only_where_one_begins(data, place, block):
    with blocks_of(block), holding(data) as read:
        assert line_at(read, place, len(data)) == dict(placed(data)).get(place)


@pytest.mark.parametrize("block", [7, 64, 1000])
@pytest.mark.parametrize("last", [b"\n", b""])
def test_a_line_that_is_too_long_is_given_as_what_is_no_record(monkeypatch, block, last):
    monkeypatch.setattr(journal_lines, "LINE_BYTES", 100)
    data = b"first\n" + b"x" * 5000 + last
    if last:
        data += b"second\nthird\n"
    with blocks_of(block), holding(data) as read:
        forward = list(lines_forward(read, 0, len(data)))
        backward = list(lines_backward(read, len(data)))[::-1]
    for found in (forward, backward):
        assert [line for _, line in found if not line.strip(b"x\0")] == [found[1][1]]
        assert found[0] == (0, b"first")
        assert found[2:] == [(5007, b"second"), (5014, b"third")][: len(found[2:])]
        assert len(found) == (4 if last else 2)
        assert b"\0" in found[1][1] or block == 1000 or len(found[1][1]) == 5000


def test_a_line_that_is_too_long_is_not_kept_in_memory(monkeypatch):
    monkeypatch.setattr(journal_lines, "LINE_BYTES", 100)
    with blocks_of(64), holding(b"a\n" + b"x" * 1_000_000 + b"\nb") as read:
        size = 1_000_004
        longest = max(len(line) for _, line in lines_backward(read, size))
        assert longest < 1000
        longest = max(len(line) for _, line in lines_forward(read, 0, size))
        assert longest < 1_000_000


@pytest.mark.parametrize(
    "lines_of", [lambda read: lines_forward(read, 0, 20), lambda read: lines_backward(read, 20)]
)
def test_more_lines_than_anybody_waits_for_are_refused(monkeypatch, lines_of):
    monkeypatch.setattr(journal_lines, "LINES", 20)
    with holding(b"\n" * 21) as read:
        assert len(list(lines_of(read))) == 20
        monkeypatch.setattr(journal_lines, "LINES", 18)
        with pytest.raises(UnfitFile, match="more than 18 lines"):
            list(lines_of(read))


def test_a_file_that_becomes_shorter_while_it_is_read_ends_early():
    with holding(b"one\ntwo\n") as read:
        assert list(lines_forward(read, 0, 1000)) == [(0, b"one"), (4, b"two")]
