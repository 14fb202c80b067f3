"""JSON as it goes to a file or a terminal: UTF-8 as typed, with what would do harm escaped."""

import json
import re
from typing import Any

# U+2028, U+2029 and C1 split lines for readers less careful than ours; lone surrogates cannot
# be written as UTF-8 at all.
_IN_JOURNAL = re.compile("[\x80-\x9f\u2028\u2029\ud800-\udfff]")
# The content of a string is passed over as a whole.
_NO_JSON = re.compile(r'"(?:[^"\\]++|\\.)*+"|NaN|-?Infinity')
_AS_JSON = {"NaN": "null", "Infinity": "1e999", "-Infinity": "-1e999"}
_ON_TERMINAL = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


def journal_json(value: Any) -> bytes:
    """One value as one line of a journal, without its newline; ``grep`` finds what was typed."""
    return _IN_JOURNAL.sub(_escape, _compact(value)).encode()


def terminal_json(value: Any, indent: int | None = None) -> str:
    """One value as text that no terminal obeys, and that every JSON reader reads the same."""
    return _ON_TERMINAL.sub(_escape, _json(value, indent=indent) if indent else _compact(value))


def _compact(value: Any) -> str:
    return _json(value, separators=(",", ":"))


def _json(value: Any, **form: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, **form)
    except ValueError:
        # A foreign 1e400 is infinite once it is read, and JSON has no word for that.
        text = json.dumps(value, ensure_ascii=False, **form)
        return _NO_JSON.sub(lambda found: _AS_JSON.get(found[0], found[0]), text)


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]
