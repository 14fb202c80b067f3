"""The parser of server-sent events, without a server."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.providers.reception import NO_JSON, EndlessLine, EventParser

STREAM = (
    '\ufeff: hello\r\n\r\nevent: a\r\ndata: {"é": 1}\r\n\r\ndata: [1,\rdata: 2]\r\rdata:\n\n'
    "id: 3\ndata:no json\n\nevent: b\ndata: 3\ndata: 4\n\ndata: [Done]"
).encode()
EVENTS = [
    ("a", {"é": 1}),
    ("", [1, 2]),
    ("", "no json"),
    ("b", 3),
    ("", 4),
    ("", "[Done]"),
]


def parsed(pieces: Iterable[bytes]) -> list[tuple[str, object]]:
    parser = EventParser()
    events = [event for piece in pieces for event in parser.feed(piece)] + [*parser.rest()]
    return [(each.name, each.text if each.value is NO_JSON else each.value) for each in events]


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_events_are_the_same_however_the_stream_is_cut(cuts: list[int]):
    places = sorted({0, len(STREAM), *cuts})
    assert parsed(STREAM[start:end] for start, end in pairwise(places)) == EVENTS


def test_an_event_comes_with_the_end_of_its_line():
    parser = EventParser()
    assert [*parser.feed(b"data: 1")] == []
    assert [event.value for event in parser.feed(b"\r")] == [1]
    assert [*parser.feed(b"\n")] == []


@given(st.binary())
def test_any_bytes_are_some_events_or_none(data: bytes):
    assert isinstance(parsed([data]), list)


@pytest.mark.parametrize(
    "data", [b"x" * 101, b"data: " + b"x" * 101, b"data: x%s\n" % (b"x" * 60) * 2]
)
def test_a_line_or_an_event_without_end_is_not_collected_for_ever(
    monkeypatch: pytest.MonkeyPatch, data: bytes
):
    monkeypatch.setattr("tui.providers.reception.LONGEST_LINE", 100)
    with pytest.raises(EndlessLine):
        [*EventParser().feed(data)]


@pytest.mark.parametrize("text", ["NaN", "[-Infinity, 1]", '{"a": NaN}'])
def test_numbers_that_are_none_are_null(text: str):
    (event,) = EventParser().feed(f"data: {text}\n".encode())
    assert event.value in (None, [None, 1], {"a": None})
