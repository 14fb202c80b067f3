"""Repositions the cursor after characters of ambiguous width.

Emoji that are joined, coloured or chosen by a selector, flags, combining scripts and characters
new in Unicode take more cells in one terminal than in another. Everything behind them in a row
would be displaced, the lines of the frame included.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import rich.cells
from rich.cells import cell_len, get_character_cell_size

from tui.domain.text import late_pattern

# One width everywhere: Latin, Greek, Cyrillic, punctuation, lines, Japanese, Chinese, Korean.
_SURE = (
    " -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u1fff\u2010-\u2027\u2030-\u205e"
    "\u2070-\u20bf\u2100-\u2319\u2400-\u2426\u2500-\u25fc\u2713-\u2718\u2e80-\u3029\u3030-\u303e\u3041-\u3096\u309b-\u30ff"
    "\u3105-\u3163\u3165-\u318e\u31f0-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff9d\uffe0-\uffe6"
    "\U00020000-\U0003fffd"
)
# Most frames have no other characters.
_AMBIGUOUS = late_pattern(f"[^{_SURE}\\x00-\\x1f\\x7f]")
_PLAIN = re.compile(
    "[\\x00-~\xa0-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2100-\u2319\u2500-\u25fc]*"
)
_SEQUENCE = late_pattern(
    r"\x1b\[(?:\d+;(?P<column>\d+)H|[0-9;:<=>?]*[ -/]*[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|(?P<row>[\n\r])"
)
# Texts whose parts are cached: the same rows are drawn again and again.
_TEXTS = 1024
_FLAGS = late_pattern("[\U0001f1e6-\U0001f1ff]+")
# Pictures, and invisible characters that take a cell in some terminals.
_ALONE = late_pattern(
    "[\xad\u200b-\u200f\u2060-\u206f\u231a-\u2bff\ufe0e\ufe0f\ufeff\U0001f000-\U0001ffff]"
)
_JOINER = "\u200d"
_SYLLABLE_PARTS = late_pattern("[\u1160-\u11ff\ud7b0-\ud7ff]")


def fix_columns(frame: str, *, multiplexed: bool = False) -> str:
    """Put the cursor in its place after each text of ambiguous width in a frame.

    ``multiplexed``: a multiplexer draws the rows again and drops these positions, so characters
    that may be too wide are left out: a family becomes its first member.
    """
    if _PLAIN.fullmatch(frame) or _AMBIGUOUS.search(frame) is None:
        return frame
    fixed: list[str] = []
    begin = 0
    for found in _SEQUENCE.finditer(frame):
        # Each stretch of a row begins with its position.
        if found["column"] or found["row"]:
            fixed.append(_fixed(frame[begin : found.start()], multiplexed))
            begin = found.start()
    return "".join([*fixed, _fixed(frame[begin:], multiplexed)])


def _fixed(stretch: str, multiplexed: bool) -> str:  # noqa: FBT001 - passed on
    """Position the cursor behind each text that may take more or fewer cells than counted."""
    place = _SEQUENCE.match(stretch)
    if place is None or not place["column"] or _AMBIGUOUS.search(stretch) is None:
        return stretch
    column, parts = int(place["column"]), _parts(stretch)
    fixed: list[str] = []
    end = column + sum(_width(part) for part in parts)
    for part in parts:
        width = _width(part)
        if _is_ambiguous(part):
            # If it takes fewer cells, their old content would stay.
            fixed.append(f"{' ' * width}\x1b[{column}G" if width else "")
            # The cells behind it are drawn right after: it may take them.
            fixed.append(_fitting(part, width if multiplexed else end - column))
            fixed.append(f"\x1b[{column + width}G")
        else:
            fixed.append(part)
        column += width
    return "".join(fixed)


def _parts(stretch: str) -> Sequence[str]:
    """Split into sequences and texts; texts of ambiguous width are parts of their own."""
    parts: list[str] = []
    begin = 0
    for found in _SEQUENCE.finditer(stretch):
        parts += _units(stretch[begin : found.start()])
        parts.append(found[0])
        begin = found.end()
    return [*parts, *_units(stretch[begin:])]


@lru_cache(_TEXTS)
def _units(text: str) -> Sequence[str]:
    """Split a text where ambiguous width begins or ends, but never within a drawn character."""
    if _AMBIGUOUS.search(text) is None:
        return [text]
    units: list[str] = []
    # Looked up in its module: the widgets replace it there.
    for begin, end, _ in rich.cells.split_graphemes(text)[0]:
        grapheme = text[begin:end]
        if units and _is_joined(units[-1], grapheme):
            units[-1] += grapheme
        else:
            units.append(grapheme)
    return units


def _is_joined(before: str, grapheme: str) -> bool:
    if not before.strip(_JOINER):
        # A joiner of text in another colour: its cells are counted there.
        return not cell_len(before + grapheme)
    if not _is_ambiguous(before) or not _is_ambiguous(grapheme):
        return _is_ambiguous(before) == _is_ambiguous(grapheme)
    if _FLAGS.match(grapheme):
        # Two regional indicators are one flag.
        return _FLAGS.fullmatch(before) is not None and len(before) % 2 == 1
    # A word of a combining script is drawn as one.
    return not any(_ALONE.search(each) for each in (before, grapheme))


def _is_ambiguous(part: str) -> bool:
    return not part.startswith("\x1b") and _AMBIGUOUS.search(part) is not None


def _width(part: str) -> int:
    return 0 if part.startswith("\x1b") else cell_len(part)


def _fitting(text: str, room: int) -> str:
    """The beginning of a text that no terminal draws wider than ``room``."""
    if 2 * len(text) <= room:
        return text
    from unicodedata import category

    for place, character in enumerate(text):
        # In a terminal that joins nothing. Combining marks take no cell even there, nor do the
        # later parts of a Korean syllable.
        is_part = category(character).startswith("M") or _SYLLABLE_PARTS.match(character)
        room -= get_character_cell_size(character) or (0 if is_part else 1)
        if room < 0:
            return text[:place].rstrip(_JOINER)
    return text
