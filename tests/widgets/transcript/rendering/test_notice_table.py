"""Tables that the program tells, at every width."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tests.widgets.transcript.conftest import text_of
from tui.domain.views.notice import Notice, Table
from tui.widgets.transcript.document.document import Document
from tui.widgets.transcript.rendering.canvas import GUTTER, Canvas
from tui.widgets.transcript.rendering.palette import NAMES

LONG = "What is to be done about it? It is a lo…"
ROWS = (
    ("#", "ID", "Name", "Last used", "Messages"),
    ("1", "session-20260111-143022-847291", "会話の検索を直す", "just now", "2"),
    ("10", "session-20260110-091502-120034", LONG, "-", "134"),
)
SESSIONS = Table(ROWS, first=1, name=2, gap=2, right=(4,), headed=True)
SCOPE = Table(
    (
        ("1. [*]", "Garden plan", "| 2 msgs", "| just now (#4)"),
        ("10. [ ]", LONG, "| 134 msgs", "| 3 days ago (#1)"),
    )
)


def seen(table, width, page, above="Saved sessions:"):
    text = "\n".join([*[above] * table.first, *map(" ".join, table.rows), "There are more."])
    (item,) = Document([Notice(text, table=table)]).layout
    rows = [strip for block in item.blocks() for strip in block.strips(page(width))]
    assert all(strip.cell_length == width for strip in rows)
    return [text_of(strip)[GUTTER:] for strip in rows[1:]]


def test_where_there_is_room_all_stand_in_columns(page):
    assert seen(SESSIONS, 104, page) == [
        "Saved sessions:",
        f" #  ID                              Name{' ' * 38}Last used  Messages",
        f" 1  session-20260111-143022-847291  会話の検索を直す{' ' * 26}just now          2",
        f"10  session-20260110-091502-120034  {LONG}  -               134",
        "There are more.",
    ]


def test_where_there_is_less_the_name_gives_way_first(page):
    assert seen(SESSIONS, 88, page)[3] == (
        "10  session-20260110-091502-120034  What is to be done about i…  -               134"
    )


def test_where_there_is_little_each_takes_two_rows_in_the_same_columns(page):
    assert seen(SESSIONS, 48, page) == [
        "Saved sessions:",
        " #  ID",
        "    Name                 Last used  Messages",
        " 1  session-20260111-143022-847291",
        "    会話の検索を直す     just now          2",
        "10  session-20260110-091502-120034",
        "    What is to be done…  -               134",
        "There are more.",
    ]


def test_the_sessions_of_a_scope_keep_their_words(page):
    assert seen(SCOPE, 90, page) == [
        " 1. [*] Garden plan                              | 2 msgs   | just now (#4)",
        "10. [ ] What is to be done about it? It is a lo… | 134 msgs | 3 days ago (#1)",
        "There are more.",
    ]
    assert seen(SCOPE, 52, page) == [
        " 1. [*] Garden plan",
        "        | 2 msgs   | just now (#4)",
        "10. [ ] What is to be done about it? It is a lo…",
        "        | 134 msgs | 3 days ago (#1)",
        "There are more.",
    ]


def test_what_has_no_room_in_any_column_goes_on_below(page):
    table = Table((("1.", "Garden", f"({'/a/long/path' * 4}) - closed just now"),))
    rows = seen(table, 40, page)
    assert "".join(row.strip() for row in rows[1:-1]).endswith("- closed justnow")
    assert all(row.startswith("   ") for row in rows[1:-1])


CELL = st.text(st.sampled_from("ab 語é👩\u200d\u0301\x1b\u202e"), max_size=30)


@given(
    st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=4),
    st.integers(20, 150),
    st.integers(1, 2),
)
@example([("\u202e", "", "", "\u202e\u200d\u200d語\u0301\u202e\u202e")], 20, 1)
def test_every_row_is_as_wide_as_the_pane(rows, width, name):
    look = dict.fromkeys(NAMES, Style())
    table = Table(tuple(rows), name=name, right=(3,))
    (item,) = Document([Notice("\n".join("x" for _ in rows), table=table)]).layout
    for block in item.blocks():
        for strip in block.strips(Canvas(width, look)):
            assert strip.cell_length == sum(cell_len(s.text) for s in strip) == width


@pytest.mark.parametrize("width", [48, 88, 104])
def test_how_high_it_is_is_known_before_it_is_drawn(page, width):
    (item,) = Document([Notice("\n".join("x" * 3), table=SESSIONS)]).layout
    guessed = item.blocks()[-1].height(width)
    assert len(item.blocks()[-1].strips(page(width))) == guessed
