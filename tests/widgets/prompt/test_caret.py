"""Where keys and clicks put the caret, what they cut, and edits by chance, undone and redone."""

import random

import pytest
from rich.cells import cell_len
from textual import events
from textual.widgets.text_area import Selection, WrappedDocument

from tests.waiting import until
from tests.widgets.prompt.test_paste import paste
from tui.widgets.prompt import prompt_document as document

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


async def test_up_down_and_clicks_lead_to_the_edge_of_a_character(app, pilot):
    app.prompt.set_text(f"{FAMILY}{FAMILY}b\n1234567")
    for column, place in ((1, 0), (2, len(FAMILY)), (3, len(FAMILY)), (4, 2 * len(FAMILY))):
        app.editor.move_cursor((1, column))
        await pilot.press("up")
        assert app.editor.cursor_location == (0, place)
        await pilot.press("down")
        assert app.editor.cursor_location == (1, column)
    app.prompt.set_text(f"{FAMILY}\t{FAMILY}b")
    begin = len(FAMILY) + 1
    await until(lambda: app.editor.content_size.height == 1)
    for cells, place in ((1, 0), (3, len(FAMILY)), (5, begin), (6, begin + len(FAMILY))):
        await pilot.click("Editor", offset=(2 + cells, 1))
        await until(lambda place=place: app.editor.cursor_location == (0, place))
    await pilot.press("home")
    await until(lambda: app.editor.cursor_location == (0, 0))
    assert FAMILY in [segment.text for segment in app.editor.render_line(0)]
    frame = [row for row in app.screen_lines if row[:1] in ("╭", "│", "╰")]
    assert {cell_len(row) for row in frame} == {60}
    # Two clicks select a word, and three the row.
    app.prompt.set_text("one 日本語の two\nrow")
    await until(lambda: app.editor.content_size.height == 2 and app.editor.scroll_y == 0)
    for times, selected in ((2, "日本語"), (3, "one 日本語の two")):
        await pilot.click("Editor", offset=(8, 0), times=times)
        await until(lambda selected=selected: app.editor.selected_text == selected)


async def test_home_and_end_are_those_of_the_row_and_then_of_the_line(running):
    async with running((30, 24)) as (app, pilot):
        app.prompt.set_text(FAMILY * 20)
        rows = app.editor.wrapped_document.get_sections(0)
        assert len(rows) > 1
        assert all(len(row) % len(FAMILY) == 0 for row in rows)
        app.editor.move_cursor((0, 0))
        await pilot.press("end")
        assert app.editor.cursor_location[1] % len(FAMILY) == 0
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


async def test_what_was_cut_is_put_back_also_elsewhere_once_there_is_nothing_to_redo(app, pilot):
    app.prompt.set_text("one two three\nfour")
    await pilot.press("up", "ctrl+e", "alt+backspace", "alt+backspace", "ctrl+a", "ctrl+y")
    assert app.prompt.text == "two threeone \nfour"
    await pilot.press("ctrl+z", "ctrl+k", "ctrl+e", "ctrl+y", "ctrl+y")
    assert app.prompt.text == "one one \nfour"
    app.prompt.set_text("one two")
    await pilot.press("alt+backspace", "ctrl+z")
    assert app.prompt.text == "one two"
    await pilot.press("ctrl+y")
    assert app.prompt.text == "one "
    await pilot.press("ctrl+y", "ctrl+underscore")
    assert app.prompt.text == "one "
    # Words of Japanese end with their script.
    app.prompt.set_text("日本語のテキスト")
    await pilot.press("alt+backspace", "alt+backspace")
    assert app.prompt.text == "日本語"
    # A folded paste comes back folded.
    app.prompt.set_text("")
    await paste(app, pilot, "long\n" * 20)
    await until(lambda: len(app.editor.document.pastes) == 1)
    await pilot.press("x", "ctrl+u", "ctrl+u")
    await until(lambda: app.prompt.text == "")
    await pilot.press("ctrl+y")
    assert app.prompt.text == "long\n" * 20 + "x"
    assert len(app.editor.document.pastes) == 1


async def test_a_joiner_that_is_typed_is_not_lost(app):
    for character in FAMILY + "\u200c":
        app.post_message(events.Key(character, character))
    await until(lambda: app.prompt.text == FAMILY + "\u200c")


PIECES = [
    *("a", "bc def ghi", "\n", "\n\n", "x" * 55, "\t", "\x1b\x9b\u202e", ""),
    "会話の" * 12 + "\n" + "y z " * 15,
]
ACTIONS = [
    *("delete_left", "delete_left", "delete_right", "delete_word_left", "delete_word_right"),
    *("delete_to_start_of_line", "cursor_left", "cursor_right", "cursor_word_left"),
    "cursor_word_right",
]


def place(editor, chance):
    row = chance.randrange(editor.document.line_count)
    return row, chance.randint(0, len(editor.document[row]))


def change(editor, chance):
    kind = chance.random()
    if kind < 0.5:
        start, end = place(editor, chance), place(editor, chance)
        editor.replace(chance.choice(PIECES), start, end, maintain_selection_offset=False)
        editor.selection = Selection.cursor(place(editor, chance))
    elif kind < 0.8:
        for _ in range(chance.randrange(1, 25)):
            getattr(editor, f"action_{chance.choice(ACTIONS)}")()
    elif kind < 0.9:
        editor.undo()
    else:
        editor.redo()


def wrapping(wrapped):
    return wrapped._wrap_offsets, wrapped._offset_to_line_info, wrapped._line_index_to_offsets


@pytest.mark.full
@pytest.mark.parametrize("row_characters", [20, 4000])
async def test_edits_by_chance_keep_text_and_rows_together(running, monkeypatch, row_characters):
    monkeypatch.setattr(document, "ROW_CHARACTERS", row_characters)
    async with running((30, 24)) as (app, _):
        editor = app.editor
        editor.history.max_checkpoints = 1000
        editor.history.__post_init__()
        for seed in range(60):
            chance = random.Random(seed)
            start = "".join(chance.choices(PIECES, k=4))
            app.prompt.set_text(start)
            for _ in range(10):
                change(editor, chance)
                anew = WrappedDocument(editor.document, tab_width=4)
                anew.wrap(editor.wrap_width, 4)
                assert wrapping(editor.wrapped_document) == wrapping(anew), seed
            while editor.history.undo_stack:
                editor.undo()
            assert editor.text == start, seed


async def test_moving_by_words_goes_over_the_end_of_a_row(running, monkeypatch):
    monkeypatch.setattr(document, "ROW_CHARACTERS", 8)
    async with running() as (app, pilot):
        app.prompt.set_text("one two thirty four")
        assert app.editor.document.lines == ["one two ", "thirty ", "four"]
        await pilot.press("home", "ctrl+left")
        assert app.editor.cursor_location == (1, 0)
        app.editor.move_cursor((0, 8))
        await pilot.press("ctrl+right")
        assert app.editor.cursor_location == (1, 6)
        await pilot.press("alt+backspace", "alt+backspace", "alt+backspace")
        assert app.prompt.text == " four"
