"""The limits of JSON that comes from a disk, looked at before any parser sees it.

Parsers recurse on each bracket, and Python refuses to print a number of 4,300 digits: beyond a
limit a line is damaged, whatever would become of it later.
"""

import json
import re
from typing import Any

LINE_BYTES = 64 * 1024 * 1024
NESTING = 200
DIGITS = 4000

# Possessive, and content with a string that never ends: going back costs 120 bytes of memory a
# byte, and on a torn line full of quotes the square of its length in time.
_STRING = rb'"(?:[^"\\]++|\\.)*+"?'
_STRUCTURE = re.compile(rb"(?s)" + _STRING + rb"|[\[\]{}]")
_NUMBER = re.compile(rb"(?s)" + _STRING + rb"|[0-9]{%d}" % (DIGITS + 1))
_DIGIT = re.compile(rb"[0-9]")


class BeyondLimits(ValueError):
    """A text that is too long, nested too deeply, or has a number of too many digits."""


def check_limits(text: bytes) -> None:
    """Raise ``BeyondLimits`` for what is not to be parsed."""
    if len(text) > LINE_BYTES:
        raise BeyondLimits("longer than 64 MiB")
    if text.count(b"[") + text.count(b"{") > NESTING and _depth(text) > NESTING:
        raise BeyondLimits(f"nested deeper than {NESTING}")
    # So long a number has a digit at one of these places; hardly any text that is no number has.
    if _DIGIT.search(text[DIGITS::DIGITS]) and _has_long_number(text):
        raise BeyondLimits(f"has a number of more than {DIGITS} digits")


def parse(text: bytes) -> Any:
    """Parse JSON within the limits. Raises ``ValueError`` for all else."""
    check_limits(text)
    # An editor may have put a byte order mark before it.
    return json.loads(text.decode("utf-8-sig"))


def _depth(text: bytes) -> int:
    deepest = depth = 0
    for token in _STRUCTURE.finditer(text):
        character = token[0]
        if character in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif character in (b"]", b"}"):
            depth -= 1
    return deepest


def _has_long_number(text: bytes) -> bool:
    return any(not token[0].startswith(b'"') for token in _NUMBER.finditer(text))
