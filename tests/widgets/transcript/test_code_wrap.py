"""Code that has no room: wrapped, marked at the break, and copied as it was written."""

from rich.style import Style
from textual.geometry import Offset
from textual.selection import Selection

from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, drawn_document
from tui.domain.search.find import Match, needle
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.row_selection import offset_row

LONG = "value = compute(" + ",  ".join(f"argument_{n}" for n in range(9)) + ")  # the end"
CODE = f"Look:\n\n```python\n{LONG}\nshort = 1\n```"
WRAPPED = [
    "   │ value = compute(argument_0,  argument_1,  argument_2,",
    "   ↳ argument_3,  argument_4,  argument_5,  argument_6,",
    "   ↳ argument_7,  argument_8)  # the end",
    "   │ short = 1",
]


def code_rows(app):
    return [row for row in visible_text(app.transcript) if row.startswith(("   │", "   ↳"))]


async def test_a_long_line_wraps_and_its_rows_are_marked(opened):
    async with opened(answered(CODE)) as (app, pilot):
        assert code_rows(app) == WRAPPED
        await pilot.press("right")
        assert code_rows(app) == WRAPPED


async def test_it_wraps_while_it_arrives(opened):
    async with opened() as (app, _):
        for size in range(1, len(CODE), 7):
            app.conversation.add_text("a", CODE[size - 1 : size + 6][: len(CODE) - size + 1])
        await until(lambda: code_rows(app)[-1:] == WRAPPED[-1:])
        assert code_rows(app) == WRAPPED


async def test_w_cuts_the_lines_and_wraps_them_again(opened):
    async with opened(answered(CODE)) as (app, pilot):
        await pilot.press("w")
        assert [row[-1] for row in code_rows(app)] == ["›", "1"]
        await pilot.press("right", "w")
        assert code_rows(app) == WRAPPED
        assert app.hinted == [
            "Long code lines are cut; ← and → scroll them.",
            "Long code lines wrap.",
        ]


async def test_what_is_selected_is_the_line_as_it_was_written(opened):
    async with opened(answered(CODE, "a")) as (app, _):
        item = app.conversation.items["a"]
        first, last = offset_row(item.order, 1, 0), offset_row(item.order, 2, 100)
        everything = Selection(Offset(0, first), Offset(1 << 20, last))
        assert f"{LONG}\nshort = 1" in app.transcript.get_selection(everything)[0]


async def test_what_is_found_across_a_break_is_marked_on_both_rows(opened):
    async with opened(answered(CODE, "a")) as (app, _):
        app.transcript.finder.look_for(needle("argument_2, argument_3"))
        assert app.transcript.finder.show(Match("a", 0), unfold=False)
        match = app.transcript.get_component_rich_style("transcript--match-current")
        marked = [
            "".join(
                s.text for s in app.transcript.render_line(y) if s.style.bgcolor == match.bgcolor
            )
            for y in range(10)
        ]
        assert [text for text in marked if text] == ["argument_2,", "argument_3"]


def test_the_line_at_the_top_stays_there_at_every_width():
    lines = "\n".join(f"{n:02} " + "word " * 20 for n in range(40))
    document = drawn_document(answered(f"```\n{lines}\n```"), height=10)
    document.reader.scroll_to(0)
    document.rows()
    document.reader.move(31)
    before = document.rows()[0].strip.text
    for width, wraps in ((90, True), (40, True), (40, False), (60, True)):
        document.draw_on(Canvas(width, dict.fromkeys(NAMES, Style()), wraps=wraps), 10)
        assert document.rows()[0].strip.text[5:8] == before[5:8]


def test_an_extremely_long_line_is_cut():
    document = drawn_document(answered("```\n" + "x" * 100_000 + "\n```"))
    assert len(document.rows()) < 6


async def test_code_in_a_list_wraps_alike_and_is_selected_as_it_was_written(opened):
    text = f"1. Do:\n   ```python\n   {LONG.replace(',  ', ', ')}\n   ```"
    async with opened(answered(text, "a")) as (app, _):
        rows = [row.strip() for row in visible_text(app.transcript) if "argument" in row]
        assert [row.startswith("↳ ") for row in rows] == [False, True, True]
        item = app.conversation.items["a"]
        first, last = offset_row(item.order, 1, 0), offset_row(item.order, 1, 100)
        everything = Selection(Offset(0, first), Offset(1 << 20, last))
        assert LONG.replace(",  ", ", ") in app.transcript.get_selection(everything)[0]
