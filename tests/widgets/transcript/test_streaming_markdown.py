"""A block of Markdown that is still arriving is shown as what it is going to be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tests.tables import each_row
from tests.widgets.transcript.conftest import split
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.markdown_blocks import Splitter
from tui.widgets.transcript.row_blocks import row_block

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
    ],
)
def test_what_is_open_looks_as_if_it_were_closed(text, word, style):
    assert dict(styles(last(text)))[word] == style


def test_a_cell_does_so_too():
    heading, *_ = last("| Name | `co")
    assert styles([heading])[-1] == ("co", Style(bold=True, dim=True))


def test_both_kinds_at_once_are_closed_from_within():
    assert styles(last("**a *b"))[-1] == ("b", Style(bold=True, italic=True))


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


def test_what_is_never_closed_gets_its_mark_back():
    assert "**" not in shown(last("It is **bold"))
    assert "**" in shown(last("It is **bold" + " and so on" * 40))
    assert "**" in shown([list(s) for s in row_block(split("It is **bold")[0]).strips(PAGE)])


@pytest.mark.parametrize("text", ["See [the pa", "See [the paper]", "See [the paper](https://exa"])
def test_the_words_of_a_link_are_one_before_its_address_is_known(text):
    assert "See the paper".startswith(shown(last(text)).strip())
    assert styles(last(text))[-1][1] == LOOKS["link"]


def test_a_cell_that_is_complete_is_taken_at_its_word():
    assert "**" in shown(last("| a | b |\n|---|---|\n| **x | "))


def test_columns_of_a_table_grow_by_steps():
    text = "| Name | What |\n|---|---|\n| a very long name of some kind | x |"
    places = [shown(rows).split("\n")[0].find("What") for rows in growing(text)]
    assert len({place for place in places if place >= 0}) <= 5
    assert places == sorted(places)


def test_a_table_without_room_for_steps_has_none():
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
