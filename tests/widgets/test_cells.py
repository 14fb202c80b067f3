"""Texts in places of so many cells."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len, chop_cells, set_cell_size

from tests.strategies import any_text
from tui.widgets.cells import cut, cut_middle, cut_start, one_line

TEXTS = st.text(st.sampled_from("a語👩❤\u200d\u0301\ufe0f "), max_size=12)


@given(TEXTS, st.integers(2, 12))
@example("\u200d\u200da", 2)
@example("\u200d\u200d語aa", 3)
def test_any_text_is_fit_into_cells(text, cells):
    assert cell_len(cut(text, cells)) <= cells
    # Rich and Textual do so with the rows that they draw, and are not to fail.
    set_cell_size(text, cells)
    chop_cells(text, cells)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("👨\u200d👩\u200d👧", 2),
        ("❤\ufe0f\u200d🔥", 2),
        ("👩🏽\u200d🚀", 2),
        ("c\u200dd", 2),
        ("\u200d│", 1),
        ("\u200d👩", 0),
        ("\u200d\u200d│", 1),
        ("👩\u200dx", 3),
        ("x\u200d👩", 3),
        ("क्\u200dष", 2),
    ],
)
def test_a_joiner_takes_the_room_of_pictures_alone(text, cells):
    assert cell_len(text) == cells
    assert "".join(chop_cells(text, 1)) == text


@given(any_text(30), st.integers(0, 20))
def test_what_is_cut_at_its_beginning_or_in_its_middle_fits(text, cells):
    line = one_line(text)
    for shorter in (cut_start(line, cells), cut_middle(line, cells)):
        assert cell_len(shorter) <= cells
        if cell_len(line) <= cells:
            assert shorter == line


def test_a_cut_leaves_the_end_of_a_path_and_both_ends_of_a_name():
    assert cut_start("/home/u/notes/today.md", 12) == "…es/today.md"
    assert cut_middle("gpt-oss-120b-cloud-mini", 13) == "gpt-oss…-mini"
