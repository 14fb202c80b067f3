"""Events of a stream, and thinking within a text, without a server."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.providers.protocol import TextReceived, TextTakenBack, ThinkingReceived
from tui.providers.reception import NO_JSON, EndlessLine, EventParser, ThinkingFilter

# Few letters, so that tags and beginnings of tags are common.
TEXTS = st.text(st.sampled_from(list("<think>/ a\n")), max_size=30)
CUTS = st.lists(st.integers(0, 60), max_size=20)


def pieces(text: str, cuts: Iterable[int]) -> Sequence[str]:
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


def told(events: Iterable[object]) -> tuple[str, str]:
    """The thinking and the text."""
    thinking = text = ""
    for each in events:
        match each:
            case TextTakenBack():
                thinking, text = thinking + text, ""
            case ThinkingReceived(piece):
                thinking += piece
            case TextReceived(piece):
                text += piece
            case _:
                pytest.fail(f"{each} is no event of a filter")
    return thinking, text


def filtered(parts: Iterable[str], *, inside: bool = False) -> tuple[str, str]:
    given = ThinkingFilter(inside)
    events = [event for part in parts for event in given.receive(part)]
    return told([*events, TextReceived(given.rest())])


def lacks_start(text: str) -> bool:
    before, end, _ = f"\n{text}".partition("\n</think>")
    return bool(end) and "<think>" not in before


@given(TEXTS.filter(lambda t: not (t.lstrip().startswith("<think>") or lacks_start(t))), CUTS)
def test_a_text_that_does_not_begin_with_thinking_stays_as_it_is(text: str, cuts: list[int]):
    assert filtered(pieces(text, cuts)) == ("", text)


@given(TEXTS.filter(lambda text: "</think>" not in text), TEXTS, CUTS)
def test_thinking_at_the_beginning_is_separate_and_the_space_around_it_goes(
    thought: str, answer: str, cuts: list[int]
):
    text = f" \n<think>{thought}</think>{answer}"
    whole = f"{thought}</think>{answer}".partition("</think>")
    assert filtered(pieces(text, cuts)) == (whole[0], whole[2].lstrip())


@given(TEXTS.filter(lambda text: "</think>" not in text), CUTS)
def test_thinking_that_never_ends_is_the_text(thought: str, cuts: list[int]):
    assert filtered(pieces(f"<think>{thought}", cuts))[1] == thought


def test_a_piece_is_held_back_only_as_long_as_it_may_be_a_tag():
    given = ThinkingFilter()
    came = [told(given.receive(piece)) for piece in ("<", "th", "is>", "<think>")]
    assert came == [("", ""), ("", ""), ("", "<this>"), ("", "<think>")]


def test_thinking_comes_as_soon_as_it_cannot_be_the_end_tag():
    given = ThinkingFilter()
    pieces = ("<think>", "one step", ", then another", "</think>")
    thinking = [told(given.receive(piece))[0] for piece in pieces]
    assert thinking == ["", "one step", ", then another", ""]


@given(TEXTS.filter(lambda text: "think>" not in text), TEXTS, CUTS)
def test_text_before_an_end_tag_without_a_start_tag_is_taken_back_once_more_follows(
    thought: str, answer: str, cuts: list[int]
):
    whole = filtered(pieces(f"Hm{thought}\n</think>x{answer}", [1, *cuts]))
    assert whole == (f"Hm{thought}\n", f"x{answer}")


def test_an_end_tag_with_nothing_behind_it_is_dropped():
    assert filtered(["Hm", "\n</thi", "nk>", "\n"]) == ("", "Hm\n\n")


def test_the_next_answer_is_filtered_from_its_beginning():
    given = ThinkingFilter()
    assert [[*given.receive(part)] for part in ("Hm", "\n</think>\n", "\nYes", ".")] == [
        [TextReceived("Hm")],
        [TextReceived("\n")],
        [TextTakenBack(), TextReceived("Yes")],
        [TextReceived(".")],
    ]
    assert given.lacked_start


@given(CUTS)
def test_an_end_tag_within_a_block_of_code_is_text(cuts: list[int]):
    text = "So:\n```\n</think>\n```\nand\n</think>\nso on."
    assert filtered(pieces(text, cuts)) == ("", text)


@given(CUTS)
def test_a_block_of_code_may_be_in_the_thinking(cuts: list[int]):
    text = "So:\n```\ncode\n```\nand\n</think>\nYes."
    thought = "So:\n```\ncode\n```\nand\n"
    assert filtered(pieces(text, cuts)) == (thought, "Yes.")


def test_in_a_text_that_comes_whole_it_ends_the_thinking():
    assert filtered(["Hm\n</think>\n\nYes"]) == ("Hm\n", "Yes")


@given(TEXTS.filter(lambda text: "</think>" not in text and text.strip()), TEXTS, CUTS)
def test_the_next_answer_of_such_a_model_begins_with_thinking(
    thought: str, answer: str, cuts: list[int]
):
    thinking, text = filtered(pieces(f"{thought}</think>{answer}", cuts), inside=True)
    assert thinking.lstrip() == thought.lstrip().removeprefix("<think>").lstrip()
    assert text == answer.lstrip()


@given(TEXTS.filter(lambda text: "think>" not in text), CUTS)
def test_without_an_end_tag_all_of_it_is_the_answer(text: str, cuts: list[int]):
    assert filtered(pieces(text, cuts), inside=True)[1] == text


STREAM = (
    '\ufeff: hello\r\n\r\nevent: a\r\ndata: {"é": 1}\r\n\r\ndata: [1,\rdata: 2]\r\rdata:\n\n'
    "id: 3\ndata:no json\n\nevent: b\ndata: 3\ndata: 4\n\ndata: [Done]"
).encode()
EVENTS = [("a", {"é": 1}), ("", [1, 2]), ("", "no json"), ("b", 3), ("", 4), ("", "[Done]")]


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
