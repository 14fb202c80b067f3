"""Columns that hold, whatever a terminal thinks of the width of what stands before them."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

import tui.widgets.cells  # noqa: F401 - by it Rich counts joiners as in the program
from tests.tables import each_row
from tui.terminal import cell_width
from tui.terminal.cell_width import fix_columns

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
# fmt: off
PIECES = [
    "word ", "日本語", "한국어", "é", "│", " ",
    FAMILY, "❤\ufe0f", "❤\ufe0e", "1\ufe0f\u20e3", "👋🏽", "☝🏾", "🏳\ufe0f\u200d🌈", "🫠", "🪿",
    "🇯🇵", "🇯", "e\u0301\u0301", "ก็", "हिन्दी", "שלום", "مرحبا", "ᄒᆞᆫ", "a\u200bb", "\ufeff", "s\xadt",
    "\u200da", "c\u200dd", "\u200d\u200d", "\u200d👩", "क्\u200dष",
]
# fmt: on
_MOVE = re.compile(r"\x1b\[(?:\d+;)?(\d+)[GH]|\x1b\[[\d;]*m|.", re.DOTALL)
COLUMNS = 300


def each_by_itself(character: str) -> int:
    """As xterm: nothing joins, what is not seen takes a cell, too."""
    is_mark = unicodedata.category(character).startswith("M")
    return get_character_cell_size(character) or (0 if is_mark else 1)


def drawn(frame: str, width, at_first: str = "#") -> list[str]:
    """The cells of one row after a frame, in a terminal with an opinion of its own."""
    cells, column = [at_first] * COLUMNS, 0
    for found in _MOVE.finditer(frame):
        if found[1]:
            column = int(found[1]) - 1
        elif not found[0].startswith("\x1b"):
            for place in range(column, min(column + width(found[0]), COLUMNS)):
                cells[place] = found[0] if place == column else ""
            column += width(found[0])
    return cells


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.booleans())
@pytest.mark.parametrize("opinion", [each_by_itself, lambda _: 2, lambda _: 1, lambda _: 0])
def test_the_line_behind_any_text_stands_in_its_column(opinion, pieces, relayed):
    text = "".join(pieces).replace("│", "")
    column = 5 + cell_len(text)

    def width(character):
        doubted = character not in " │" and not character.isascii()
        is_sure = not doubted or not is_ambiguous(character)
        return get_character_cell_size(character) if is_sure else opinion(character)

    frame = fix_columns(f"\x1b[3;6H\x1b[1m{text}\x1b[0m│ |", multiplexed=relayed)
    cells = drawn(frame, width)
    assert cells[column] == "│"
    assert cells[column + 2] == "|"
    assert "#" not in cells[5:column]


def is_ambiguous(character: str) -> bool:
    return fix_columns(f"\x1b[1;1H{character}") != f"\x1b[1;1H{character}"


def test_what_most_frames_consist_of_is_ambiguous_nowhere():
    plain = [each for each in map(chr, range(0x3000)) if cell_width._PLAIN.fullmatch(each)]
    assert [each for each in plain if cell_width._AMBIGUOUS.search(each)] == []


def test_what_is_joined_stays_so_where_there_is_room_and_writes_over_nothing_else():
    frame = fix_columns(f"\x1b[1;1H{FAMILY}")
    assert "".join(drawn(frame, each_by_itself)[2:12]) == "#" * 10
    assert FAMILY not in frame
    frame = fix_columns(f"\x1b[1;1Ha {FAMILY} 🇯🇵🇩🇪 हिन्दी         │")
    assert all(each in frame for each in (FAMILY, "🇯🇵", "🇩🇪", "हिन्दी"))


def test_within_another_terminal_program_a_family_is_its_first_member_and_no_letter_is_lost():
    frame = fix_columns(f"\x1b[1;1Ha{FAMILY}b👋🏽c❤\ufe0fd\u200be" + " " * 20, multiplexed=True)
    assert re.sub(r"\x1b\[[\d;]*[GH]| ", "", frame) == "a👨b👋c❤\ufe0fde"
    words = "हिन्दी ᄒᆞᆫ ก็ e\u0301 שלום می\u200cخواهم"
    frame = fix_columns(f"\x1b[1;1H{words}" + " " * 20, multiplexed=True)
    left = re.sub(r"\x1b\[[\d;]*[GH]| |\u200c", "", frame)
    assert left == words.replace(" ", "").replace("\u200c", "")


@each_row(
    "frame",
    [
        "\x1b[1;1Hplain │ ╭─ 日本語のｶﾅ 한국어 “so” … ● é ü Ж α\n\x1b[2;1H\x1b[38;2;1;2;3mx\x1b[0m",
        f"{FAMILY} where nobody knows",
        f"\x1b]0;{FAMILY}\x07",
        "\x1b[?2026h",
        "",
    ],
)
def test_all_else_is_written_as_it_is(frame):
    assert fix_columns(frame) == frame
