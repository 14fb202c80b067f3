"""A line that is typed: keys, paste and mouse, and characters of more than one code point."""

import pytest
from textual import events
from textual.app import App
from textual.widgets.input import Selection

from tests.waiting import until
from tui.widgets.line_input import LineInput, MaskedInput

FAMILY, FLAG, HINDI, THAI = "👨\u200d👩\u200d👧\u200d👦", "🇯🇵", "स्ते", "ก้ำ"
CHARACTERS = [FAMILY, FLAG, HINDI, THAI, "e\u0301", "👋🏽"]


class Lines(App):
    def compose(self):
        yield LineInput(compact=True, max_length=30, select_on_focus=False)

    @property
    def line(self):
        return self.query_one(LineInput)


@pytest.fixture
async def typed():
    """The line, and its pilot."""
    app = Lines()
    async with app.run_test() as pilot:
        yield app.line, pilot


async def press(text, *keys, at=None):
    """What comes of keys: the text, and what is selected."""
    app = Lines()
    async with app.run_test() as pilot:
        app.line.value = text
        app.line.cursor_position = len(text) if at is None else at
        await pilot.press(*keys)
        await until(lambda: app.line.has_focus)
        return app.line.value, (*app.line.selection,)


@pytest.mark.parametrize("character", CHARACTERS)
async def test_one_key_goes_over_or_deletes_a_whole_character(character):
    text, end = f"x{character}y", 1 + len(character)
    assert await press(text, "left", "left") == (text, (1, 1))
    assert await press(text, "right", at=1) == (text, (end, end))
    assert await press(text, "shift+left", at=end) == (text, (end, 1))
    assert await press(text, "shift+right", at=1) == (text, (1, end))
    assert await press(text, "backspace", at=end) == ("xy", (1, 1))
    assert await press(text, "delete", at=1) == ("xy", (1, 1))


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["alt+backspace"], "one 日本の"),
        (["ctrl+w"], "one 日本の"),
        (["ctrl+backspace", "ctrl+backspace"], "one 日本"),
        (["ctrl+left", "ctrl+left", "alt+d"], "one 日本テキスト"),
        (["ctrl+left", "ctrl+shift+left", "delete"], "one 日本テキスト"),
        (["home", "ctrl+delete"], " 日本のテキスト"),
        (["home", "ctrl+right", "ctrl+shift+right", "backspace"], "oneのテキスト"),
        (["ctrl+left", "ctrl+k"], "one 日本の"),
        (["alt+left", "ctrl+u"], "テキスト"),
    ],
)
async def test_words_are_those_of_the_prompt(keys, left):
    assert (await press("one 日本のテキスト", *keys))[0] == left


async def test_a_key_without_select_goes_to_the_end_of_what_is_selected():
    text = f"{FAMILY}ab"
    assert await press(text, "shift+left", "left") == (text, (len(text) - 1,) * 2)
    assert await press(text, "shift+left", "right") == (text, (len(text),) * 2)
    assert await press(text, "shift+left", "backspace") == (f"{FAMILY}a", (len(text) - 1,) * 2)


async def test_a_click_is_where_it_is_seen_two_select_a_word_and_three_all(typed):
    line, pilot = typed
    line.value = f"{FAMILY}{FLAG}ab"
    for cells, place in ((0, 0), (1, 0), (2, len(FAMILY)), (4, len(FAMILY + FLAG)), (9, None)):
        await pilot.click(LineInput, offset=(cells, 0))
        wanted = Selection.cursor(len(line.value) if place is None else place)
        await until(lambda wanted=wanted: line.selection == wanted)
    await pilot.press("home")
    strip = line.render_line(0)
    assert FAMILY in [segment.text for segment in strip]
    assert strip.cell_length == sum(segment.cell_length for segment in strip)
    line.value = "one 日本語の two"
    for times, selected in ((2, "日本語"), (3, "one 日本語の two")):
        await pilot.click(LineInput, offset=(6, 0), times=times)
        await until(lambda selected=selected: line.selected_text == selected)


@pytest.mark.parametrize(
    ("before", "pasted", "after"),
    [
        ("", "\n  one\ttwo\r\n\nthree\n", "one two three"),
        ("", " as it is \n", " as it is "),
        # As much as there is room for.
        ("ab", "x" * 40, "ab" + "x" * 28),
        ("ab", "x" * 25 + FAMILY, "ab" + "x" * 25),
    ],
)
async def test_pasted_lines_are_one_as_far_as_there_is_room(typed, before, pasted, after):
    line, _ = typed
    line.value = before
    line.post_message(events.Paste(pasted))
    await until(lambda: line.value == after)


async def test_a_joiner_that_is_typed_is_not_lost(typed):
    line, _ = typed
    for character in FAMILY + "\u200c":
        line.app.post_message(events.Key(character, character))
    await until(lambda: line.value == FAMILY + "\u200c")


# --- a secret, which is neither shown nor copied

KEY = "sk-0123"


class Asking(App):
    def compose(self):
        yield MaskedInput()


async def test_a_secret_is_drawn_as_dots_and_not_copied():
    app = Asking()
    async with app.run_test(size=(40, 5)) as pilot:
        line = app.query_one(MaskedInput)
        line.value = KEY
        await pilot.pause()
        assert "•" * len(KEY) in line.render_line(0).text
        assert KEY not in app.export_screenshot()
        await pilot.click(MaskedInput, offset=(3, 0))
        assert line.cursor_position == 3
        for key in ("ctrl+c", "ctrl+x"):
            line.select_all()
            await pilot.press(key)
            assert app.clipboard == ""
            assert line.value == KEY
