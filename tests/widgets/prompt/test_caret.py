"""Where keys and clicks put the caret, and what they cut."""

import pytest
from rich.cells import cell_len
from textual import events

from tests.waiting import until
from tests.widgets.prompt.test_paste import paste

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


async def test_up_and_down_lead_to_the_edge_of_a_character(running):
    async with running() as (app, pilot):
        app.prompt.set_text(f"{FAMILY}{FAMILY}b\n1234567")
        for column, place in ((1, 0), (2, len(FAMILY)), (3, len(FAMILY)), (4, 2 * len(FAMILY))):
            app.editor.move_cursor((1, column))
            await pilot.press("up")
            assert app.editor.cursor_location == (0, place)
            await pilot.press("down")
            assert app.editor.cursor_location == (1, column)


async def test_a_click_is_where_it_is_seen(running):
    async with running() as (app, pilot):
        app.prompt.set_text(f"{FAMILY}\t{FAMILY}b")
        begin = len(FAMILY) + 1
        for cells, place in ((1, 0), (3, len(FAMILY)), (5, begin), (6, begin + len(FAMILY))):
            await pilot.click("Editor", offset=(2 + cells, 1))
            await until(lambda place=place: app.editor.cursor_location == (0, place))


async def test_home_and_end_are_those_of_the_row_and_then_of_the_line(running):
    async with running((30, 24)) as (app, pilot):
        text = "会" * 40
        app.prompt.set_text(text)
        # Until it has grown there is a scrollbar, and rows are shorter.
        await until(lambda: app.editor.content_size.height == 4)
        await until(lambda: app.editor.wrap_width == app.editor.content_size.width - 1)
        rows = app.editor.wrapped_document.get_offsets(0)
        app.editor.move_cursor((0, rows[0] + 2))
        for key, column in (
            ("home", rows[0]),
            ("home", 0),
            ("end", rows[0] - 1),
            ("end", len(text)),
            ("ctrl+a", 0),
            ("ctrl+e", len(text)),
        ):
            await pilot.press(key)
            assert app.editor.cursor_location == (0, column)


async def test_rows_begin_and_end_with_whole_characters(running):
    async with running((30, 24)) as (app, pilot):
        app.prompt.set_text(FAMILY * 20)
        rows = app.editor.wrapped_document.get_sections(0)
        assert len(rows) > 1
        assert all(len(row) % len(FAMILY) == 0 for row in rows)
        app.editor.move_cursor((0, 0))
        await pilot.press("end")
        assert app.editor.cursor_location[1] % len(FAMILY) == 0


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["ctrl+u"], "above\n"),
        (["ctrl+u", "ctrl+u"], "above"),
        (["ctrl+a", "ctrl+k"], "above\n"),
        (["ctrl+home", "ctrl+a", "up", "ctrl+k", "ctrl+k"], "w " * 30 + "end"),
        (["alt+left", "alt+left", "alt+d"], "above\n" + "w " * 29 + " end"),
        (["alt+left", "alt+right", "alt+backspace"], "above\n" + "w " * 30),
    ],
)
async def test_what_is_cut_is_of_the_line_and_not_of_the_row(running, keys, left):
    async with running((30, 24)) as (app, pilot):
        app.prompt.set_text("above\n" + "w " * 30 + "end")
        if "up" in keys:
            app.editor.move_cursor((0, 0))
            keys = keys[-2:]
        await pilot.press(*keys)
        await until(lambda: app.prompt.text == left)


async def test_what_was_cut_is_put_back_also_elsewhere(running):
    async with running() as (app, pilot):
        app.prompt.set_text("one two three\nfour")
        await pilot.press("up", "ctrl+e", "alt+backspace", "alt+backspace", "ctrl+a", "ctrl+y")
        assert app.prompt.text == "two threeone \nfour"
        await pilot.press("ctrl+z", "ctrl+k", "ctrl+e", "ctrl+y", "ctrl+y")
        assert app.prompt.text == "one one \nfour"


async def test_what_was_undone_is_done_again_before_anything_is_put_back(running):
    async with running() as (app, pilot):
        app.prompt.set_text("one two")
        await pilot.press("alt+backspace", "ctrl+z")
        assert app.prompt.text == "one two"
        await pilot.press("ctrl+y")
        assert app.prompt.text == "one "
        await pilot.press("ctrl+y", "ctrl+underscore")
        assert app.prompt.text == "one "


async def test_a_folded_paste_is_cut_and_put_back_folded(running):
    async with running() as (app, pilot):
        await paste(app, pilot, "long\n" * 20)
        await until(lambda: len(app.editor.document.pastes) == 1)
        await pilot.press("x", "ctrl+u", "ctrl+u")
        await until(lambda: app.prompt.text == "")
        await pilot.press("ctrl+y")
        assert app.prompt.text == "long\n" * 20 + "x"
        assert len(app.editor.document.pastes) == 1


async def test_words_of_japanese_end_with_their_script(running):
    async with running() as (app, pilot):
        app.prompt.set_text("日本語のテキスト")
        await pilot.press("alt+backspace", "alt+backspace")
        assert app.prompt.text == "日本語"


async def test_a_joiner_that_is_typed_is_not_lost(running):
    async with running() as (app, _):
        for character in FAMILY + "\u200c":
            app.post_message(events.Key(character, character))
        await until(lambda: app.prompt.text == FAMILY + "\u200c")


async def test_two_clicks_select_a_word_and_three_the_row(running):
    async with running() as (app, pilot):
        app.prompt.set_text("one 日本語の two\nrow")
        await until(lambda: app.editor.content_size.height == 2 and app.editor.scroll_y == 0)
        for times, selected in ((2, "日本語"), (3, "one 日本語の two")):
            await pilot.click("Editor", offset=(8, 0), times=times)
            await until(lambda selected=selected: app.editor.selected_text == selected)


async def test_the_caret_is_a_whole_character(running):
    async with running() as (app, pilot):
        app.prompt.set_text(f"{FAMILY}b")
        await pilot.press("home")
        await until(lambda: app.editor.cursor_location == (0, 0))
        drawn = [segment.text for segment in app.editor.render_line(0)]
        assert FAMILY in drawn
        frame = [row for row in app.screen_lines if row[:1] in ("╭", "│", "╰")]
        assert {cell_len(row) for row in frame} == {60}
