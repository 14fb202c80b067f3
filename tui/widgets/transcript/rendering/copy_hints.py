"""Copy hints: continuation rows and decoration."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

_JOINT, _FRAME = "joint", "frame"

AFTER_BLANK = Style(meta={_JOINT: " "})
"""A continuation of the row above, after a blank."""

AT_ONCE = Style(meta={_JOINT: ""})
"""A continuation of the row above, without a blank."""

NO_TEXT = Style(meta={_FRAME: True})
"""A row of decoration."""


def joints(line: str, rows: Sequence[str]) -> Iterator[Style | None]:
    """The hint for each row that a line was wrapped to; none where that is unknown."""
    yield None
    place = 0
    for above, row in pairwise(rows):
        place = line.find(above.strip(), place) + len(above.strip())
        start = line.find(row.strip(), place)
        between = line[place:start]
        if start < 0 or between.strip():
            yield None
        else:
            yield AFTER_BLANK if between else AT_ONCE


def joint(strip: Strip) -> tuple[str, int] | None:
    """The text between this row and the one above on their line, and the column of the text."""
    place = 0
    for segment in strip:
        if (between := _said(segment, _JOINT)) is not None:
            blanks = len(segment.text) - len(segment.text.lstrip(" "))
            return str(between), place + blanks
        place += len(segment.text)
    return None


def is_text(strip: Strip) -> bool:
    """True unless the row is decoration."""
    return not any(_said(segment, _FRAME) for segment in strip)


def _said(segment: Segment, name: str) -> object:
    style = segment.style
    return style.meta.get(name) if style and style.meta else None
