"""Rows as wide as the pane, and words in lines that an eye can follow."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tests.examples import examples
from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked, calling, result, showing, text_of
from tui.domain.journal.message import Message, ToolCall
from tui.domain.search.find import Match, needle
from tui.widgets.transcript.canvas import GUTTER, MEASURE, NAMES, Canvas
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.row_blocks import Code

# fmt: off
PIECES = st.sampled_from([
    "a", "word ", "  ", "\t", "\n", "\n\n", "日本語", "ｶﾅ", "é", "e\u0301\u0301", "שלום", "مرحبا",
    "👨\u200d👩\u200d👧\u200d👦", "🇯🇵", "🇯", "👍🏽", "❤\ufe0f",
    "\u200d", "\u200b", "\u202e", "\x1b[31m", "\x9b",
    "w" * 90, "語" * 70, "https://example.com/" + "x" * 80, "`code`", "**bold**", "[a](https://b)",
    "- ", "1. ", "   - ", "> ", "# ", "---\n", "```python\n", "```\n", "   ```sh\n",
    "| a | b |\n|---|---|\n",
])
# fmt: on
TEXT = st.lists(PIECES, max_size=40).map("".join)
LOOK = dict.fromkeys(NAMES, Style())


def entries(text):
    return [
        Message("u", "user", text, ""),
        Message("a", "assistant", text, "", (ToolCall("t", "read", {"path": text}),), model=text),
        Message("t", "tool", text, "", tool_call_id="t"),
        Message("f", "assistant", "", "", status="failed", error=text),
    ]


@examples(0.6)
@given(TEXT, st.integers(20, 300), st.integers(0, 200))
def test_every_row_is_exactly_as_wide_as_the_pane(text, width, moved):
    conversation = showing(entries(text))
    conversation.inform_all()
    for item in conversation.layout:
        item.unfolded = frozenset({0})
        for block in item.blocks():
            for _ in range(2):
                for strip in block.strips(Canvas(width, LOOK)):
                    assert strip.cell_length == width
                    assert sum(cell_len(segment.text) for segment in strip) == width
                if isinstance(block, Code):
                    block.sideways.cells = moved


@examples(0.3)
@given(st.lists(TEXT, max_size=6), st.lists(st.integers(20, 300), min_size=6, max_size=6))
def test_also_while_it_arrives_and_the_width_changes(pieces, widths):
    conversation = Document()
    for piece, width in zip(pieces, widths, strict=False):
        conversation.add_text("a", piece)
        conversation.draw_on(Canvas(width, LOOK), 40)
        assert all(row.strip.cell_length == width for row in conversation.rows())


WORDS = " ".join(f"word{n}" for n in range(100))
WIDE = (240, 43)


def rows(entry, page, *, width=240, unfolded=False):
    """What is drawn of an entry, without the gutter."""
    conversation = showing([entry])
    for item in conversation.layout:
        item.unfolded = frozenset({0} if unfolded else ())
        for block in item.blocks():
            yield from (text_of(strip)[GUTTER:] for strip in block.strips(page(width)))


TABLE = f"| a | b |\n|---|---|\n| 1 | {WORDS} |"
PROSE = MEASURE - 8, MEASURE
WHOLE = MEASURE + 21, 240


@pytest.mark.parametrize(
    ("entry", "bounds", "options"),
    [
        (asked(WORDS), PROSE, {}),
        (answered(WORDS), PROSE, {}),
        (answered(f"# {WORDS}"), PROSE, {}),
        (answered(f"- {WORDS}\n  - {WORDS}"), PROSE, {}),
        (answered(f"1. {WORDS}"), PROSE, {}),
        (answered(f"> {WORDS}"), PROSE, {}),
        (answered(f"**bold** {WORDS}\n\n---\n\n{WORDS}"), PROSE, {}),
        (answered("語" * 400), PROSE, {}),
        (answered(f"日本語の*段落* {'語' * 400}"), PROSE, {}),
        (answered("x" * 400), PROSE, {}),
        (answered("", status="failed", error=WORDS), PROSE, {}),
        # A table in a list is as wide as the list; all of less room is used.
        (answered(f"- item\n\n  {TABLE.replace(chr(10), chr(10) + '  ')}"), (0, MEASURE), {}),
        (answered(WORDS), (90 - GUTTER - 1 - 8, 90 - GUTTER - 1), {"width": 90}),
        # What is no prose takes the room there is.
        (answered(f"```\n{'x' * 300}\n```"), WHOLE, {}),
        (answered(TABLE), WHOLE, {}),
        (answered(f"Above:\n{TABLE}"), WHOLE, {}),
        (result(WORDS), WHOLE, {"unfolded": True}),
        (calling(arguments={"words": WORDS}), WHOLE, {}),
    ],
)
def test_words_are_in_lines_of_a_hundred_cells_and_all_else_takes_the_room(
    page, entry, bounds, options
):
    least, most = bounds
    assert least <= max(cell_len(row) for row in rows(entry, page, **options)) <= most


async def test_the_words_at_the_top_stay_when_the_width_passes_the_limit(opened):
    paragraphs = "\n\n".join(f"{WORDS} {n}" for n in range(20))
    async with opened(answered(paragraphs, "a"), size=(90, 23)) as (app, pilot):
        await pilot.press("pageup", "pageup")
        for _ in range(9):
            await pilot.press("up")
        before = visible_text(app.transcript)[0].split()[0]
        for width in (130, 240, 104, 105, 90):
            await pilot.resize_terminal(width, 23)
            await until(lambda w=width: app.transcript.size.width == w)
            await pilot.pause()
            assert before in visible_text(app.transcript)[0].split()


async def test_heights_are_right_on_both_sides_of_the_limit(opened):
    shown = [asked(WORDS, "q"), answered(f"{WORDS}\n\n- {WORDS}\n\n```\nx\n```", "a")]
    async with opened(*shown, size=(90, 23)) as (app, pilot):
        conversation = app.conversation
        for width in (240, 300, 90, 103, 104, 105, 106):
            await pilot.resize_terminal(width, 43)
            await until(lambda w=width: app.transcript.size.width == w)
            await pilot.pause()
            drawn = sum(
                len(conversation.strips_of(item, block))
                for item in conversation.layout
                for block, _ in enumerate(item.blocks())
            )
            assert conversation.layout.total == drawn


async def test_a_word_over_the_edge_of_a_row_is_found(opened):
    text = "語" * 45 + "会話" + "検索の言葉" + "語" * 45
    async with opened(asked("why", "q"), answered(text, "a"), size=WIDE) as (app, pilot):
        app.transcript.finder.look_for(needle("会話検索の言葉"))
        assert app.transcript.finder.show(Match("a", 0), unfold=False)
        await pilot.pause()
        style = app.transcript.get_component_rich_style("transcript--match-current")
        marked = "".join(
            segment.text
            for y in range(app.transcript.size.height)
            for segment in app.transcript.render_line(y)
            if segment.style and segment.style.bgcolor == style.bgcolor
        )
        assert marked == "会話検索の言葉"


async def test_words_of_two_rows_are_copied_as_the_line_that_they_are(opened):
    async with opened(answered(WORDS, "a"), size=WIDE) as (app, pilot):
        seen = [row for row in visible_text(app.transcript) if "word" in row]
        top = visible_text(app.transcript).index(seen[0])
        await pilot.mouse_down(app.transcript, offset=(GUTTER, top))
        await pilot.hover(app.transcript, offset=(200, top + 1))
        await pilot.mouse_up(app.transcript, offset=(200, top + 1))
        assert app.screen.get_selected_text() == " ".join(row[GUTTER:] for row in seen[:2])
        assert all(len(row) <= GUTTER + MEASURE for row in seen)
        assert all(len(a) + 7 > MEASURE for a, _ in pairwise(seen))


@pytest.mark.parametrize("text", ["{}", "Above:\n{}", "Above:\n\n{}"])
def test_a_table_begins_where_words_do_and_one_blank_row_below_them(page, text):
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    seen = list(rows(answered(text.format(table)), page))
    assert seen[-3:] == ["a  b", "────", "1  2"]
    assert "Above:" not in text or seen[-5:-3] == ["Above:", ""]
