"""Thinking is separated from the beginning of a text, however it is cut into pieces."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tui.providers.thinking import Filtered, ThinkingFilter

# Few letters, so that tags and beginnings of tags are common.
TEXTS = st.text(st.sampled_from(list("<think>/ a\n")), max_size=30)
CUTS = st.lists(st.integers(0, 60), max_size=20)


def pieces(text: str, cuts: Iterable[int]) -> Sequence[str]:
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


def filtered(parts: Iterable[str]) -> Filtered:
    given = ThinkingFilter()
    all_of_it = [given.take(part) for part in parts] + [given.rest()]
    return Filtered(*map("".join, zip(*all_of_it, strict=True)))


@given(TEXTS.filter(lambda text: not text.lstrip().startswith("<think>")), CUTS)
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
def test_thinking_that_never_ends_is_no_text(thought: str, cuts: list[int]):
    assert filtered(pieces(f"<think>{thought}", cuts)) == (thought, "")


def test_a_piece_is_held_back_only_as_long_as_it_may_be_a_tag():
    given = ThinkingFilter()
    assert [given.take(piece).text for piece in ("<", "th", "is>", "<think>")] == [
        "",
        "",
        "<this>",
        "<think>",
    ]


def test_thinking_comes_as_soon_as_it_cannot_be_the_end_tag():
    given = ThinkingFilter()
    pieces = ("<think>", "one step", ", then another", "</think>")
    assert [given.take(piece).thinking for piece in pieces] == [
        "",
        "o",
        "ne step, then ",
        "another",
    ]
