"""Cuts and wraps text to cells, as Textual counts them, and cuts long text into pieces."""

from collections.abc import Iterator
from itertools import pairwise

from rich.cells import cell_len, chop_cells, get_character_cell_size

from tui.domain.text import cut_to_cells, late_pattern, make_visible, make_visible_line
from tui.widgets.textual_bases import adjust_cells, wrap_narrow_widgets

_PICTURE = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_JOINER, _NO_WIDTH = "\u200d", "\u200b"


# To Rich every joiner joins, and the next character takes no cell: a letter was invisible.
# It counts two joiners in a row in two ways, and fails when it cuts such a text to cells.
# A joiner that begins a text may join to the text before it in another colour.
_LOOSE_JOINER = late_pattern(f"(?<=[^{_PICTURE}\ufe0f])\u200d|\u200d(?![{_PICTURE}])")


def _without_loose_joiners(text: str) -> str:
    return _LOOSE_JOINER.sub(_NO_WIDTH, text) if _JOINER in text else text


adjust_cells(_without_loose_joiners)
wrap_narrow_widgets()

# More than any terminal is wide.
_MOST_CHARACTERS = 1000


def one_line(text: str) -> str:
    """The beginning of a text as one line, without control characters."""
    return make_visible_line(text[:_MOST_CHARACTERS])


def cut(line: str, cells: int) -> str:
    """Cut a line to at most so many cells, with an ellipsis if anything was cut."""
    for limit in range(cells, 0, -1):
        shorter = cut_to_cells(line, limit)
        # Textual and wcwidth differ on a few characters; Textual draws.
        if cell_len(shorter) <= cells:
            return shorter
    return ""


def cut_start(line: str, cells: int) -> str:
    """Cut the beginning of a line: of a path, an id or an address the end says most."""
    end = line
    while end and cell_len(end if end is line else f"…{end}") > cells:
        end = end[max(1, len(end) - cells) :]
    return end if end is line or not end else f"…{end}"


def cut_middle(line: str, cells: int) -> str:
    """Cut the middle of a line: of two names with one beginning the ends differ."""
    if cell_len(line) <= cells:
        return line
    end = cut_start(line, cells // 2).removeprefix("…")
    return cut(line, cells - cell_len(end)) + end


def fill(line: str, cells: int) -> str:
    """Cut or pad a line to exactly so many cells."""
    shorter = cut(line, cells)
    return shorter + " " * (cells - cell_len(shorter))


PIECE = 8 * 1024
"""The most characters of one block: they are wrapped and drawn at once."""

_LINE_ENDS = late_pattern("\r\n|[\u2028\u2029]")
_BLANKS = late_pattern(" +")
_BEGINNING = late_pattern(r" *(?:(?:[-*#•]|\d+[.:)]?) +)?")
_COLUMNS = late_pattern("   +")
_WORD = late_pattern(" *[!-\u2e7f]*")
_JOINTS = "/\\?&#=|"
_LESSER_JOINTS = "-_.,;:%+~)]}>"
_NEVER_FIRST = frozenset(
    "、。，．・：；？！゛゜ヽヾゝゞ々ー〜～）〕］｝〉》」』】〟’”»…‥％℃"  # noqa: RUF001 - they are meant
    "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ,.;:?!)]}%\"'\u200d\ufe0f"
)
_ENDS_OF_EMOJI = (("\U0001f1e6", "\U0001f1ff"), ("\U0001f3fb", "\U0001f3ff"))
_NEVER_LAST = frozenset("（〔［｛〈《「『【〝‘“«￥＄([{\u200d")  # noqa: RUF001 - the same


def clean(text: str) -> str:
    """Replace control characters in foreign text by marks, and line separators by newlines."""
    return make_visible(_LINE_ENDS.sub("\n", text))


def wrap_words(line: str, width: int) -> list[str]:
    """Wrap a line into rows of at most ``width`` cells, at the places a reader expects."""
    *starts, last = (0, *breaks(line, width))
    rows = [line[start:end].rstrip(" ") for start, end in pairwise([*starts, last])]
    rest = line[last:]
    return [*rows, rest if fitting(rest, width) >= len(rest) else rest.rstrip(" ")]


def wrap_hanging(line: str, width: int) -> list[str]:
    """Wrap a line of a list or a table with a hanging indent."""
    if fitting(line, width) >= len(line):
        return [line]
    found = _BEGINNING.match(line)
    inset = found.end() if found and found.end() <= width // 3 else 0
    text = _COLUMNS.sub("  ", line[inset:])
    first, *rest = wrap_words(text, width - inset)
    return [line[:inset] + first, *(" " * inset + row for row in rest)]


def breaks(line: str, width: int) -> Iterator[int]:
    """Yield the beginnings of a line's rows, after the first.

    Lines break at a space or beside a wide character; within a word only if it is longer than a
    row, then after a separator such as the slash of an address.
    """
    start = 0
    while start + (fit := fitting(line[start : start + width * 4 + 9], width)) < len(line):
        start += _break(line[start : start + width * 4 + 9], fit, width)
        blanks = _BLANKS.match(line, start)
        start = blanks.end() if blanks else start
        if start == len(line):
            return
        yield start


def fitting(line: str, width: int) -> int:
    """The number of characters of a line that fit into ``width`` cells, at least one."""
    head = line[: width + 1]
    if head.isascii():
        return min(len(line), width)
    # Combining marks take no cells; no language needs more than a few on a letter.
    for characters in (width + 8, width * 4 + 8):
        head = line[:characters]
        if cell_len(head) > width:
            return max(1, len(chop_cells(head, width)[0]))
    return len(head)


def shorten(line: str, width: int) -> str:
    """Cut a line to at most ``width`` cells, with an ellipsis if anything was cut."""
    if fitting(line, width) >= len(line):
        return line
    return line[: fitting(line, width - 1)] + "…"


def cut_pieces(text: str, limit: int = PIECE) -> Iterator[str]:
    """Cut text into pieces of at most ``limit`` characters, at line breaks or spaces."""
    start = 0
    while len(text) - start > limit:
        end = start + limit
        cut = text.rfind("\n", start, end)
        if cut <= start:
            cut = text.rfind(" ", start, end)
        if cut <= start:
            yield text[start:end]
            start = end
        else:
            yield text[start:cut]
            start = cut + 1
    yield text[start:]


def guess_rows(text: str, width: int) -> int:
    """Estimate the number of rows of a text, without wrapping it."""
    return text.count("\n") + 1 + len(text) // max(width, 1)


def _break(line: str, fit: int, width: int) -> int:
    """The place to break a line of which ``fit`` characters fit."""
    gap = _last_gap(line, fit)
    if gap == fit:
        return fit
    word = _WORD.match(line, gap)
    if gap and word and cell_len(word[0].lstrip(" ")) <= width:
        return gap
    return _last_joint(line, gap, fit) or gap or fit


def _last_gap(line: str, fit: int) -> int:
    """The last place up to ``fit`` that is not within a word; 0 without one."""
    if line.isascii():
        gap = line.rfind(" ", 0, fit + 1)
        return gap if line[: max(gap, 0)].strip() else 0
    for place in range(fit, 0, -1):
        if _parts(line[place - 1], line[place]) and line[:place].strip():
            return place
    return 0


def _parts(before: str, after: str) -> bool:
    """Check whether a row may break between two characters."""
    if after == " " or before == " ":
        return after == " "
    if get_character_cell_size(before) < 2 > get_character_cell_size(after):
        return False
    # Nor does a row begin with half of a flag, or a skin tone.
    is_end = any(first <= after <= last for first, last in _ENDS_OF_EMOJI)
    if is_end or get_character_cell_size(after) == 0:
        return False
    return before not in _NEVER_LAST and after not in _NEVER_FIRST


def _last_joint(line: str, gap: int, fit: int) -> int:
    """The last place to break within the word after ``gap``; 0 without one."""
    for joints in (_JOINTS, "" if gap else _LESSER_JOINTS):
        for place in range(fit, max(gap + 1, 0 if gap else fit // 2), -1):
            if line[place - 1] in joints and line[place] not in joints:
                return 0 if line[:place].endswith("://") else place
    return 0
