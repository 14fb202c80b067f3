"""Pastes: whatever is in them stands in the text, sends nothing, and never reaches the terminal."""

import pytest
from textual import events

from tests.waiting import until
from tests.widgets.prompt.conftest import Surroundings
from tui.widgets.prompt.prompt_document import ROW_CHARACTERS

HOSTILE = (
    "\x1b]52;c;ZXZpbA==\x1b\\ \x9b2J\x85 \u202eabc \u2066 \U000e0041 \x07\x7f \u2028 \ud800 [b]"
)
UNSAFE = set("\x1b\x9b\x85\u202e\u2066\U000e0041\x07\x7f\u2028\ud800")


async def paste(app, pilot, text):
    app.editor.post_message(events.Paste(text))
    await pilot.pause()


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
async def test_a_paste_of_several_lines_is_inserted_and_not_sent(running, line_break):
    async with running() as (app, pilot):
        await paste(app, pilot, line_break.join(["one", "two", ""]))
        await until(lambda: app.edited == ["one\ntwo\n"])
        assert app.submitted == []


async def test_a_paste_replaces_the_selection(running):
    async with running() as (app, pilot):
        await pilot.press(*"ab", "shift+left")
        await paste(app, pilot, "c\nd")
        assert app.prompt.text == "ac\nd"


async def test_what_a_terminal_would_obey_is_kept_and_not_shown(running):
    async with running() as (app, pilot):
        await paste(app, pilot, HOSTILE)
        await until(lambda: "␛]52;c;ZXZpbA==␛\\" in "".join(app.screen_lines))
        assert not UNSAFE & set("".join(app.screen_lines))
        await pilot.press("enter")
        await until(lambda: app.submitted == [HOSTILE])


async def test_a_hostile_selection_and_what_is_under_the_caret_are_not_shown_either(running):
    async with running() as (app, pilot):
        await paste(app, pilot, "\n".join(HOSTILE))
        await pilot.press("f7")
        assert not UNSAFE & set("".join(app.screen_lines))
        for _ in range(8):
            await pilot.press("up")
            assert not UNSAFE & set("".join(app.screen_lines))


async def test_each_mark_takes_the_one_cell_that_the_caret_counts(running):
    async with running() as (app, pilot):
        await paste(app, pilot, HOSTILE + "!")
        await pilot.press("left")
        row = app.screen_lines[app.cursor_position.y]
        assert row[app.cursor_position.x] == "!"


async def test_a_copy_has_what_was_pasted(running):
    async with running() as (app, pilot):
        await paste(app, pilot, HOSTILE)
        await pilot.press("f7", "ctrl+c")
        await until(lambda: app.copied == [HOSTILE])


async def test_undoing_and_redoing_bring_back_every_character(running):
    async with running() as (app, pilot):
        app.prompt.set_text("before")
        await paste(app, pilot, HOSTILE)
        await pilot.press("f7", "backspace", "ctrl+z")
        assert app.prompt.text == "before" + HOSTILE
        await pilot.press("ctrl+z")
        assert app.prompt.text == "before"
        await pilot.press("ctrl+y")
        assert app.prompt.text == "before" + HOSTILE


async def test_no_row_of_a_long_paste_is_longer_than_what_a_key_can_wrap(running):
    text = "x" * 100_000 + "\n" + "word " * 20_000
    async with running() as (app, pilot):
        await paste(app, pilot, text)
        assert app.prompt.text == text
        await pilot.press("ctrl+o")
        assert app.prompt.text == text
        assert max(map(len, app.editor.document.lines)) == ROW_CHARACTERS


async def test_deleting_over_the_end_of_a_row_deletes_a_character(running):
    text = "x" * ROW_CHARACTERS + "yz"
    async with running() as (app, pilot):
        await paste(app, pilot, text)
        await pilot.press("ctrl+o", "left", "left", "backspace")
        assert app.prompt.text == text[1:]
        await pilot.press("ctrl+z")
        app.editor.move_cursor((0, ROW_CHARACTERS))
        await pilot.press("delete")
        assert app.prompt.text == "x" * ROW_CHARACTERS + "z"


async def test_a_paste_goes_no_further_than_the_prompt(running):
    async with running() as (app, pilot):
        await paste(app, pilot, "text")
        await pilot.press("!")
        await until(lambda: app.prompt.text == "text!")
        assert app.query_one(Surroundings).pasted == 0


async def test_a_paste_that_brought_a_scrollbar_can_be_undone(running):
    async with running() as (app, pilot):
        await paste(app, pilot, "line\n" * 9)
        await until(lambda: app.editor.show_vertical_scrollbar)
        await pilot.press("ctrl+z", "x")
        assert app.prompt.text == "x"
        await until(lambda: app.prompt.region.height == 3)
