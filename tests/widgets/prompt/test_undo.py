"""Edits by chance, undone and done again: the text, its rows and what is shown never part."""

import random

import pytest
from textual.widgets.text_area import Selection, WrappedDocument

from tui.widgets.prompt import prompt_document as document

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
