"""Kinds of records of which no message is made: those left out by rule, and unknown ones."""

import re
from typing import Any

QWEN_CODE = rb'"message"\s*:\s*\{[^{}\[\]]*"parts"\s*:'
"""The mark of a program that is not read yet; its lines look like Claude Code's."""
_PLAIN = re.compile(r"[a-zA-Z][a-zA-Z_/. -]{1,40}")
_SEPARATOR = re.compile(r"[_.]")


def skipped(kind: Any, known: re.Pattern[str]) -> str:
    """The reason to skip a record: its kind in words, after ``unknown`` if no rule names it."""
    if not isinstance(kind, str) or not _PLAIN.fullmatch(kind):
        return "unknown record"
    words = _SEPARATOR.sub(" ", kind)
    return words if known.fullmatch(kind) else f"unknown record {words}"
