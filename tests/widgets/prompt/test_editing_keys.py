"""What each key does in the prompt, and what it says of it."""

from itertools import accumulate

import pytest
from textual import events

from tests.waiting import until
from tests.widgets.prompt.conftest import PROGRAM_KEYS

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


def press(app, *keys):
    """Put keys where the terminal puts them, all at once."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


async def test_enter_submits_the_text_as_it_is_and_empties_the_prompt(app, pilot):
    for text in ("hi", "a\\\\"):
        await pilot.press(*text, "enter")
        assert app.prompt.text == ""
        await until(lambda text=text: app.submitted[-1:] == [text])
    press(app, *"会話")
    await until(lambda: app.prompt.text == "会話")
    x, _ = app.editor.content_region.offset
    assert app.cursor_position.x == x + 4
    press(app, "enter")
    await until(lambda: app.submitted == ["hi", "a\\\\", "会話"])


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        *((["a", key, "b"], "a\nb") for key in ("shift+enter", "ctrl+j", "alt+enter")),
        (["a", "\\", "enter", "b"], "a\nb"),
        (["a", "b", "left", "\\", "enter"], "a\nb"),
        (["/", "n", "\\", "enter", "b"], "/n\nb"),
        ([*"\\\\\\", "enter"], "\\\\\n"),
    ],
)
async def test_some_keys_and_enter_behind_a_backslash_break_the_line_and_send_nothing(
    app, keys, text
):
    press(app, *keys)
    await until(lambda: app.prompt.text == text)
    assert app.submitted == []


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (["a", "b", "backspace"], ["a", "ab", "a"]),
        (["a", "ctrl+z"], ["a", ""]),
        (["space", "ctrl+j", "space", "enter"], [" ", " \n", " \n "]),
    ],
)
async def test_each_change_by_the_user_is_told_and_blank_text_is_not_submitted(
    app, pilot, keys, told
):
    await pilot.press(*keys)
    await until(lambda: app.edited == told)
    assert app.submitted == []


@pytest.mark.parametrize(
    ("keys", "copied", "left"),
    [
        (["shift+home", "ctrl+c"], "two", "one\ntwo"),
        (["shift+left", "ctrl+x"], "o", "one\ntw"),
        (["ctrl+x"], "two", "one\n"),
    ],
)
async def test_a_selection_or_the_line_is_copied_or_cut(app, pilot, keys, copied, left):
    app.prompt.set_text("one\ntwo")
    await pilot.press(*keys)
    await until(lambda: app.copied == [copied])
    assert app.prompt.text == left
    assert app.pressed == []


async def test_a_text_that_is_set_is_not_told_and_two_keys_take_its_last_word_back(app, pilot):
    for number, key in enumerate(("alt+backspace", "ctrl+w"), 1):
        app.prompt.set_text("one two")
        await pilot.press(key)
        await until(lambda number=number: app.edited == ["one "] * number)


async def test_keys_typed_faster_than_prompts_are_taken_make_prompts_of_their_own(app, pilot):
    press(app, *"one", "enter", *"two", "enter", "enter", *"three")
    await until(lambda: app.prompt.text == "three")
    await until(lambda: app.edited[-1:] == ["three"])
    await pilot.pause()
    assert app.submitted == ["one", "two"]


@pytest.mark.parametrize("key", [*PROGRAM_KEYS, "ctrl+c"])
async def test_a_key_of_the_program_is_left_to_it(app, pilot, key):
    await pilot.press(*"two words", key)
    await until(lambda: app.pressed == [key])
    assert app.prompt.text == "two words"
    assert app.copied == []


@pytest.mark.parametrize("key", ["tab", "shift+tab"])
async def test_tab_leaves_neither_an_ordinary_text_nor_an_empty_prompt(app, pilot, key):
    app.query_one("#top").can_focus = True
    await pilot.press(key, *"word", key, "s")
    await until(lambda: app.prompt.text == "words")


async def test_in_a_text_that_does_not_fit_paging_moves_the_caret_and_no_bracket_is_looked_for(
    app, pilot
):
    app.prompt.set_text("line\n" * 50)
    await until(lambda: app.prompt.region.height == 8)
    await pilot.press("pageup", "pageup", "pagedown")
    assert app.editor.cursor_location[0] == 50 - 6
    assert app.pressed == []
    app.prompt.set_text("(a)")
    await pilot.press("left")
    assert app.editor.matching_bracket_location is None


async def test_what_is_seen_as_one_character_is_one_for_the_caret(app, pilot):
    characters = ["a", FAMILY, "b", "e\u0301", "❤\ufe0f", "👋🏽", "🇯🇵", "ש", "本"]
    app.prompt.set_text("".join(characters))
    columns = [0, *accumulate(map(len, characters))]
    for column in reversed(columns[:-1]):
        await pilot.press("left")
        assert app.editor.cursor_location == (0, column)
    for column in columns[1:]:
        await pilot.press("right")
        assert app.editor.cursor_location == (0, column)
    await pilot.press(*["backspace"] * 7)
    assert app.prompt.text == f"a{FAMILY}"
    await pilot.press("left", "delete")
    assert app.prompt.text == "a"
