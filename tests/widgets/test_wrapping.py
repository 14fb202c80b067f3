"""Where rows are broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from tui.widgets.cells import wrap_hanging, wrap_words
from tui.widgets.transcript.rich_markdown import prose

ADDRESS = "https://docs.python.org/3/library/asyncio-task.html?highlight=gather#asyncio.gather"


def drawn(source, width):
    console = Console(width=width, color_system=None)
    lines = console.render_lines(prose(source, width), console.options, pad=False)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


@pytest.mark.parametrize(
    ("line", "width", "rows"),
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


@pytest.mark.parametrize("source", ["{}", "- {}", "> {}", "# {}", "| a |\n|---|\n| {} |"])
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


@pytest.mark.parametrize(
    ("line", "width", "rows"),
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
