"""How a session is called and dated in a list."""

import re
from datetime import UTC, datetime

from tui.domain.text.safe_text import make_visible_line
from tui.domain.timestamps import parse_utc

LABEL_CELLS = 40
NAME_CHARACTERS = 200
EMPTY = "(empty)"
UNREADABLE = "(unreadable)"
_EXCERPT_CHARACTERS = 400
# Each is a character of one cell, whatever stands beside it: Latin, Greek, Cyrillic, punctuation,
# and the signs that stand before a group.
_PLAIN = re.compile(
    "[ -~\xa1-\xac\xae-\u02ff\u0391-\u03a1\u03a3-\u0482\u2010-\u2027\u2030-\u205e\u25b8\u25be]*"
)


def label(name: str, summary: str, first_prompt: str, otherwise: str = EMPTY) -> str:
    """Call a session by its name, else by the first words of its summary or first prompt."""
    for text in (name, summary, first_prompt):
        words = " ".join(make_visible_line(text.lstrip()[:_EXCERPT_CHARACTERS]).split())
        # Text of zero-width characters alone would look like no label at all.
        if cell_width(words) > 0:
            return cut_to_cells(words, LABEL_CELLS)
    return otherwise


def whole_label(name: str, label: str) -> str:
    """A label where there may be room for more of it: all of a name that it is the beginning of."""
    if not label.endswith("…"):
        return label
    words = " ".join(make_visible_line(name).split())
    return words if words.startswith(label[:-1]) else label


def plural(count: int, noun: str) -> str:
    """A number and its noun: ``1 message``, ``3 messages``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def local_minute(time: str) -> str:
    """Write a time of a file by the local clock."""
    moment = parse_utc(time)
    try:
        return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else "unknown"
    except (OverflowError, ValueError, OSError):
        return "unknown"


def scope_name(scope: str) -> str:
    """Call a scope as its user does: a project by the name of its directory."""
    path = scope.removeprefix("project:")
    if path == scope:
        return scope
    return path.rstrip("/").rpartition("/")[2] or path


def cell_width(text: str) -> int:
    """How many terminal cells a line takes."""
    if _PLAIN.fullmatch(text):
        return len(text)
    # Not at the top: it takes 15 ms, and most starts show nothing that needs it.
    from wcwidth import wcswidth

    return wcswidth(text)


def cut_to_cells(text: str, cells: int) -> str:
    """Cut a line to so many terminal cells, the last of them an ellipsis if any was cut."""
    if cell_width(text) <= cells:
        return text
    if _PLAIN.fullmatch(text):
        return text[: max(0, cells - 1)].rstrip() + "…"
    from wcwidth import iter_graphemes

    kept = ""
    for grapheme in iter_graphemes(text):
        # Not the sum of their widths: some characters change that of their neighbours.
        if cell_width(kept + grapheme + "…") > cells:
            break
        kept += grapheme
    return kept.rstrip() + "…"


def pad_to_cells(text: str, cells: int) -> str:
    """Fill a line with spaces up to so many terminal cells."""
    return text + " " * (cells - cell_width(text))


def age(then: datetime | None, now: datetime) -> str:
    """Say how long ago something was: from a week on, by its local date."""
    if then is None:
        return "unknown"
    # Two times of one zone are subtracted as its clocks show them, also across a change.
    seconds = (now.astimezone(UTC) - then).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86400:
        return _ago(int(seconds // 3600), "hour")
    if seconds < 7 * 86400:
        return _ago(int(seconds // 86400), "day")
    return _local_date(then)


def _local_date(moment: datetime) -> str:
    try:
        # By the rules of the place: the offset of today is wrong for half of the year.
        return moment.astimezone().date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "unknown"


def _ago(count: int, unit: str) -> str:
    return f"{plural(count, unit)} ago"
