"""Code that has no room: wrapped or cut, moved sideways, and copied as it was written."""

from contextlib import asynccontextmanager

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from tests.tables import each_row
from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked, drawn_document
from tui.domain.search.find import Match, needle
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.row_blocks import cut_line
from tui.widgets.transcript.row_selection import number_of
from tui.widgets.transcript.viewport import Spot

WRAPPING = "value = compute(" + ",  ".join(f"argument_{n}" for n in range(9)) + ")  # the end"
WRAPPING_CODE = f"Look:\n\n```python\n{WRAPPING}\nshort = 1\n```"
WRAPPED = [
    "   │ value = compute(argument_0,  argument_1,  argument_2,",
    "   ↳ argument_3,  argument_4,  argument_5,  argument_6,",
    "   ↳ argument_7,  argument_8)  # the end",
    "   │ short = 1",
]


def wrapped_rows(app):
    return [row for row in visible_text(app.transcript) if row.startswith(("   │", "   ↳"))]


async def test_a_long_line_wraps_and_w_cuts_the_lines_and_wraps_them_again(opened):
    async with opened(answered(WRAPPING_CODE, "a")) as (app, pilot):
        assert wrapped_rows(app) == WRAPPED
        await pilot.press("right")
        assert wrapped_rows(app) == WRAPPED
        await pilot.press("w")
        assert [row[-1] for row in wrapped_rows(app)] == ["›", "1"]
        await pilot.press("right", "w")
        assert wrapped_rows(app) == WRAPPED
        assert app.hinted == [
            "Long code lines are cut; ← and → scroll them.",
            "Long code lines wrap.",
        ]


async def test_a_line_is_selected_as_it_was_written_and_what_is_found_is_marked_on_both_rows(
    opened,
):
    async with opened(answered(WRAPPING_CODE, "a")) as (app, _):
        item = app.conversation.items["a"]
        first, last = number_of(Spot(item, 1, 0)), number_of(Spot(item, 2, 100))
        everything = Selection(Offset(0, first), Offset(1 << 20, last))
        assert f"{WRAPPING}\nshort = 1" in app.transcript.get_selection(everything)[0]
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


async def test_it_wraps_while_it_arrives(opened):
    async with opened() as (app, _):
        for size in range(1, len(WRAPPING_CODE), 7):
            app.conversation.add_text(
                "a", WRAPPING_CODE[size - 1 : size + 6][: len(WRAPPING_CODE) - size + 1]
            )
        await until(lambda: wrapped_rows(app)[-1:] == WRAPPED[-1:])
        assert wrapped_rows(app) == WRAPPED


def test_the_line_at_the_top_stays_there_at_every_width_and_an_extremely_long_one_is_cut():
    lines = "\n".join(f"{n:02} " + "word " * 20 for n in range(40))
    document = drawn_document(answered(f"```\n{lines}\n```"), height=10)
    document.reader.scroll_to(0)
    document.rows()
    document.reader.move(31)
    before = document.rows()[0].strip.text
    for width, wraps in ((90, True), (40, True), (40, False), (60, True)):
        document.draw_on(Canvas(width, dict.fromkeys(NAMES, Style()), wraps=wraps), 10)
        assert document.rows()[0].strip.text[5:8] == before[5:8]
    document = drawn_document(answered("```\n" + "x" * 100_000 + "\n```"))
    assert len(document.rows()) < 6


async def test_code_in_a_list_wraps_alike_and_is_selected_as_it_was_written(opened):
    text = f"1. Do:\n   ```python\n   {WRAPPING.replace(',  ', ', ')}\n   ```"
    async with opened(answered(text, "a")) as (app, _):
        rows = [row.strip() for row in visible_text(app.transcript) if "argument" in row]
        assert [row.startswith("↳ ") for row in rows] == [False, True, True]
        item = app.conversation.items["a"]
        first, last = number_of(Spot(item, 1, 0)), number_of(Spot(item, 1, 100))
        everything = Selection(Offset(0, first), Offset(1 << 20, last))
        assert WRAPPING.replace(",  ", ", ") in app.transcript.get_selection(everything)[0]


LONG = "value = compute(" + ", ".join(f"argument_{n}" for n in range(20)) + ")  # the end"
CODE = f"Look:\n\n```python\n{LONG}\nshort = 1\n```"


@pytest.fixture
def cut_lines(opened):
    """The same, with lines cut."""

    @asynccontextmanager
    async def run(*entries):
        async with opened() as (app, pilot):
            app.transcript.wrap_code(wraps=False)
            app.transcript.show(entries, earlier=False)
            await pilot.pause()
            yield app, pilot

    return run


def shown(app):
    return [row.replace("▌", " ") for row in visible_text(app.transcript)]


def code_rows(app):
    return [row for row in shown(app) if row.startswith(("   │", "   ‹"))]


async def test_a_long_line_takes_one_row_and_right_and_left_move_it_and_nothing_else(cut_lines):
    async with cut_lines(answered(CODE), asked("thanks")) as (app, pilot):
        before = shown(app)
        first, second = code_rows(app)
        assert first.startswith("   │ value = compute(argument_0")
        assert first.endswith("›")
        assert second == "   │ short = 1"
        await pilot.press("right")
        first, second = code_rows(app)
        assert first.startswith("   ‹ compute(argument_0")
        assert second == "   ‹ 1"
        assert len(shown(app)) == len(before)
        assert shown(app)[-1] == before[-1]
        await pilot.press(*["right"] * 60)
        assert code_rows(app)[0].endswith("# the end")
        await pilot.press(*["left"] * 60)
        assert shown(app) == before


async def test_only_the_code_at_the_cursor_is_moved_or_with_shift_and_the_wheel_at_the_pointer(
    cut_lines,
):
    async with cut_lines(answered(CODE, "one"), answered(CODE, "two")) as (app, pilot):
        await pilot.press("k", "right")
        first, _, second, _ = code_rows(app)
        assert first.startswith("   │ value")
        assert second.startswith("   ‹ compute")
        row = next(y for y, text in enumerate(shown(app)) if "value" in text)
        await pilot.press("left")
        await pilot._post_mouse_events(
            [events.MouseScrollDown],
            app.transcript,
            offset=(10, row),
            shift=True,
        )
        await pilot.pause()
        first, _, second, _ = code_rows(app)
        assert first.startswith("   ‹ compute")
        assert second.startswith("   │ value")


async def test_code_that_arrives_stays_where_it_was_moved_to(cut_lines):
    async with cut_lines() as (app, pilot):
        app.conversation.add_text("a", f"```python\n{LONG}\n")
        await until(lambda: code_rows(app))
        await pilot.press("right")
        app.conversation.add_text("a", "second = 12345678\n")
        await until(lambda: len(code_rows(app)) == 2)
        assert [row[:12] for row in code_rows(app)] == ["   ‹ compute", "   ‹  1234567"[:12]]
        app.conversation.add_text("a", "```\n\nthen")
        app.conversation.put(answered(f"```python\n{LONG}\nsecond = 12345678\n```\n\nthen", "a"))
        await until(lambda: any(row.strip() == "then" for row in shown(app)))
        assert code_rows(app)[0].startswith("   ‹ compute")


async def test_what_is_selected_is_whole_or_within_a_moved_line_what_is_seen(cut_lines):
    async with cut_lines(answered(CODE, "a")) as (app, pilot):
        await pilot.press("right")
        item = app.conversation.items["a"]
        y = number_of(Spot(item, 2, 2))
        seen = Selection(Offset(5, y), Offset(12, y))
        assert app.transcript.get_selection(seen)[0] == "compute"
        rows = [number_of(Spot(item, block, 0)) for block in (0, len(item.blocks()))]
        whole = Selection(Offset(0, rows[0]), Offset(1 << 20, rows[1] - 1))
        assert LONG in app.transcript.get_selection(whole)[0]


async def test_a_hidden_match_is_marked_where_the_line_is_cut_and_brought_into_sight(cut_lines):
    async with cut_lines(answered(CODE, "a")) as (app, _):
        app.transcript.finder.look_for(needle("the end"))
        assert not any("the end" in row for row in shown(app))
        y = next(y for y, text in enumerate(shown(app)) if "value" in text)
        match = app.transcript.get_component_rich_style("transcript--match")
        more = [s for s in app.transcript.render_line(y) if "›" in s.text]
        assert isinstance(more[0].style, Style)
        assert more[0].style.bgcolor == match.bgcolor
        assert app.transcript.finder.show(Match("a", 0), unfold=False)
        assert any("the end" in row for row in shown(app))


@each_row("skip", range(12))
def test_a_wide_character_is_never_seen_by_half(skip):
    cut = cut_line("日本語のコードabc日本", skip, 10)
    seen = cut.text[cut.hidden : cut.hidden + cut.shown]
    cells = (
        cut.pad + cell_len(seen) + (cut.fill + 1 if cut.hidden + cut.shown < len(cut.text) else 0)
    )
    assert cells <= 10
    assert cut.pad <= 1


async def test_home_and_end_take_the_cursor_along(cut_lines):
    entries = [asked(f"question {n}", f"q{n}") for n in range(40)]
    async with cut_lines(*entries) as (app, pilot):
        await pilot.press("home")
        assert app.conversation.cursor.message is None
        await pilot.press("j", "end")
        assert app.conversation.cursor.message.id == "q39"
        await pilot.press("home")
        assert app.conversation.cursor.message.id == "q0"


async def test_code_in_a_list_says_its_language_and_has_its_own_colours(cut_lines):
    async with cut_lines(answered("1. Run:\n\n   ```sh\n   ls -l\n   ```")) as (app, _):
        y = next(y for y, row in enumerate(shown(app)) if "ls -l" in row)
        assert shown(app)[y - 1].strip() == "╭ sh"
        looks = [s.style for s in app.transcript.render_line(y) if "ls" in s.text]
        assert not any(style and style.reverse for style in looks)
