"""JSON for files and terminals: UTF-8 as typed, with harmful characters escaped."""

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from tui.domain.json_limits import check_limits, converted, parse
from tui.domain.text.patterns import late_pattern

if TYPE_CHECKING:
    import msgspec

_Value = TypeVar("_Value")
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


def decode_json(line: bytes, decoder: "msgspec.json.Decoder[_Value]") -> "_Value":
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
