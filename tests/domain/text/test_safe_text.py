import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import any_text
from tui.domain.text import (
    make_visible,
    make_visible_line,
    make_visible_name,
    without_surrogates,
)

CONTROLS = set(map(chr, [*range(0x20), *range(0x7F, 0xA0)])) - {"\n", "\t"}
BIDI = {*"\u061c\u200e\u200f", *map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])}
TAGS = set(map(chr, range(0xE0000, 0xE0080)))
SURROGATES = set(map(chr, range(0xD800, 0xE000)))
UNSAFE = CONTROLS | BIDI | TAGS | SURROGATES


def test_what_a_terminal_would_obey_is_known_by_number():
    assert (len(CONTROLS), len(BIDI), len(TAGS), len(SURROGATES)) == (63, 12, 128, 2048)
    characters = [*map(chr, range(sys.maxunicode + 1))]
    controls = {each for each in characters if unicodedata.category(each) == "Cc"}
    assert controls == {*CONTROLS, *"\n\t"}
    directions = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    directing = {each for each in characters if unicodedata.bidirectional(each) in directions}
    assert directing == BIDI - {*"\u061c\u200e\u200f"}


def test_everything_that_a_terminal_would_obey_becomes_something_to_see():
    for character in UNSAFE:
        mark = make_visible(character)
        assert mark.isprintable(), ascii(character)
        assert mark.strip(), ascii(character)
        assert not set(mark) & UNSAFE


def test_every_other_character_stays_as_it_is():
    safe = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if c not in UNSAFE)
    assert make_visible(safe) == safe


def test_newline_and_tab_stay():
    assert make_visible("one\n\ttwo") == "one\n\ttwo"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"),
        ("\x1b]0;title\x1b\\", "␛]0;title␛\\"),
        ("\x9b2J\x85", "<U+009B>2J<U+0085>"),
        ("a\x00b\x7fc\r\n", "a␀b␡c␍\n"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("x\U000e0041", "x<U+E0041>"),
        ("\ud83d", "\ufffd"),
    ],
)
def test_marks_say_what_was_there(text, seen):
    assert make_visible(text) == seen


@given(st.lists(any_text(4), max_size=4))
def test_text_is_made_visible_alike_in_pieces_and_whole(pieces):
    assert "".join(map(make_visible, pieces)) == make_visible("".join(pieces))


@given(any_text())
def test_what_was_made_visible_stays_so(text):
    assert make_visible(make_visible(text)) == make_visible(text)


@given(any_text())
def test_visible_text_can_be_printed(text):
    assert not set(make_visible(text)) & UNSAFE
    make_visible(text).encode()


# --- one line


@given(any_text())
def test_a_visible_line_is_one_line_and_safe(text):
    line = make_visible_line(text)
    assert len((line + "x").splitlines()) == 1
    assert not set(line) & (UNSAFE | {"\n", "\t"})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\ntwo", "one two"),
        ("one  \r\n\r\n  two", "one two"),
        ("one\u2028two\x85three\x0bfour", "one two three four"),
        ("one\ttwo  three", "one two  three"),
        ("\x1b[31mred", "␛[31mred"),
    ],
)
def test_in_a_line_breaks_become_spaces(text, line):
    assert make_visible_line(text) == line


def test_the_name_of_a_file_stays_one_line_and_shows_what_it_is_made_of():
    name = make_visible_name("a\nb\tc\x1b[2J\u2028d\u202eg\udcff  e")
    assert name == "a\u240ab\u2409c\u241b[2J<U+2028>d<U+202E>g\ufffd  e"
    assert name.splitlines() == [name]


def test_a_megabyte_of_blanks_costs_no_more_than_its_length():
    # Time that grows with the square of the length would be an hour here.
    blanks = " " * 1_000_000
    assert make_visible_line(blanks + "x") == blanks + "x"
    assert make_visible_line(blanks + "\n" + blanks + "x") == " x"


# --- surrogates


@given(any_text())
def test_only_lone_surrogates_are_replaced_in_what_goes_to_a_file(text):
    replaced = without_surrogates(text)
    replaced.encode()
    assert replaced == "".join("\ufffd" if c in SURROGATES else c for c in text)
