"""Code that has no room: cut, moved sideways, and whole wherever it goes."""

from contextlib import asynccontextmanager

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked
from tui.domain.search.find import Match, needle
from tui.widgets.transcript.row_blocks import cut_line
from tui.widgets.transcript.row_selection import offset_row

LONG = "value = compute(" + ", ".join(f"argument_{n}" for n in range(20)) + ")  # the end"
CODE = f"Look:\n\n```python\n{LONG}\nshort = 1\n```"


@pytest.fixture
def opened(opened):
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


async def test_a_long_line_takes_one_row_that_says_there_is_more(opened):
    async with opened(answered(CODE)) as (app, _):
        first, second = code_rows(app)
        assert first.startswith("   │ value = compute(argument_0")
        assert first.endswith("›")
        assert second == "   │ short = 1"


async def test_right_and_left_move_the_code_and_nothing_else(opened):
    async with opened(answered(CODE), asked("thanks")) as (app, pilot):
        before = shown(app)
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


async def test_only_the_code_at_the_cursor_is_moved(opened):
    async with opened(answered(CODE, "one"), answered(CODE, "two")) as (app, pilot):
        await pilot.press("k", "right")
        first, _, second, _ = code_rows(app)
        assert first.startswith("   │ value")
        assert second.startswith("   ‹ compute")


async def test_shift_and_the_wheel_move_the_code_under_the_pointer(opened):
    async with opened(answered(CODE, "one"), answered(CODE, "two")) as (app, pilot):
        row = next(y for y, text in enumerate(shown(app)) if "value" in text)
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


async def test_code_that_arrives_stays_where_it_was_moved_to(opened):
    async with opened() as (app, pilot):
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


async def test_what_is_selected_is_whole_though_it_is_cut_on_screen(opened):
    async with opened(answered(CODE, "a")) as (app, pilot):
        await pilot.press(*["right"] * 3)
        item = app.conversation.items["a"]
        rows = [offset_row(item.order, block, 0) for block in (0, len(item.blocks()))]
        whole = Selection(Offset(0, rows[0]), Offset(1 << 20, rows[1] - 1))
        assert LONG in app.transcript.get_selection(whole)[0]


async def test_a_selection_within_a_moved_line_is_what_is_seen(opened):
    async with opened(answered(CODE, "a")) as (app, pilot):
        await pilot.press("right")
        item = app.conversation.items["a"]
        y = offset_row(item.order, 2, 2)
        seen = Selection(Offset(5, y), Offset(12, y))
        assert app.transcript.get_selection(seen)[0] == "compute"


async def test_what_is_found_in_the_hidden_part_is_brought_into_sight(opened):
    async with opened(answered(CODE, "a")) as (app, _):
        app.transcript.finder.look_for(needle("the end"))
        assert not any("the end" in row for row in shown(app))
        assert app.transcript.finder.show(Match("a", 0), unfold=False)
        assert any("the end" in row for row in shown(app))


async def test_a_match_that_is_hidden_is_marked_where_the_line_is_cut(opened):
    async with opened(answered(CODE, "a")) as (app, _):
        app.transcript.finder.look_for(needle("the end"))
        y = next(y for y, text in enumerate(shown(app)) if "value" in text)
        match = app.transcript.get_component_rich_style("transcript--match")
        more = [s for s in app.transcript.render_line(y) if "›" in s.text]
        assert isinstance(more[0].style, Style)
        assert more[0].style.bgcolor == match.bgcolor


@pytest.mark.parametrize("skip", range(12))
def test_a_wide_character_is_never_seen_by_half(skip):
    cut = cut_line("日本語のコードabc日本", skip, 10)
    seen = cut.text[cut.hidden : cut.hidden + cut.shown]
    cells = (
        cut.pad + cell_len(seen) + (cut.fill + 1 if cut.hidden + cut.shown < len(cut.text) else 0)
    )
    assert cells <= 10
    assert cut.pad <= 1


async def test_home_and_end_take_the_cursor_along(opened):
    entries = [asked(f"question {n}", f"q{n}") for n in range(40)]
    async with opened(*entries) as (app, pilot):
        await pilot.press("home")
        assert app.conversation.cursor.message is None
        await pilot.press("j", "end")
        assert app.conversation.cursor.message.id == "q39"
        await pilot.press("home")
        assert app.conversation.cursor.message.id == "q0"


async def test_code_in_a_list_says_its_language_and_has_its_own_colours(opened):
    async with opened(answered("1. Run:\n\n   ```sh\n   ls -l\n   ```")) as (app, _):
        y = next(y for y, row in enumerate(shown(app)) if "ls -l" in row)
        assert shown(app)[y - 1].strip() == "╭ sh"
        looks = [s.style for s in app.transcript.render_line(y) if "ls" in s.text]
        assert not any(style and style.reverse for style in looks)
