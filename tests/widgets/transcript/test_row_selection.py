import pytest
from textual.geometry import Offset
from textual.selection import Selection

from tests.visible_text import visible_text
from tests.widgets.transcript.conftest import answered, asked, numbered


async def drag(pilot, app, start, end):
    await pilot.mouse_down(app.transcript, offset=start)
    await pilot.hover(app.transcript, offset=end)
    await pilot.mouse_up(app.transcript, offset=end)


WORDS = " ".join(f"word{number}" for number in range(30))
ADDRESS, JAPANESE = "https://example.com/" + "path/" * 30, "日本語の文章はここで折り返される" * 6


@pytest.mark.parametrize(
    ("entry", "start", "end", "lines"),
    [
        (asked("one two three\n\nfour five"), (7, 1), (7, 3), ["two three", "four"]),
        (asked("日本語です"), (5, 1), (7, 1), ["本語"]),
        (asked(f"{ADDRESS}\n{JAPANESE}"), (3, 1), (58, 12), [ADDRESS, JAPANESE]),
        (answered("```py\nx = 1\ny = 2\n```"), (1, 3), (40, 4), ["x = 1", "y = 2"]),
        (
            answered("One.\n\n```py\nx = 1\n```\n\n- item\n\n  ```sh\n  ls\n  ```\n"),
            (3, 2),
            (40, 18),
            ["One.", "x = 1", "• item", "ls"],
        ),
        (
            answered(f"1. {WORDS}\n2. two\n   - {WORDS}"),
            (3, 2),
            (56, 18),
            [f"1. {WORDS}", "2. two", f"• {WORDS}"],
        ),
        (
            answered(f"> {WORDS}\n>\n> > inner ▌ one"),
            (3, 2),
            (58, 12),
            [f"> {WORDS}", "> > inner ▌ one"],
        ),
    ],
    ids=["part", "wide", "no blanks", "code", "frames", "list", "quote"],
)
async def test_what_is_dragged_over_is_copied_in_the_lines_that_were_written(
    opened, entry, start, end, lines
):
    async with opened(entry) as (app, pilot):
        await drag(pilot, app, start, end)
        copied = [line.strip() for line in app.screen.get_selected_text().split("\n")]
        assert [line for line in copied if line] == lines


@pytest.mark.parametrize(
    "entry",
    [asked(WORDS), answered(WORDS), answered(f"**{WORDS}**"), answered(f"{WORDS} *end*")],
)
async def test_a_line_that_goes_on_below_is_copied_as_one(opened, entry):
    async with opened(entry) as (app, pilot):
        row = next(y for y, text in enumerate(visible_text(app.transcript)) if "word1 " in text)
        await drag(pilot, app, (3, row), (56, row + 6))
        assert WORDS in app.screen.get_selected_text().split("\n")[0]


async def test_a_part_of_a_line_that_goes_on_is_copied_from_where_it_begins_and_is_seen(opened):
    async with opened(asked(WORDS)) as (app, pilot):
        before = [s.style for s in app.transcript.render_line(2) if s.text.strip()]
        await drag(pilot, app, (9, 2), (8, 3))
        selected = app.screen.get_selected_text()
        assert "\n" not in selected
        assert selected in WORDS
        after = [s.style for s in app.transcript.render_line(2) if s.text.strip() in selected]
        after = [style for style in after if style.bgcolor != before[-1].bgcolor]
        assert after
        # The text itself, too: it was of the colour that is behind it.
        assert after[-1].color == before[-1].color
        assert after[-1].color != after[-1].bgcolor


async def test_rows_of_a_table_stay_rows(opened):
    text = f"| a | b |\n|---|---|\n| one | {WORDS[:90]} |\n| two | x |"
    async with opened(answered(text)) as (app, pilot):
        await drag(pilot, app, (3, 1), (58, 12))
        rows = app.screen.get_selected_text().split("\n")
        assert next(row for row in rows if "two" in row).split() == ["two", "x"]


async def test_a_selection_stays_with_its_words_when_something_moves(opened):
    async with opened(*numbered(20, 21), earlier=True) as (app, pilot):
        await drag(pilot, app, (3, 18), (20, 19))
        before = app.screen.get_selected_text()
        app.conversation.prepend(numbered(20), earlier=False)
        app.conversation.put(answered("news"))
        await pilot.press("up", "up", "up")
        assert app.screen.get_selected_text() == before
        assert "question" in before


async def test_a_double_click_selects_the_paragraph_and_a_triple_one_the_message(opened):
    async with opened(answered("One here.\n\nTwo there.")) as (app, pilot):
        await pilot.double_click(app.transcript, offset=(5, 2))
        assert app.screen.get_selected_text() == "One here."
        await pilot.triple_click(app.transcript, offset=(5, 2))
        assert app.screen.get_selected_text().split() == ["answer", "One", "here.", "Two", "there."]


async def test_a_selection_without_ends_is_what_is_on_screen_and_of_what_is_gone_nothing(opened):
    async with opened(*numbered(500)) as (app, _):
        text, _ = app.transcript.get_selection(Selection(None, None))
        assert text.split("\n")[-1] == "question 500"
        assert len(text.split("\n")) == app.transcript.size.height
        selection = Selection(Offset(0, 10**12), Offset(3, 10**12))
        assert app.transcript.get_selection(selection) is None
