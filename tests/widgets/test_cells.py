"""Texts in places of so many cells, and where rows are broken."""

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console

from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.text import cell_width
from tui.widgets.cells import cut, cut_middle, cut_start, fill, one_line, wrap_hanging, wrap_words
from tui.widgets.transcript.rich_markdown import prose

TEXTS = st.text(st.sampled_from("a語👩❤\u200d\u0301\ufe0f "), max_size=12)


@given(TEXTS, st.integers(2, 12))
@example("\u200d\u200da", 2)
@example("\u200d\u200d語aa", 3)
def test_any_text_is_fit_into_cells(text, cells):
    assert cell_len(cut(text, cells)) <= cells
    # Rich and Textual do so with the rows that they draw, and are not to fail.
    set_cell_size(text, cells)
    chop_cells(text, cells)


@each_row(
    "text, cells",
    [
        ("👨\u200d👩\u200d👧", 2),
        ("❤\ufe0f\u200d🔥", 2),
        ("👩🏽\u200d🚀", 2),
        ("c\u200dd", 2),
        ("\u200d│", 1),
        ("\u200d👩", 0),
        ("\u200d\u200d│", 1),
        ("👩\u200dx", 3),
        ("x\u200d👩", 3),
        ("क्\u200dष", 2),
    ],
)
def test_a_joiner_takes_the_room_of_pictures_alone(text, cells):
    assert cell_len(text) == cells
    assert "".join(chop_cells(text, 1)) == text


@given(any_text(30), st.integers(0, 30))
def test_any_text_is_cut_and_filled_to_cells(text, cells):
    line = one_line(text)
    assert cell_len(cut(line, cells)) <= cells
    assert cell_len(fill(line, cells)) == cells
    if 0 < max(cell_len(line), cell_width(line)) <= cells:
        assert cut(line, cells) == line
    for shorter in (cut_start(line, cells), cut_middle(line, cells)):
        assert cell_len(shorter) <= cells
        if cell_len(line) <= cells:
            assert shorter == line


def test_a_cut_leaves_the_end_of_a_path_and_both_ends_of_a_name():
    assert cut_start("/home/u/notes/today.md", 12) == "…es/today.md"
    assert cut_middle("gpt-oss-120b-cloud-mini", 13) == "gpt-oss…-mini"


ADDRESS = "https://docs.python.org/3/library/asyncio-task.html?highlight=gather#asyncio.gather"


def drawn(source, width):
    console = Console(width=width, color_system=None)
    lines = console.render_lines(prose(source, width), console.options, pad=False)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


@each_row(
    "line, width, rows",
    [
        ("one two three", 8, "one two|three"),
        (
            "The manual https://example.org/manual is short",
            30,
            "The manual|https://example.org/manual is|short",
        ),
        (
            "see https://docs.python.org/3/library/asyncio-task.html#asyncio.gather",
            38,
            "see https://docs.python.org/3/library/|asyncio-task.html#asyncio.gather",
        ),
        ("some_very_long_name.and_on_for_ever", 25, "some_very_long_name.and_|on_for_ever"),
        ("a" * 12, 5, "aaaaa|aaaaa|aa"),
        ("これは Python の長い文章です。句読点", 20, "これは Python の長い|文章です。句読点"),
        ("行の先頭に、来ない", 10, "行の先頭|に、来ない"),
        ("and 「括弧」も", 6, "and|「括|弧」も"),
        ("blanks at its end      ", 17, "blanks at its end"),
    ],
)
def test_a_line_is_broken_where_a_reader_would(line, width, rows):
    assert wrap_words(line, width) == rows.split("|")


@each_row("source", ["{}", "- {}", "> {}", "# {}", "| a |\n|---|\n| {} |"])
def test_markdown_breaks_an_address_where_plain_text_does(source):
    text = "\n".join(drawn(source.format(f"see {ADDRESS} for more"), 48))
    assert "/library/\n" in text.replace(" \n", "\n")
    assert "".join(text.split()).replace("▌", "").count(ADDRESS) == 1


def test_markdown_breaks_japanese_beside_an_english_word():
    assert drawn("これは Python の長い**文章**です。", 20) == ["これは Python の長い", "文章です。"]


CLUSTERS = [
    *"ab /?-.日本、。「」·עבم  ",
    *("👩\u200d👩\u200d👧", "🇯🇵", "👍🏽", "❤\ufe0f", "e\u0301"),
]


@given(st.lists(st.sampled_from(CLUSTERS), max_size=60).map("".join), st.integers(2, 25))
def test_every_row_has_room_and_nothing_is_lost(line, width):
    rows = wrap_words(line, width)
    assert all(cell_len(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")


@each_row(
    "line, width, rows",
    [
        ("- one two three", 9, "- one two|  three"),
        ("12. one two three", 14, "12. one two|    three"),
        ("    [x] indented words", 16, "    [x] indented|    words"),
        ("1  session-1  plan it        just now", 30, "1  session-1  plan it  just|   now"),
        ("fits  as    it is", 17, "fits  as    it is"),
        ("plain words that go on", 12, "plain words|that go on"),
    ],
)
def test_lists_and_tables_are_set_in(line, width, rows):
    assert wrap_hanging(line, width) == rows.split("|")
