"""JSON within its limits, and JSON as it is written for journals and terminals."""

import json
import math
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import as_read, json_values
from tests.tables import each_row
from tui.domain.json_text import (
    DIGITS,
    NESTING,
    BeyondLimits,
    check_limits,
    journal_json,
    terminal_json,
)

DEEP = b"[" * (NESTING + 1)
LONG = b"9" * (DIGITS + 1)


@each_row(
    "text", [DEEP, b'{"a":' * (NESTING + 1), b'"a" \\' + DEEP, LONG, b'{"a": "b", "c": -' + LONG]
)
def test_refuses_what_is_beyond_a_limit(text):
    with pytest.raises(BeyondLimits):
        check_limits(text)


@each_row(
    "text",
    [
        DEEP[1:],
        b"[]" * NESTING * 2,
        b'["' + DEEP + b'"]',
        b'\\]"' + DEEP,
        b'["\\"' + DEEP,
        LONG[1:],
        b"[" + LONG[1:] + b"," + LONG[1:] + b"]",
        b'["' + LONG + b'"]',
        b'["a\\"' + LONG,
    ],
)
def test_takes_what_is_within_or_part_of_a_string(text):
    check_limits(text)


# Surrogates apart, so that no two of them make one character.
EVERYTHING = " ".join(map(chr, range(sys.maxunicode + 1)))
C1 = set(map(chr, range(0x80, 0xA0)))
SURROGATES = set(map(chr, range(0xD800, 0xE000)))
SEPARATORS = {"\u2028", "\u2029"}
BIDI = set(map(chr, [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
TAGS = set(map(chr, range(0xE0000, 0xE0080)))


def read(text):
    """What a reader gets that knows JSON's own words only."""
    return json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_terminal_gets_nothing_that_it_would_obey(indent):
    shown = set(terminal_json({EVERYTHING: EVERYTHING}, indent)) - {"\n"}
    assert not shown & (C1 | SURROGATES | SEPARATORS | BIDI | TAGS)
    assert "Cc" not in set(map(unicodedata.category, shown))


def test_a_terminal_gets_everything_else_as_it_is_in_one_line_unless_it_is_indented():
    assert terminal_json("会話 é 😀") == '"会話 é 😀"'
    assert terminal_json({"a": [1, "\n"]}) == '{"a":[1,"\\n"]}'
    assert terminal_json({"a": 1}, indent=2) == '{\n  "a": 1\n}'


@pytest.mark.parametrize("write", [terminal_json, journal_json])
def test_every_character_is_read_back_from_values_and_names(write):
    assert read(write({EVERYTHING: EVERYTHING})) == {EVERYTHING: EVERYTHING}


@pytest.mark.parametrize("indent", [None, 2])
@given(value=json_values())
def test_every_reader_reads_what_was_meant_for_a_terminal(indent, value):
    assert repr(read(terminal_json(value, indent))) == repr(value)


@given(json_values())
def test_every_reader_reads_what_was_meant_for_a_journal(value):
    assert repr(read(journal_json(value))) == repr(value)


def test_a_journal_has_escapes_only_where_lines_or_utf_8_would_break():
    text = journal_json(EVERYTHING).decode()
    escaped = {chr(code) for code in range(0x20)} | C1 | SURROGATES | SEPARATORS | {'"', "\\"}
    assert set(text) == set(EVERYTHING) - escaped | {'"', "\\"}


@pytest.mark.parametrize("write", [terminal_json, journal_json])
def test_two_halves_of_a_character_become_the_character(write):
    assert read(write("\ud83d\ude00")) == as_read("\ud83d\ude00") == "😀"


@pytest.mark.parametrize(
    "write", [terminal_json, journal_json, lambda value: terminal_json(value, 2)]
)
@given(text=st.text(alphabet='NaInfity-\\" ,:', max_size=40))
def test_numbers_that_json_has_no_word_for_are_still_json(write, text):
    value = {text: [math.inf, -math.inf, text, math.nan, "Infinity", "NaN"]}
    assert read(write(value)) == {text: [math.inf, -math.inf, text, None, "Infinity", "NaN"]}
