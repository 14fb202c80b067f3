"""Nothing that came from outside speaks to the terminal, whichever way it is shown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attached import picture, showing
from tests.tables import each_row
from tests.visible_text import visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked, calling, drawn_document, result
from tui.domain.journal.message import FileBlock, Message, ToolCall
from tui.domain.journal.records import Summary

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
SEQUENCES = [
    "\x1b]52;c;aGk=\x1b\\",
    "\x1b]0;title\x07",
    "\x1bP1$r\x1b\\",
    "\x9b31m",
    "\x1b[2J",
    "\u202eevil\u2066",
    "\x00\x08\x0c\r",
    "\ud800",
    "\U000e0041",
    "a\u2028b\x85c",
]
HOSTILE = "".join(SEQUENCES)
PLACES = [
    "{}",
    "`{}`",
    "```\n{}\n```",
    "```py{}\nx\n```",
    "- {}",
    "> {}",
    "[{}]({})",
    "<http://x/{}>",
    "![{}](http://{})",
    "# {}",
    "| {} | b |\n|---|---|\n| {} | d |",
    "    {}",
    "<b {}>",
    "&#27;]52;c;aGk=&#27;\\ &#x9b;31m",
]


def rows_of(*entries, fold=False, streamed=()):
    conversation = drawn_document(*entries, height=500)
    for piece in streamed:
        conversation.add_text("streamed", piece)
        conversation.rows()
    if fold:
        for item in conversation.layout:
            if item.foldable:
                conversation.fold(item)
    return [row.strip for row in conversation.rows()]


def check(strips):
    assert strips
    for strip in strips:
        assert not UNSAFE.search(strip.text), ascii(strip.text)
        assert not any(segment.control for segment in strip)
        assert not any(segment.style and segment.style.link for segment in strip)


@each_row("place", PLACES)
def test_an_answer_cannot_speak_to_the_terminal_whole_or_in_pieces(place):
    text = place.replace("{}", HOSTILE)
    check(rows_of(answered(text)))
    check(rows_of(streamed=list(text)))


@pytest.mark.parametrize("fold", [False, True])
def test_nor_can_anything_else(fold):
    call = ToolCall(HOSTILE, HOSTILE, {HOSTILE: [HOSTILE, {"a": HOSTILE}]})
    entries = [
        asked(HOSTILE, "u"),
        Message("c", "assistant", HOSTILE, "", (call,), model=HOSTILE),
        calling("c2", HOSTILE, HOSTILE),
        result(HOSTILE),
        answered("", "f", status="failed", error=HOSTILE),
        answered("", "s", status=HOSTILE),
        Summary(HOSTILE, "x"),
        asked(showing(HOSTILE, FileBlock(HOSTILE, HOSTILE, 1), picture(HOSTILE)), "files"),
    ]
    strips = rows_of(*entries, fold=fold)
    check(strips)
    assert len(strips) > 20


@given(st.text(st.characters(codec=None), max_size=60), st.sampled_from(PLACES))
def test_no_text_at_all_can(text, place):
    check(rows_of(answered(place.replace("{}", text))))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[@click=app.quit]x[/] [red]y[/red]", ["[@click=app.quit]x[/] [red]y[/red]"]),
        ("See [docs](https://x.org/a) <https://y.org>", ["docs (https://x.org/a) https://y.org"]),
        (
            "<think>hm</think>\n\n<div>\n\n[x]: http://y",
            ["<think>hm</think>", "<div>", "[x]: http://y"],
        ),
    ],
    ids=["markup", "links", "tags and references"],
)
def test_all_of_a_text_is_shown(text, shown):
    rows = "\n".join(strip.text for strip in rows_of(answered(text)))
    assert all(words in rows for words in shown)


def test_line_ends_of_other_systems_are_line_ends_also_in_two_pieces():
    for strips in (rows_of(answered("a\r\n\r\nb")), rows_of(streamed=["a\r", "\n\r", "\nb"])):
        assert [s.text.strip() for s in strips][-3:] == ["a", "", "b"]


async def test_nothing_hostile_is_painted_while_it_arrives(opened):
    async with opened(asked("go")) as (app, _):
        for character in HOSTILE:
            app.conversation.add_text("a", character)
        app.conversation.add_text("a", " the end")
        await until(lambda: "the end" in "\n".join(visible_text(app.transcript)))
        for y in range(app.transcript.size.height):
            assert not UNSAFE.search(app.transcript.render_line(y).text)


@each_row(
    "text",
    ["a" * 1_000_000, "日" * 500_000, "[" * 100_000, "word " * 200_000, "```\n" + "x" * 1_000_000],
)
def test_a_line_without_end_is_drawn_in_small_parts(text):
    conversation = drawn_document(answered(text))
    assert len(conversation.rows()) == 40
    assert conversation._drawn.rows < 500
