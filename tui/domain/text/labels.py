"""Titles, ages and counts in lists, and cutting text to terminal cells."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from tui.domain.text.safe_text import make_visible_line
from tui.domain.timestamps import parse_utc

LABEL_CELLS = 80
"""Limit of a title; a list cuts it to the width that is there."""
NAME_CHARACTERS = 200
"""Limit of a name that the user gives."""
FOLD_LINES = 10
"""A paste of more lines is called by their number, another one by that of its characters."""
EMPTY = "(empty)"
UNREADABLE = "(unreadable)"
_EXCERPT_CHARACTERS = 400
# Characters of one cell in any context: Latin, Greek, Cyrillic, punctuation, and the markers of
# groups.
_PLAIN = re.compile(
    "[ -~\xa1-\xac\xae-\u02ff\u0391-\u03a1\u03a3-\u0482\u2010-\u2027\u2030-\u205e\u25b8\u25be]*"
)


def label(name: str, summary: str, first_prompt: str, otherwise: str = EMPTY) -> str:
    """The title of a session: its name, else the beginning of its first prompt or summary."""
    for text in (name, first_prompt, summary):
        words = " ".join(make_visible_line(text.lstrip()[:_EXCERPT_CHARACTERS]).split())
        # Zero-width characters alone would be an invisible title.
        if cell_width(words) > 0:
            return cut_at_word(words, LABEL_CELLS)
    return otherwise


def whole_label(name: str, label: str) -> str:
    """The uncut title where there is room: all of the name, if the label is its beginning."""
    if not label.endswith("…"):
        return label
    words = " ".join(make_visible_line(name).split())
    return words if words.startswith(label[:-1]) else label


def cut_middle(text: str, most: int) -> str:
    """Cut the middle of a text that is longer than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2) :]}"


def plural(count: int, noun: str) -> str:
    """A number and its noun: ``1 message``, ``3 messages``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def paste_label(text: str) -> str:
    """The line in the place of a long paste."""
    lines = text.rstrip("\n").count("\n") + 1
    if lines > FOLD_LINES:
        return f"[pasted {lines:,} lines]"
    return f"[pasted {len(text):,} characters]"


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """A series of words: ``temperature, max_tokens and effort``."""
    *first, last = words or ("",)
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def local_minute(time: str) -> str:
    """Format a time of a file as local time, to the minute."""
    moment = parse_utc(time)
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else "unknown"


def scope_name(scope: str) -> str:
    """The short form of a scope: the directory name of a project."""
    path = scope.removeprefix("project:")
    if path == scope:
        return scope
    return path.rstrip("/").rpartition("/")[2] or path


def cell_width(text: str) -> int:
    """The width of a line in terminal cells."""
    if _PLAIN.fullmatch(text):
        return len(text)
    # Imported here: it takes 15 ms, and most starts show only plain text.
    from wcwidth import wcswidth

    return wcswidth(text)


def cut_to_cells(text: str, cells: int) -> str:
    """Cut a line to ``cells``, ending in an ellipsis if it was longer."""
    if cell_width(text) <= cells:
        return text
    if _PLAIN.fullmatch(text):
        return text[: max(0, cells - 1)].rstrip() + "…"
    from wcwidth import iter_graphemes

    kept = ""
    for grapheme in iter_graphemes(text):
        # Measured as a whole: some characters change the width of their neighbours.
        if cell_width(kept + grapheme + "…") > cells:
            break
        kept += grapheme
    return kept.rstrip() + "…"


def cut_at_word(text: str, cells: int) -> str:
    """Cut a line to ``cells``, behind a word unless that takes a third of it."""
    shorter = cut_to_cells(text, cells)
    kept = shorter.removesuffix("…")
    if shorter == text or text[len(kept) : len(kept) + 1].isspace():
        return shorter
    words = kept.rpartition(" ")[0].rstrip()
    return f"{words}…" if 3 * cell_width(words) >= 2 * cell_width(kept) else shorter


def pad_to_cells(text: str, cells: int) -> str:
    """Pad a line with spaces to ``cells``."""
    return text + " " * (cells - cell_width(text))


def age(then: datetime | None, now: datetime) -> str:
    """Format an age: ``5 min ago``; the local date from a week on."""
    if then is None:
        return "unknown"
    # In UTC: subtracting local times is wrong by an hour across a clock change.
    seconds = (now.astimezone(UTC) - then).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86400:
        return f"{plural(int(seconds // 3600), 'hour')} ago"
    if seconds < 7 * 86400:
        return f"{plural(int(seconds // 86400), 'day')} ago"
    # By the zone's rules: today's offset is wrong for half of the year.
    return then.astimezone().date().isoformat()


def damage_words(damaged: int, place: str) -> str:
    """Count the records that could not be read; ``place`` is a title, an id or a file."""
    return f"{plural(damaged, 'damaged record')} skipped in {place}; the file is unchanged"
