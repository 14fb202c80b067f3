"""Limits of JSON: brackets and digits count where they are not part of a string."""

import pytest

from tui.domain.json_text import DIGITS, NESTING, BeyondLimits, check_limits

DEEP = b"[" * (NESTING + 1)
LONG = b"9" * (DIGITS + 1)


@pytest.mark.parametrize(
    "text", [DEEP, b'{"a":' * (NESTING + 1), b'"a" \\' + DEEP, LONG, b'{"a": "b", "c": -' + LONG]
)
def test_refuses_what_is_beyond_a_limit(text):
    with pytest.raises(BeyondLimits):
        check_limits(text)


@pytest.mark.parametrize(
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
