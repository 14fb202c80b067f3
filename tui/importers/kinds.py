"""Kinds of records and blocks of which no message is made: left out by rule, or unknown."""

import re
from typing import Any

QWEN_CODE = rb'"message"\s*:\s*\{[^{}\[\]]*"parts"\s*:|"systemPayload"\s*:'
"""The mark of Qwen Code, whose lines look like Claude Code's."""
OTHERS = rb'^\s*\{\s*"kind"\s*:|^\s*\{[^{}]*"protocol_version"\s*:|' + QWEN_CODE
"""The beginnings of logs that have marks of Claude Code, too: of VS Code, Kimi and Qwen Code."""
_PLAIN = re.compile(r"[a-zA-Z][a-zA-Z_/. -]{1,40}")
_SEPARATOR = re.compile(r"[_.]")


def skipped(kind: Any, known: re.Pattern[str]) -> str:
    """The reason to skip a record: its kind in words, after ``unknown`` if no rule names it."""
    if is_plain(kind) and known.fullmatch(kind):
        return _SEPARATOR.sub(" ", kind)
    return unknown("record", kind)


def unknown(unit: str, kind: Any) -> str:
    """The reason to count a record or block as unknown; its kind if that is a plain word."""
    return f"unknown {unit} {_SEPARATOR.sub(' ', kind)}" if is_plain(kind) else f"unknown {unit}"


def is_plain(kind: Any) -> bool:
    """True for a kind that may be shown: a short word that can hold no secret."""
    return isinstance(kind, str) and _PLAIN.fullmatch(kind) is not None
