"""The to-do panel: what of a list it shows, and what it costs."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.journal.todo import TodoItem
from tui.domain.text import make_visible_line
from tui.widgets.todo_panel import lay_out


def items(statuses):
    known = {"p": "pending", "i": "in_progress", "c": "completed"}
    return [TodoItem(f"thing {n}", known[s], f"doing {n}") for n, s in enumerate(statuses, 1)]


def texts(statuses, rows, width=60):
    return [row.text for row in lay_out(items(statuses), rows, width)]


def test_a_list_that_fits_is_shown_whole_with_sign_and_word():
    assert texts("cip", 4, 40) == [
        "To-dos: 1 of 3 done, 1 in progress",
        "[x] 1. thing 1" + " " * 22 + "done",
        "[>] 2. doing 2" + " " * 15 + "in progress",
        "[ ] 3. thing 3",
    ]


def test_of_a_longer_list_what_goes_on_and_what_is_open_comes_first():
    assert [text.split("  ")[0] for text in texts("ccpppcipp", 5)] == [
        "To-dos: 3 of 9 done, 1 in progress",
        "[ ] 3. thing 3",
        "[ ] 4. thing 4",
        "[>] 7. doing 7",
        "+ 6 more",
    ]


@each_row(
    "statuses, width, line",
    [
        ("cipp", 60, "To-dos 1/4  [>] doing 2  + 2 more"),
        ("cp", 60, "To-dos 1/2  [ ] next: thing 2"),
        ("cc", 60, "To-dos 2/2  [x] all done"),
        ("ipp", 31, "To-dos 0/3  [>] doing 1  +2"),
        ("ipp", 24, "To-dos 0/3  [>] doing 1"),
        ("ipp", 20, "To-dos 0/3  [>] doi…"),
    ],
)
def test_a_single_line_says_what_goes_on_or_comes_next_before_how_many_more(statuses, width, line):
    assert texts(statuses, 1, width) == [line]


statuses = st.sampled_from(["pending", "in_progress", "completed"])
lists = st.lists(st.builds(TodoItem, any_text(), statuses, any_text()), max_size=12)


@given(lists, st.integers(1, 15), st.integers(8, 90))
def test_no_row_is_wider_or_more_than_there_is_room_for(items, rows, width):
    shown = lay_out(items, rows, width)
    assert len(shown) <= rows
    assert bool(shown) == bool(items)
    for row in shown:
        assert cell_len(row.text) <= width
        assert make_visible_line(row.text) == row.text


@given(lists.filter(bool), st.integers(2, 15))
def test_what_is_shown_and_what_is_not_make_the_whole_list(items, rows):
    shown = lay_out(items, rows, 60)
    more = [int(row.text.split()[1]) for row in shown if row.part == "more"]
    assert len(shown) - 1 - len(more) + sum(more) == len(items)
