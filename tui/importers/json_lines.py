"""Files of JSON, an object a line or as a whole, read as leniently as their programs write them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from tui.domain.json_limits import BeyondLimits, check_limits
from tui.files import open_regular, read_bounded
from tui.importers.protocol import Json, Ledger
from tui.storage.lines import lines_forward

UNREADABLE = "unreadable line"
UNFINISHED = "unfinished line"
BLANK = "blank line"
FILE_BYTES = 64 * 1024 * 1024
"""Limit of a file that is one JSON value and is parsed as a whole."""


class Line(NamedTuple):
    """An object of a file, and where its line begins, in bytes."""

    offset: int
    value: Json


def objects(path: Path, ledger: Ledger, start: int = 0) -> Iterator[Line]:
    """Read the objects of a file from an offset on.

    Lines that are no object are counted as skipped, those without a word too. A last line without
    a line feed is still being written, unless it is whole. Raises ``OSError``.
    """
    descriptor = open_regular(path, follow=True)
    try:
        size = os.fstat(descriptor).st_size
        for offset, line in lines_forward(descriptor, start, size):
            value = parse(line)
            if isinstance(value, dict):
                yield Line(offset, cast("Json", value))
            else:
                ledger.skipped[_reason(line, last=offset + len(line) >= size)] += 1
    finally:
        os.close(descriptor)


def whole(path: Path, most: int = FILE_BYTES) -> Any:
    """Read a file that is one JSON value; ``None`` if it is damaged. Raises ``OSError``."""
    return parse(read_bounded(path, most, follow=True))


def parse(data: bytes) -> Any:
    """Parse JSON; ``None`` if it is none or beyond the limits of depth, digits and length.

    Bytes that are no UTF-8 are replaced, control characters and lone surrogates pass.
    """
    try:
        check_limits(data)
        return json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (BeyondLimits, ValueError, RecursionError):
        return None


def _reason(line: bytes, *, last: bool) -> str:
    if not line.strip(b" \t\r\x00"):
        return BLANK
    return UNFINISHED if last else UNREADABLE


def items_in(value: Any) -> list[Any]:
    """The array itself; an empty one instead of anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects_in(value: Any) -> list[Json]:
    """The objects of an array; none of anything else."""
    return [cast("Json", item) for item in items_in(value) if isinstance(item, dict)]


def object_in(value: Any) -> Json:
    """The object itself; an empty one instead of anything else."""
    return cast("Json", value) if isinstance(value, dict) else {}


def text_in(value: Any) -> str:
    """The text itself; an empty one instead of anything else."""
    return value if isinstance(value, str) else ""
