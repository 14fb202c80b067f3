import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tests.tables import each_row
from tests.widgets.transcript.conftest import split
from tui.domain.text import codes
from tui.widgets.cells import PIECE
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.markdown_blocks import LIST, PROSE, Splitter
from tui.widgets.transcript.rich_markdown import RichMarkdown, prose
from tui.widgets.transcript.row_blocks import row_block

ORDINARY = [
    "One paragraph\nof two lines.\n\nAnother one.",
    "# Title\n\nText below.\n\n## Next\nText at once.",
    "Before:\n\n- one\n- two\n  - nested\n\n  and a paragraph of it\n- three\n\nAfter.",
    "1. first\n\n2. second, loose\n\n   with more\n3. third",
    "Text\n- a list at once\n- of two",
    "| A | B |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nAfter the table.",
    "> A quote\n> of two lines\n\nand an answer",
    "Above\n\n---\n\nbelow",
    "A title\n=======\n\nand *emphasis* over\ntwo **strong** lines",
    "- a\n\n\n- b\n\ntext\n\n\n\ntext",
]


def page():
    return Canvas(60, dict.fromkeys(NAMES, Style()))


def rows_of(blocks):
    return [s.text.rstrip() for block in blocks for s in row_block(block).strips(page())]


def open_rows(splitter):
    """The rows of the block that later text may still change."""
    return [s.text for s in row_block(splitter.open_block(), growing=True).strips(page())]


@each_row("text", ORDINARY)
def test_blocks_look_like_the_whole_would(text):
    whole = [page().row(line).text.rstrip() for line in page().lines(RichMarkdown(text))]
    # Rich puts tables, quotes and lists between blank rows of its own.
    pairs = zip(whole, ["", *whole], strict=False)
    single = [row for row, before in pairs if row or before]
    assert rows_of(split(text)) == (single if single[-1] else single[:-1])


def test_a_fence_inside_a_list_stays_in_the_list():
    (block,) = split("- an item\n\n  ```sh\n  ls\n\n  - no item\n  ```\n- the next")
    assert "no item" in block.text
    assert not block.code


@pytest.mark.parametrize(
    ("text", "shown", "language"),
    [
        ("```python\na = 1\n\n\n# not a title\n```", "a = 1\n\n\n# not a title", "python"),
        ("````md\n```\ninner\n```\n````", "```\ninner\n```", "md"),
        ("```\nx\n\ny", "x\n\ny", ""),
    ],
    ids=["blank lines", "a fence inside", "no end"],
)
def test_code_is_one_block_as_it_was_written(text, shown, language):
    before, code, *after = split(f"See:\n{text}" + "\nDone." * text.endswith("`"))
    assert (code.text, code.language, code.code, code.closed) == (shown, language, True, True)
    assert [before.text, *(block.text for block in after)] in (["See:"], ["See:", "Done."])


def test_backticks_in_a_line_open_nothing():
    blocks = split("```inline``` code\n\nafter")
    assert [block.code for block in blocks] == [False, False]


def test_what_is_open_says_so():
    splitter = Splitter()
    splitter.feed("done\n\n```py\nx = 1\n")
    assert [block.text for block in splitter.blocks] == ["done"]
    assert splitter.open_block().code
    assert not splitter.open_block().closed


def test_a_paragraph_after_a_list_is_none_of_it_while_its_line_is_not_complete():
    splitter = Splitter()
    splitter.feed("- one\n- two\n\nA paragraph")
    assert [block.text for block in splitter.blocks] == ["- one\n- two"]
    assert splitter.open_block().text == "A paragraph"
    assert splitter.open_block().spaced


@each_row(
    "fed, opened",
    [
        *(
            (f"Some text\n{begun}", "Some text")
            for begun in ("-", "---", "*", "=", "1", "12.", "#")
        ),
        *((f"Some text\n{begun}", "Some text") for begun in ("`", "```p", "~~~")),
        ("```py\nx = 1\n``", "x = 1\n``"),
        ("```py\nx = 1\n```", "x = 1"),
        ("- one\n\n- tw", "- one\n\n- tw"),
    ],
)
def test_a_line_that_may_become_anything_is_not_shown_yet(fed, opened):
    splitter = Splitter()
    splitter.feed(fed)
    assert splitter.open_block().text == opened


def test_the_pieces_of_a_long_fence_are_closed_with_it():
    splitter = Splitter()
    splitter.feed("```py\n" + "x = 1\n" * 8000)
    assert len(splitter.blocks) > 2
    assert not any(block.closed for block in splitter.blocks)
    splitter.feed("```\n")
    assert all(block.closed for block in splitter.blocks)
    assert [block.first for block in splitter.blocks].index(False) == 1
    assert sum(block.first for block in splitter.blocks) == 1


def test_long_paragraphs_are_cut_between_their_lines():
    blocks = split("some words\n" * 2000)
    assert max(len(block.text) for block in blocks) <= PROSE
    assert not any(block.spaced for block in blocks)
    assert "\n".join(block.text for block in blocks) == "some words\n" * 1999 + "some words"


def test_long_lists_are_cut_between_their_items():
    blocks = split("".join(f"{n}. an item\n   of two lines\n" for n in range(1, 300)))
    assert len(blocks) > 3
    assert all(block.text.split(".")[0].isdigit() for block in blocks)
    assert max(len(block.text) for block in blocks) < 2 * LIST


def test_long_tables_keep_their_heading():
    blocks = split("| A | B |\n|---|---|\n" + "| some | cells |\n" * 1000)
    assert len(blocks) > 2
    assert all(block.text.startswith("| A | B |\n|---|---|\n| some") for block in blocks)


def test_a_line_without_end_is_cut():
    blocks = split("x" * 100_000)
    assert max(len(block.text) for block in blocks) <= PIECE
    assert "".join(block.text for block in blocks) == "x" * 100_000


MARKDOWN = st.lists(
    st.sampled_from(
        [
            *("word ", "**b** ", "`x`", "日本", "- ", "1. ", "> ", "# ", "  ", "\t", "\n", "\n\n"),
            *("```", "```py\n", "~~~\n", "---\n", "| a | b |\n", "|---|---|\n"),
        ]
    ),
    max_size=40,
).map("".join)


@given(MARKDOWN, st.lists(st.integers(1, 9), min_size=1))
def test_an_answer_that_came_in_pieces_has_the_same_blocks(text, sizes):
    splitter = Splitter()
    rest, turn = text, 0
    while rest:
        size = sizes[turn % len(sizes)]
        splitter.feed(rest[:size])
        splitter.open_block()
        rest, turn = rest[size:], turn + 1
    splitter.finish()
    assert splitter.blocks == split(text)


@given(MARKDOWN)
def test_what_is_open_becomes_the_last_block(text):
    splitter = Splitter()
    splitter.feed(text)
    opened = splitter.open_block()
    closed = len(splitter.blocks)
    splitter.finish()
    if opened and not opened.code:
        # The beginning of a line that may become anything is left out.
        assert splitter.blocks[closed].text.startswith(opened.text.rstrip())
        assert splitter.blocks[closed].spaced == opened.spaced


TABLE = "| Name | Age |\n|:-----|----:|\n| Ann | 12 |\n| Bob \\| Eve | 7 |\n\nDone."


@each_row(
    "text",
    [
        TABLE,
        f"Here it is:\n\n{TABLE}",
        f"Here it is:\n{TABLE}",
        "> | a | b |\n> |---|---|\n> | 1 | 2 |",
        "- item\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |",
    ],
)
def test_a_table_is_one_from_its_first_letter_on(text):
    splitter = Splitter()
    for letter in text:
        splitter.feed(letter)
        rows = open_rows(splitter) if splitter.open_block() else []
        assert not any("|" in row.replace("Bob |", "") or "---" in row for row in rows)


def test_the_heading_of_a_table_stays_as_it_is_while_the_table_comes():
    splitter = Splitter()
    splitter.feed("| Name | Age |")
    heading = open_rows(splitter)
    for letter in "\n|---|----:|\n| Ann |":
        splitter.feed(letter)
        assert open_rows(splitter)[:2] == heading


@pytest.mark.parametrize("text", ["|x| is the\nlength of x", "a | b\nc", "    |code|\n    x"])
def test_what_becomes_no_table_is_shown_as_it_is(text):
    splitter = Splitter()
    splitter.feed(text)
    assert open_rows(splitter) == [strip.text for strip in row_block(split(text)[0]).strips(page())]


@given(MARKDOWN)
def test_no_word_is_lost(text):
    shown = " ".join(rows_of(split(text)))
    assert shown.count("word") == text.count("word")


def test_deep_nesting_is_shown_as_text():
    text = ">" * 60 + " deep"
    assert any("deep" in row for row in rows_of(split(text)))
    assert not isinstance(prose(text, 60), RichMarkdown)


@each_row("width", range(1, 24))
def test_nothing_is_too_narrow_for_any_markdown(width):
    lists = "\n".join("  " * depth + "- item" for depth in range(9))
    text = f"{lists}\n\n> > > quote\n\n1. a\n   1. b\n\n| A | B |\n|---|---|\n| 1 | 日本 |\n\n---"
    narrow = Canvas(width, dict.fromkeys(NAMES, Style()))
    strips = [strip for block in split(text) for strip in row_block(block).strips(narrow)]
    assert all(strip.cell_length == width for strip in strips)


def test_numbers_keep_their_dots():
    assert rows_of(split("9. nine\n10. ten")) == ["     9. nine", "    10. ten"]


@each_row(
    "text, found",
    [
        ("no code", []),
        ("```py\nx = 1\n\ny\n```", ["x = 1\n\ny"]),
        ("- item\n  ```\n  in a list\n    deep\n  ```\n~~~\nopen", ["in a list\n  deep", "open"]),
        ("```\r\na\x1b[31m\r\n```", ["a\x1b[31m"]),
    ],
)
def test_code_is_found_as_it_was_written(text, found):
    assert codes(text) == found


@given(st.from_regex(r"[A-Za-z][A-Za-z0-9 ,.;:?'\"()]{0,200}", fullmatch=True))
def test_plain_words_look_as_they_would_as_markdown(text):
    from tui.widgets.transcript.markdown_blocks import MarkdownBlock

    drawn = [page().row(line).text.rstrip() for line in page().lines(RichMarkdown(text))]
    assert rows_of([MarkdownBlock(text, spaced=False)]) == drawn


def test_a_link_is_underlined_as_far_as_its_words_go():
    looks = {**dict.fromkeys(NAMES, Style()), "link": Style(underline=True)}
    (block,) = split("See the [paper that has a long title](https://example.com/x).")
    for strip in row_block(block).strips(Canvas(24, looks)):
        assert not any(s.text.endswith(" ") for s in strip if s.style and s.style.underline)
