"""Long pastes: one mark on screen, all of it in the text."""

import random

import pytest

from tests.waiting import until
from tests.widgets.prompt.test_paste import HOSTILE, paste
from tui.widgets.prompt.prompt_document import PromptDocument

LONG = "".join(f"line {number}\n" for number in range(120))
WIDE = "x" * 1500
MARK, WIDE_MARK = "[pasted 120 lines]", "[pasted 1,500 characters]"


def shown(app):
    return list(app.editor.document.lines)


async def test_a_long_paste_is_one_mark_and_sent_whole(running):
    async with running() as (app, pilot):
        await pilot.press("a")
        await paste(app, pilot, LONG)
        await pilot.press("b")
        assert shown(app) == ["a", MARK, "b"]
        await until(lambda: any(MARK in row for row in app.screen_lines))
        await pilot.press("enter")
        await until(lambda: app.submitted == [f"a{LONG}b"])


@pytest.mark.parametrize(
    ("text", "is_folded"),
    [
        ("line\n" * 10, False),
        ("line\n" * 11, True),
        ("x" * 1000, False),
        ("日" * 1001, True),
    ],
)
async def test_it_is_folded_over_ten_lines_or_a_thousand_characters(running, text, is_folded):
    async with running() as (app, pilot):
        await paste(app, pilot, text)
        assert shown(app)[0].startswith("[pasted") == is_folded
        assert app.prompt.text == text


async def test_another_key_may_be_chosen_that_unfolds_it(running):
    async with running() as (app, pilot):
        app.set_keymap({"prompt-unfold": "ctrl+u"})
        await pilot.press("a")
        await paste(app, pilot, LONG)
        await pilot.press("ctrl+o")
        assert shown(app) == ["a", MARK]
        await pilot.press("ctrl+u")
        assert shown(app) == f"a{LONG}".split("\n")


@pytest.mark.parametrize("line_break", ["\r\n", "\r"])
async def test_the_line_breaks_of_terminals_count(running, line_break):
    async with running() as (app, pilot):
        await paste(app, pilot, LONG.replace("\n", line_break))
        assert shown(app) == [MARK]
        assert app.prompt.text == LONG


async def test_the_caret_goes_over_it_in_one_step(running):
    async with running() as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.press("left", "x", "right", "y")
        assert app.prompt.text == f"x{LONG}y"
        await pilot.press("left", "left", "left", "z")
        assert app.prompt.text == f"zx{LONG}y"
        await pilot.press("end", "ctrl+right", "!")
        assert app.prompt.text == f"zx{LONG}!y"
        await pilot.press("left", "ctrl+left", "?")
        assert app.prompt.text == f"zx?{LONG}!y"


@pytest.mark.parametrize(
    ("key", "caret"),
    [
        *((key, (1, len(MARK))) for key in ("backspace", "ctrl+backspace", "ctrl+u")),
        ("delete", (0, 1)),
    ],
)
async def test_it_is_deleted_as_one(running, key, caret):
    async with running() as (app, pilot):
        await pilot.press(*"ab", "left")
        await paste(app, pilot, LONG)
        app.editor.move_cursor(caret)
        await pilot.press(key)
        assert app.prompt.text == "ab"
        assert shown(app) == ["ab"]
        await pilot.press("ctrl+z")
        assert app.prompt.text == f"a{LONG}b"
        assert shown(app) == ["a", MARK, "b"]
        await pilot.press("ctrl+y")
        assert shown(app) == ["ab"]


async def test_a_click_into_it_and_a_selection_of_its_half_mean_the_whole(running):
    async with running() as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.click(app.editor, offset=(6, 1))
        assert app.editor.cursor_location == (0, 0)
        await pilot.press("shift+right", "ctrl+c")
        await until(lambda: app.copied == [LONG])
        await pilot.press("x")
        assert app.prompt.text == "x"


async def test_several_are_told_apart_and_stand_beside_each_other(running):
    async with running() as (app, pilot):
        await paste(app, pilot, LONG)
        await paste(app, pilot, WIDE)
        assert shown(app) == [MARK, WIDE_MARK]
        await pilot.press("left", "backspace")
        assert app.prompt.text == WIDE
        await pilot.press("ctrl+z")
        assert app.prompt.text == LONG + WIDE


async def test_a_key_shows_it_whole_and_undoing_folds_it_again(running):
    async with running() as (app, pilot):
        await pilot.press("a")
        await paste(app, pilot, LONG)
        await pilot.press("b", "ctrl+o")
        assert app.prompt.text == f"a{LONG}b"
        assert len(shown(app)) == 121
        await pilot.press("ctrl+z")
        assert shown(app) == ["a", MARK, "b"]


async def test_without_one_the_key_is_the_programs(running):
    async with running() as (app, pilot):
        await pilot.press("a", "ctrl+o", "b")
        assert app.prompt.text == "ab"


async def test_it_is_folded_again_where_its_text_comes_back(running):
    async with running() as (app, pilot):
        await paste(app, pilot, LONG)
        await paste(app, pilot, WIDE)
        text = app.prompt.text
        app.prompt.set_text("another session")
        app.prompt.set_text(f"before {text} after")
        assert shown(app) == ["before ", MARK, WIDE_MARK, " after"]
        assert app.prompt.text == f"before {text} after"


async def test_what_was_shown_whole_stays_so(running):
    async with running() as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.press("ctrl+o")
        app.prompt.set_text(LONG)
        assert len(shown(app)) == 121


async def test_what_a_terminal_would_obey_is_in_it_and_not_on_screen(running):
    async with running() as (app, pilot):
        await paste(app, pilot, HOSTILE * 50)
        await pilot.press("enter")
        await until(lambda: app.submitted == [HOSTILE * 50])
        assert not set("\x1b\x9b") & set("".join(app.screen_lines))


async def test_eight_mebibytes_are_pasted_and_typed_behind_at_once(running):
    text = "word " * (8 * 1024 * 1024 // 5)
    async with running() as (app, pilot):
        await paste(app, pilot, text)
        await pilot.press(*"abc")
        assert app.prompt.text == f"{text}abc"


def test_a_range_that_reaches_into_a_mark_means_all_of_it():
    document = PromptDocument(f"ab{LONG}cd", [LONG])
    assert document.lines == ["ab", MARK, "cd"]
    assert document.get_text_range((1, 3), (1, 5)) == LONG
    assert document.get_text_range((0, 1), (1, 5)) == f"b{LONG}"
    assert document.get_text_range((1, 5), (2, 1)) == f"{LONG}c"
    document.replace_range((1, 3), (1, 5), "")
    assert document.text == "abcd"


KEYS = [
    *("a", "b", "space", "enter_", "left", "right", "up", "down", "home", "end", "backspace"),
    *("delete", "ctrl+left", "ctrl+right", "ctrl+u", "ctrl+k", "ctrl+backspace", "shift+left"),
    *("shift+up", "shift+right", "ctrl+z", "ctrl+z", "ctrl+y", "ctrl+o", "ctrl+shift+k"),
]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(12))
async def test_whatever_is_done_can_be_undone_and_every_row_is_where_it_is_shown(running, seed):
    chance = random.Random(seed)
    async with running() as (app, pilot):
        for _ in range(45):  # as many as Textual undoes
            if chance.random() < 0.12:
                await paste(app, pilot, chance.choice([LONG, WIDE, "two\nlines"]))
            else:
                await pilot.press({"enter_": "ctrl+j"}.get(key := chance.choice(KEYS), key))
            assert "\n".join(shown(app)).count("\n") + 1 == len(
                app.editor.wrapped_document._line_index_to_offsets
            )
        final = app.prompt.text
        undone = 0
        while app.editor.history.undo_stack:
            app.editor.undo()
            undone += 1
        assert app.prompt.text == ""
        for _ in range(undone):
            app.editor.redo()
        assert app.prompt.text == final
