"""Pastes: whatever is in them stands in the text, sends nothing, and never reaches the terminal."""

import random

import pytest
from textual import events

from tests.waiting import until
from tests.widgets.prompt.conftest import Surroundings
from tui.domain.references import OWN_SIGN
from tui.widgets.prompt import Prompt
from tui.widgets.prompt.prompt_document import ROW_CHARACTERS, PromptDocument, Rows, marked_rows

HOSTILE = (
    "\x1b]52;c;ZXZpbA==\x1b\\ \x9b2J\x85 \u202eabc \u2066 \U000e0041 \x07\x7f \u2028 \ud800 [b]"
)
UNSAFE = set("\x1b\x9b\x85\u202e\u2066\U000e0041\x07\x7f\u2028\ud800")


async def paste(app, pilot, text):
    app.editor.post_message(events.Paste(text))
    await pilot.pause()


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
async def test_a_paste_of_several_lines_is_inserted_and_not_sent(app, pilot, line_break):
    await paste(app, pilot, line_break.join(["one", "two", ""]))
    await until(lambda: app.edited == ["one\ntwo\n"])
    assert app.submitted == []


async def test_a_paste_replaces_the_selection_and_goes_no_further_than_the_prompt(app, pilot):
    await pilot.press(*"ab", "shift+left")
    await paste(app, pilot, "c\nd")
    assert app.prompt.text == "ac\nd"
    await pilot.press("!")
    await until(lambda: app.prompt.text == "ac\nd!")
    assert app.query_one(Surroundings).pasted == 0


async def test_what_a_terminal_would_obey_is_kept_copied_and_not_shown(app, pilot):
    await paste(app, pilot, HOSTILE)
    await until(lambda: "␛]52;c;ZXZpbA==␛\\" in "".join(app.screen_lines))
    assert not UNSAFE & set("".join(app.screen_lines))
    await pilot.press("f7", "ctrl+c")
    await until(lambda: app.copied == [HOSTILE])
    # Each mark takes the one cell that the caret counts.
    await pilot.press("right", "!", "left")
    assert app.screen_lines[app.cursor_position.y][app.cursor_position.x] == "!"
    await pilot.press("delete", "enter")
    await until(lambda: app.submitted == [HOSTILE])
    # Also where it is folded.
    await paste(app, pilot, HOSTILE * 50)
    await pilot.press("enter")
    await until(lambda: app.submitted[1:] == [HOSTILE * 50])
    assert not set("\x1b\x9b") & set("".join(app.screen_lines))


async def test_a_hostile_selection_and_what_is_under_the_caret_are_not_shown_either(app, pilot):
    await paste(app, pilot, "\n".join(HOSTILE))
    await pilot.press("f7")
    assert not UNSAFE & set("".join(app.screen_lines))
    for _ in range(8):
        await pilot.press("up")
        assert not UNSAFE & set("".join(app.screen_lines))


async def test_undoing_and_redoing_bring_back_every_character(app, pilot):
    app.prompt.set_text("before")
    await paste(app, pilot, HOSTILE)
    await pilot.press("f7", "backspace", "ctrl+z")
    assert app.prompt.text == "before" + HOSTILE
    await pilot.press("ctrl+z")
    assert app.prompt.text == "before"
    await pilot.press("ctrl+y")
    assert app.prompt.text == "before" + HOSTILE


async def test_no_row_of_a_long_paste_is_longer_than_what_a_key_can_wrap(app, pilot):
    text = "x" * 100_000 + "\n" + "word " * 20_000
    await paste(app, pilot, text)
    assert app.prompt.text == text
    await pilot.press("ctrl+o")
    assert app.prompt.text == text
    assert max(map(len, app.editor.document.lines)) == ROW_CHARACTERS
    # Deleting over the end of a row deletes a character.
    text = "x" * ROW_CHARACTERS + "yz"
    app.prompt.set_text("")
    await paste(app, pilot, text)
    await pilot.press("ctrl+o", "left", "left", "backspace")
    assert app.prompt.text == text[1:]
    await pilot.press("ctrl+z")
    app.editor.move_cursor((0, ROW_CHARACTERS))
    await pilot.press("delete")
    assert app.prompt.text == "x" * ROW_CHARACTERS + "z"


async def test_a_paste_that_brought_a_scrollbar_can_be_undone(app, pilot):
    await paste(app, pilot, "line\n" * 9)
    await until(lambda: app.editor.show_vertical_scrollbar)
    await pilot.press("ctrl+z", "x")
    assert app.prompt.text == "x"
    await until(lambda: app.prompt.region.height == 3)


LONG = "".join(f"line {number}\n" for number in range(120))
WIDE = "x" * 1500
MARK, WIDE_MARK = "[pasted 120 lines]", "[pasted 1,500 characters]"


def shown(app):
    return list(app.editor.document.lines)


async def test_a_long_paste_is_one_mark_and_sent_whole(app, pilot):
    await pilot.press("a")
    await paste(app, pilot, LONG)
    await pilot.press("b")
    assert shown(app) == ["a", MARK, "b"]
    await until(lambda: any(MARK in row for row in app.screen_lines))
    await pilot.press("enter")
    await until(lambda: app.submitted == [f"a{LONG}b"])


async def test_it_is_folded_over_ten_lines_or_a_thousand_characters(app, pilot):
    for text, is_folded in (
        ("line\n" * 10, False),
        ("line\n" * 11, True),
        ("x" * 1000, False),
        ("日" * 1001, True),
    ):
        app.prompt.set_text("")
        await paste(app, pilot, text)
        assert shown(app)[0].startswith("[pasted") == is_folded
        assert app.prompt.text == text
    for line_break in ("\r\n", "\r"):
        app.prompt.set_text("")
        await paste(app, pilot, LONG.replace("\n", line_break))
        assert shown(app) == [MARK]
        assert app.prompt.text == LONG


async def test_a_key_shows_it_whole_and_undoing_folds_it_again(app, pilot):
    await pilot.press("a", "ctrl+o")
    await paste(app, pilot, LONG)
    await pilot.press("b", "ctrl+o")
    assert shown(app) == f"a{LONG}b".split("\n")
    assert app.prompt.text == f"a{LONG}b"
    await pilot.press("ctrl+z")
    assert shown(app) == ["a", MARK, "b"]
    # Another key may be chosen; and what was shown whole stays so.
    app.set_keymap({"prompt-unfold": "ctrl+u"})
    await pilot.press("ctrl+o")
    assert shown(app) == ["a", MARK, "b"]
    await pilot.press("ctrl+u")
    assert len(shown(app)) == 121
    app.prompt.set_text(LONG)
    assert len(shown(app)) == 121


async def test_the_caret_goes_over_it_in_one_step_and_half_of_it_means_the_whole(app, pilot):
    await paste(app, pilot, LONG)
    await pilot.press("left", "x", "right", "y")
    assert app.prompt.text == f"x{LONG}y"
    await pilot.press("left", "left", "left", "z")
    assert app.prompt.text == f"zx{LONG}y"
    await pilot.press("end", "ctrl+right", "!")
    assert app.prompt.text == f"zx{LONG}!y"
    await pilot.press("left", "ctrl+left", "?")
    assert app.prompt.text == f"zx?{LONG}!y"
    app.prompt.set_text(LONG)
    await until(lambda: app.prompt.region.height == 3)
    await pilot.click(app.editor, offset=(6, 1))
    await until(lambda: app.editor.cursor_location == (0, 0))
    await pilot.press("shift+right", "ctrl+c")
    await until(lambda: app.copied == [LONG])
    await pilot.press("x")
    assert app.prompt.text == "x"


@pytest.mark.parametrize(
    ("key", "caret"),
    [
        *((key, (1, len(MARK))) for key in ("backspace", "ctrl+backspace", "ctrl+u")),
        ("delete", (0, 1)),
    ],
)
async def test_it_is_deleted_as_one(app, pilot, key, caret):
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


async def test_several_stand_beside_each_other_and_are_folded_again_where_they_come_back(
    app, pilot
):
    await paste(app, pilot, LONG)
    await paste(app, pilot, WIDE)
    assert shown(app) == [MARK, WIDE_MARK]
    await pilot.press("left", "backspace")
    assert app.prompt.text == WIDE
    await pilot.press("ctrl+z")
    assert app.prompt.text == LONG + WIDE
    app.prompt.set_text("another session")
    app.prompt.set_text(f"before {LONG}{WIDE} after")
    assert shown(app) == ["before ", MARK, WIDE_MARK, " after"]
    assert app.prompt.text == f"before {LONG}{WIDE} after"


async def test_eight_mebibytes_are_pasted_and_typed_behind_at_once(app, pilot):
    text = "word " * (8 * 1024 * 1024 // 5)
    await paste(app, pilot, text)
    await pilot.press(*"abc")
    assert app.prompt.text == f"{text}abc"


def test_a_range_that_reaches_into_a_mark_means_all_of_it():
    document = PromptDocument(Rows(marked_rows(f"ab{LONG}cd", [LONG])))
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
async def test_whatever_is_done_can_be_undone_and_every_row_is_where_it_is_shown(app, pilot, seed):
    chance = random.Random(seed)
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


PASTED = {
    "page": "\n".join(f"{number} see @b.txt, (@c.txt) or @~/.ssh/id_rsa" for number in range(20)),
    "b": "see @b.txt",
    "sign": "@",
    "c": "c.txt ",
    "mark": f"{OWN_SIGN}b.txt ",
    "x": "x@b.txt",
    "rest": ".txt",
    "long": "c.txt " + "x" * 2000,
}


async def type_in(app, pilot, text):
    """Type a text; ``{...}`` in it is pasted, ``<...>`` a key."""
    while text:
        key, text = text[0], text[1:]
        if key == "{":
            name, _, text = text.partition("}")
            app.editor.post_message(events.Paste(PASTED[name]))
            await pilot.pause()
            continue
        if key == "<":
            key, _, text = text.partition(">")
        await pilot.press(key)


@pytest.mark.parametrize(
    ("keys", "own"),
    [
        ("@a.txt {page}", {"@a.txt"}),
        ("{page} and @a.txt", {"@a.txt"}),
        ("{page}", set()),
        ("{b}", set()),
        ("{b}<left><left><left><left><left><left><left>", set()),
        ("{b}<backspace>t", set()),
        ("{x}<home><delete>", set()),
        ("{sign}a.txt", set()),
        ("{sign}{c}", set()),
        ("{mark}", set()),
        ("@{c}", {"@c.txt"}),
        ("@{long}", set()),
        ("{c}<home>@", {"@c.txt"}),
        ("@a{rest}", {"@a.txt"}),
        ("@a.txt <ctrl+z>{b}", set()),
        ("@a.txt {b}<ctrl+z><ctrl+z><ctrl+y><ctrl+y>", {"@a.txt"}),
        ("@a.txt <ctrl+u>{b} <ctrl+y>", {"@a.txt"}),
        ("{b} <ctrl+u><ctrl+y>", set()),
        ("{page}<ctrl+o>", set()),
    ],
)
async def test_only_a_sign_of_the_users_own_refers(app, pilot, keys, own):
    await type_in(app, pilot, keys)
    await pilot.press("enter")
    await until(lambda: app.submitted, "the prompt")
    assert [each.own for each in app.posted if isinstance(each, Prompt.Submitted)] == [own]
