"""JSON that is read from disk: limits checked before a parser sees it, and typed values of it.

Parsers recurse on every bracket, and Python refuses to print a number of 4,300 digits: a line
beyond a limit counts as damaged. So does a number that is none a program can compute with.
"""

import json
import re
from typing import Annotated, Any, TypeVar

import msgspec

LINE_BYTES = 64 * 1024 * 1024
"""Length of a line, in bytes."""
NESTING = 200
"""Depth of brackets."""
DIGITS = 4000
"""Digits of a number."""

MOST = 2**53 - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
"""A size, a count or a place of a file, which every program can compute with."""

_Value = TypeVar("_Value")

# Possessive, and the closing quote is optional: backtracking costs 120 bytes of memory a byte, and
# quadratic time on a torn line full of quotes.
_STRING = rb'"(?:[^"\\]++|\\.)*+"?'
# One step for each bracket, and one for all numbers: in Python every step costs.
_TO_BRACKET = re.compile(rb'(?s)[^\[\]{}"]*+(?:' + _STRING + rb'[^\[\]{}"]*+)*+([\[\]{}]|\Z)')
_TO_LONG_NUMBER = re.compile(
    rb'(?s)(?:[^"0-9]++|' + _STRING + rb"|[0-9]{1,%d}+(?![0-9]))*+[0-9]" % DIGITS
)
_DIGIT = re.compile(rb"[0-9]")
_OPENING = (b"[", b"{")

ODD_VALUES = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError)
"""Errors of a program that computes with a value it did not expect."""


class BeyondLimits(ValueError):
    """A text that is too long, nested too deeply, or has a number of too many digits."""


def check_limits(text: bytes) -> None:
    """Raise ``BeyondLimits`` for a line that must not be parsed."""
    if len(text) > LINE_BYTES:
        raise BeyondLimits("longer than 64 MiB")
    if text.count(b"[") + text.count(b"{") > NESTING and _depth(text) > NESTING:
        raise BeyondLimits(f"nested deeper than {NESTING}")
    if len(text) <= DIGITS:
        return
    # A number this long has a digit at one of these positions; few other texts do.
    if _DIGIT.search(text[DIGITS::DIGITS]) and _TO_LONG_NUMBER.match(text):
        raise BeyondLimits(f"has a number of more than {DIGITS} digits")


def parse(text: bytes) -> Any:
    """Parse JSON within the limits. Raises ``ValueError`` otherwise."""
    check_limits(text)
    # An editor may have added a byte order mark.
    return json.loads(text.decode("utf-8-sig"))


def converted(value: Any, kind: type[_Value]) -> _Value:
    """Convert a parsed value to a typed one. Raises ``ValueError`` for any that is not of its kind.

    msgspec's own errors are such, and those of Unicode, as for a lone surrogate in a name.
    """
    try:
        return msgspec.convert(value, kind)
    except (RecursionError, OverflowError, MemoryError) as error:
        raise BeyondLimits(str(error)) from error


def _depth(text: bytes) -> int:
    deepest = depth = 0
    for bracket in _TO_BRACKET.findall(text):
        if bracket in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        else:
            # Or the end, which need not be told apart.
            depth -= 1
    return deepest
