"""Texts in places of so many cells."""

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len, chop_cells, set_cell_size

from tui.widgets.cells import cut

TEXTS = st.text(st.sampled_from("a語👩❤\u200d\u0301\ufe0f "), max_size=12)


@given(TEXTS, st.integers(2, 12))
@example("\u200d\u200da", 2)
@example("\u200d\u200d語aa", 3)
def test_any_text_is_fit_into_cells(text, cells):
    assert cell_len(cut(text, cells)) <= cells
    # Rich and Textual do so with the rows that they draw, and are not to fail.
    set_cell_size(text, cells)
    chop_cells(text, cells)
