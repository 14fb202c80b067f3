"""Markdown in blocks, whole and while it arrives, and its links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tests.tables import each_row
from tests.visible_text import visible_text
from tests.widgets.transcript.conftest import answered, asked, split
from tui.domain.text import codes
from tui.widgets.cells import PIECE
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.markdown_blocks import LIST, PROSE, Splitter
from tui.widgets.transcript.rich_markdown import (
    Link,
    RichMarkdown,
    link_at,
    links_of,
    prose,
    trimmed,
)
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


def test_a_fence_inside_a_list_stays_in_the_list_and_backticks_in_a_line_open_nothing():
    (block,) = split("- an item\n\n  ```sh\n  ls\n\n  - no item\n  ```\n- the next")
    assert "no item" in block.text
    assert not block.code
    assert [block.code for block in split("```inline``` code\n\nafter")] == [False, False]


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


def test_what_is_open_says_so_and_a_paragraph_after_a_list_is_none_of_it():
    splitter = Splitter()
    splitter.feed("done\n\n```py\nx = 1\n")
    assert [block.text for block in splitter.blocks] == ["done"]
    assert splitter.open_block().code
    assert not splitter.open_block().closed
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


def test_long_paragraphs_lists_tables_and_lines_are_cut():
    blocks = split("some words\n" * 2000)
    assert max(len(block.text) for block in blocks) <= PROSE
    assert not any(block.spaced for block in blocks)
    assert "\n".join(block.text for block in blocks) == "some words\n" * 1999 + "some words"
    blocks = split("".join(f"{n}. an item\n   of two lines\n" for n in range(1, 300)))
    assert len(blocks) > 3
    assert all(block.text.split(".")[0].isdigit() for block in blocks)
    assert max(len(block.text) for block in blocks) < 2 * LIST
    blocks = split("| A | B |\n|---|---|\n" + "| some | cells |\n" * 1000)
    assert len(blocks) > 2
    assert all(block.text.startswith("| A | B |\n|---|---|\n| some") for block in blocks)
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
def test_a_table_is_one_from_its_first_letter_on_and_its_heading_stays_as_it_is(text):
    splitter = Splitter()
    for letter in text:
        splitter.feed(letter)
        rows = open_rows(splitter) if splitter.open_block() else []
        assert not any("|" in row.replace("Bob |", "") or "---" in row for row in rows)
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


def test_deep_nesting_is_shown_as_text_and_numbers_keep_their_dots():
    text = ">" * 60 + " deep"
    assert any("deep" in row for row in rows_of(split(text)))
    assert not isinstance(prose(text, 60), RichMarkdown)
    assert rows_of(split("9. nine\n10. ten")) == ["     9. nine", "    10. ten"]


@each_row("width", range(1, 24))
def test_nothing_is_too_narrow_for_any_markdown(width):
    lists = "\n".join("  " * depth + "- item" for depth in range(9))
    text = f"{lists}\n\n> > > quote\n\n1. a\n   1. b\n\n| A | B |\n|---|---|\n| 1 | 日本 |\n\n---"
    narrow = Canvas(width, dict.fromkeys(NAMES, Style()))
    strips = [strip for block in split(text) for strip in row_block(block).strips(narrow)]
    assert all(strip.cell_length == width for strip in strips)


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


LOOKS = {"inline-code": Style(dim=True), "link": Style(underline=True)}
PAGE = Canvas(200, {**dict.fromkeys(NAMES, Style()), **LOOKS})

# Without a mark that stands for itself.
PLAIN = [
    "A client should **not** hammer `a server`: ask *once*, or ~~never~~ ***seldom***.",
    'See [the paper](https://example.com/a_(b) "Its title") and [`code`](http://x.y), **[c](d)**.',
    "# A **bold** title\n\nText with `code` below\nand *emphasis\nover* two lines.",
    "1. `one`: **first**\n2. **two** *more*\n   - [three](http://x.y/z)\n     and **four**\n\nEnd.",
    "> A **quote** with `code`\n> in *two lines*",
    "| Name | **What** |\n|---|---:|\n| `a` | [b](http://c.d) |\n| *x* | **y z** |\n\nEnd.",
    "Read ![a picture](http://a/b.png) and <https://a.b/c>.",
    "これは**太字**と`符号`です。*強調*も。",
    "__bold__ and _emphasised_ words, **bold with *emphasis* in it** and *one **two** three*",
    "Before:\n\n```python\nx = [a * b for a in `y`]\n```\n\n**After** it.",
]
WITH_MARKS = [
    "2 * 3 and 2*3, a_b and a_b_c, f(*args, **kwargs), *.py, R&D &amp; x, arr[0] [1] [note] end",
    "- [ ] to **do**\n- [x] done\n- * odd",
    "A ` alone, ``a`b`` in two, \\*no\\* \\_emphasis\\_, 5 < 6, wow! [a](b c) and [a][b] end",
    "snake_case_name, _private and __all of it, `unclosed code",
    "**never closed and on and on\n\nnext [no link](htt p) ![no image] x",
    "[**bold** link](http://x.y) [a [b] c](http://x.y) ![](x) []() ** ** __ __ ~~ ~~ `` ` ``",
]


def growing(text):
    """What stands there after each letter: the segments of each row."""
    splitter = Splitter()
    for letter in text:
        splitter.feed(letter)
        blocks = [row_block(block) for block in splitter.blocks]
        if (last := splitter.open_block()) is not None:
            blocks.append(row_block(last, growing=True))
        yield [list(strip) for block in blocks for strip in block.strips(PAGE)]


def shown(rows):
    return "\n".join("".join(segment.text for segment in row).rstrip() for row in rows)


def letters(rows):
    # Which an image has as a mark.
    return "".join(letter for letter in shown(rows).replace("[image: ", "") if letter.isalnum())


def last(text):
    """The rows of a text of which more is expected."""
    *_, rows = growing(text)
    return rows


def styles(rows):
    """The words of the last row, each with its style."""
    return [(s.text.strip(), s.style) for s in rows[-1] if s.text.strip()]


@each_row("text", PLAIN + WITH_MARKS)
def test_no_letter_that_was_shown_goes_away(text):
    before = ""
    for rows in growing(text):
        now = letters(rows)
        assert now.startswith(before)
        before = now
    assert letters([list(s) for b in split(text) for s in row_block(b).strips(PAGE)]) == before


@each_row("text", PLAIN)
def test_marks_of_what_will_be_closed_are_never_seen(text):
    for rows in growing(text.partition("```")[0]):
        assert not set(shown(rows)) & set("*`~[]") - set("[image: ]" if "![" in text else "")
        assert "_" not in shown(rows).replace("a_(b)", "")


@each_row(
    "text, word, style",
    [
        ("a **bo", "bo", Style(bold=True)),
        ("a **bold** and *it", "it", Style(italic=True)),
        ("a ~~go", "go", Style(strike=True)),
        ("a `co", "co", Style(dim=True)),
        ("- a\n- **bo", "bo", Style(bold=True)),
        ("太**字", "字", Style(bold=True)),
        ("(*it", "it", Style(italic=True)),
        ("**a *b", "b", Style(bold=True, italic=True)),
    ],
)
def test_what_is_open_looks_as_if_it_were_closed(text, word, style):
    assert dict(styles(last(text)))[word] == style
    heading, *_ = last("| Name | `co")
    assert styles([heading])[-1] == ("co", Style(bold=True, dim=True))


@each_row(
    "text",
    ["2 * 3", "2*3", "a_b", "f(*args", "f(**kwargs", "*.py files", "arr[0", "see [1", "5 ` 6"],
)
def test_a_mark_that_stands_for_itself_stays(text):
    assert shown(last(text)).strip() == text


@each_row(
    "text, at_first",
    [
        ("2 *", "2"),
        ("a_", "a"),
        ("so **", "so"),
        ("a `", "a"),
        ("see [", "see"),
        ("wow!", "wow"),
        ("R&D", "R"),
        ("a\\", "a"),
    ],
)
def test_a_mark_that_may_mean_either_waits_for_the_next_letter(text, at_first):
    assert shown(last(text)).strip() == at_first
    assert shown(last(f"{text} x")).strip() == f"{text} x"


def test_what_is_never_closed_or_in_a_cell_that_is_complete_gets_its_mark_back():
    assert "**" not in shown(last("It is **bold"))
    assert "**" in shown(last("It is **bold" + " and so on" * 40))
    assert "**" in shown([list(s) for s in row_block(split("It is **bold")[0]).strips(PAGE)])
    assert "**" in shown(last("| a | b |\n|---|---|\n| **x | "))


@pytest.mark.parametrize("text", ["See [the pa", "See [the paper]", "See [the paper](https://exa"])
def test_the_words_of_a_link_are_one_before_its_address_is_known(text):
    assert "See the paper".startswith(shown(last(text)).strip())
    assert styles(last(text))[-1][1] == LOOKS["link"]


def test_columns_of_a_table_grow_by_steps_where_there_is_room():
    text = "| Name | What |\n|---|---|\n| a very long name of some kind | x |"
    places = [shown(rows).split("\n")[0].find("What") for rows in growing(text)]
    assert len({place for place in places if place >= 0}) <= 5
    assert places == sorted(places)
    narrow = Canvas(24, PAGE.palette)
    rows = row_block(split("| A | B |\n|---|---|\n| 123456789 | 12345 |")[0]).strips(narrow)
    assert "123456789  12345" in rows[-1].text


@given(st.text("ab *_`[]()!<>~\\&;\n|-#1x:/あ", max_size=60))
def test_whatever_has_come_can_be_shown(text):
    for rows in growing(text):
        assert all(sum(segment.cell_length for segment in row) == PAGE.width for row in rows)


@each_row("width", range(33, 60))
@each_row("before", ["", "> "])
def test_no_step_takes_room_from_a_word(width, before):
    rows = ["| Abcdefghi | B | Cccc |", "|---|---|---|", "| 123456789 | 12345 | x y z |"]
    (block,) = split("\n".join(before + row for row in rows))
    shown_rows = [strip.text for strip in row_block(block).strips(Canvas(width, PAGE.palette))]
    assert [row.split() for row in shown_rows if "x" in row][-1][-5:] == [
        *("123456789", "12345", "x", "y", "z")
    ]


TEXT = """\
See [the notes](https://example.com/notes), <https://example.org> and
https://example.net/a_(b). Not [this](javascript:alert) nor [that](file:///etc/passwd).

```sh
curl https://code.example/x
```
"""


@each_row(
    "text, found",
    [
        (
            TEXT,
            [
                "https://example.com/notes",
                "https://example.org",
                "https://example.net/a_(b)",
                "https://code.example/x",
            ],
        ),
        ("[bank](https://b\u0430nk.example/)", ["https://xn--bnk-6cd.example/"]),
        ("https://a.example https://a.example", ["https://a.example"]),
    ],
)
def test_links_are_those_of_the_web_in_their_order_each_once(text, found):
    assert [link.target for link in links_of(answered(text))] == found


@each_row(
    "written, meant",
    [
        ("https://a.b/c.", "https://a.b/c"),
        ("https://a.b/c).", "https://a.b/c"),
        ("https://a.b/c_(d)", "https://a.b/c_(d)"),
        ("https://a.b/?q=1,", "https://a.b/?q=1"),
    ],
)
def test_what_ends_the_sentence_is_no_part_of_an_address(written, meant):
    assert trimmed(written) == meant


def test_a_word_of_a_row_tells_which_link_is_meant():
    one, two = Link("https://a.example/one", "first"), Link("https://b.example/two", "second")
    row = "   first (https://a.example/one) and second"
    assert link_at((one, two), row, 4) == [one]
    assert link_at((one, two), row, 15) == [one]
    assert link_at((one, two), row, len(row) - 1) == [two]
    assert not link_at((one, two), row, row.index("and"))


async def test_o_asks_for_the_links_of_the_message_at_the_cursor(opened):
    async with opened(asked("https://user.example"), answered(TEXT)) as (app, pilot):
        await pilot.press("o")
        assert len(app.links[0]) == 4
        await pilot.press("k", "k", "o")
        assert app.links[1] == [("https://user.example", "https://user.example")]


async def test_a_click_asks_for_the_link_under_it_only(opened):
    async with opened(answered("See [the notes](https://example.com/notes) now.")) as (app, pilot):
        y = next(y for y, row in enumerate(visible_text(app.transcript)) if "notes" in row)
        row = visible_text(app.transcript)[y]
        for cell in (row.index("now"), 0):
            await pilot.click(app.transcript, offset=(cell, y))
        assert not app.links
        await pilot.click(app.transcript, offset=(row.index("example"), y))
        assert app.links == [[("https://example.com/notes", "the notes")]]
