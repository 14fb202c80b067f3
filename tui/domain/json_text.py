"""JSON of files and terminals: limits checked before a parser sees it, typed values, and writing.

Parsers recurse on every bracket, and Python refuses to print a number of 4,300 digits: a line
beyond a limit counts as damaged. So does a number that is none a program can compute with.
Written is UTF-8 as typed, with harmful characters escaped.
"""

import json
import re
from typing import Annotated, Any, TypeVar

import msgspec

from tui.domain.text import late_pattern

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
_TO_BRACKET = late_pattern(rb'(?s)[^\[\]{}"]*+(?:' + _STRING + rb'[^\[\]{}"]*+)*+([\[\]{}]|\Z)')
_TO_LONG_NUMBER = late_pattern(
    rb'(?s)(?:[^"0-9]++|' + _STRING + rb"|[0-9]{1,%d}+(?![0-9]))*+[0-9]" % DIGITS
)
_DIGIT = late_pattern(rb"[0-9]")
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


# Less careful readers split lines at U+2028, U+2029 and C1; lone surrogates are not UTF-8.
_IN_JOURNAL = late_pattern("[\x80-\x9f\u2028\u2029\ud800-\udfff]")
# Strings match as a whole, so that the words in them are left alone.
_NO_JSON = late_pattern(r'"(?:[^"\\]++|\\.)*+"|NaN|-?Infinity')
_BEYOND_ASCII = late_pattern("[^\x00-\x7f]")
# ``json.dumps`` makes one for each value, which takes as long as the encoding.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_AS_JSON = {"NaN": "null", "Infinity": "1e999", "-Infinity": "-1e999"}
_ON_TERMINAL = late_pattern(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


def journal_json(value: Any) -> bytes:
    """Encode a value as one line without its newline; ``grep`` finds text as it was typed."""
    return _IN_JOURNAL.sub(_escape, _compact(value)).encode()


def decode_json(line: bytes, decoder: msgspec.json.Decoder[_Value]) -> _Value:
    """Decode a line of ``journal_json`` within the limits. Raises ``ValueError``."""
    check_limits(line)
    try:
        return decoder.decode(line)
    except (ValueError, RecursionError):
        # msgspec refuses the lone surrogates of a path that is not UTF-8.
        return converted(parse(line), decoder.type)


def terminal_json(value: Any, indent: int | None = None) -> str:
    """Encode a value without terminal controls; any JSON reader decodes the same value."""
    return _ON_TERMINAL.sub(_escape, _json(value, indent=indent) if indent else _compact(value))


def ascii_json(text: str) -> str:
    """Escape all that is not ASCII in JSON, for an output that is not UTF-8."""
    return _BEYOND_ASCII.sub(_escape, text)


def _compact(value: Any) -> str:
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _json(value, separators=(",", ":"))


def _json(value: Any, **form: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, **form)
    except ValueError:
        # 1e400 from another program is read as infinity, which JSON cannot express.
        text = json.dumps(value, ensure_ascii=False, **form)
        return _NO_JSON.sub(lambda found: _AS_JSON.get(found[0], found[0]), text)


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]
