"""Columns that hold: text of which terminals think differently how wide it is moves nothing else.

Emoji that are joined, coloured or chosen by a selector, flags, scripts that combine and what is
new in Unicode take more cells in one terminal and fewer in another. Behind them in their row
everything would be too far left or right, the lines of the frame too.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import rich.cells
from rich.cells import cell_len, get_character_cell_size

# Of one width everywhere: Latin, Greek, Cyrillic, punctuation, lines, Japanese, Chinese, Korean.
_SURE = (
    " -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u1fff\u2010-\u2027\u2030-\u205e"
    "\u2070-\u20bf\u2100-\u2319\u2400-\u2426\u2500-\u25fc\u2713-\u2718\u2e80-\u3029\u3030-\u303e\u3041-\u3096\u309b-\u30ff"
    "\u3105-\u3163\u3165-\u318e\u31f0-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff9d\uffe0-\uffe6"
    "\U00020000-\U0003fffd"
)
# Most frames have no other characters.
_PLAIN = re.compile(
    "[\\x00-~\xa0-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2100-\u2319\u2500-\u25fc]*"
)
_SEQUENCE = re.compile(
    r"\x1b\[(?:\d+;(?P<column>\d+)H|[0-9;:<=>?]*[ -/]*[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|(?P<row>[\n\r])"
)
# The same rows are drawn again and again.
_TEXTS = 1024
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]+")
# Pictures, and what is not seen and yet takes a cell here and there.
_ALONE = re.compile(
    "[\xad\u200b-\u200f\u2060-\u206f\u231a-\u2bff\ufe0e\ufe0f\ufeff\U0001f000-\U0001ffff]"
)
_JOINER = "\u200d"
_SYLLABLE_PARTS = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")


def hold_columns(frame: str, *, relayed: bool = False) -> str:
    """A frame as Textual draws it, with all that follows text of doubted width put in its place.

    Where it is ``relayed``, what may be too wide is not written at all: a family is its first
    member. Whoever relays it does not put in its place what follows.
    """
    if _PLAIN.fullmatch(frame) or _doubted().search(frame) is None:
        return frame
    return "".join(_held(stretch, relayed) for stretch in _stretches(frame))


@cache
def _doubted() -> re.Pattern[str]:
    # Not at the top: it takes 4 ms, and most starts show nothing that needs it.
    return re.compile(f"[^{_SURE}\\x00-\\x1f\\x7f]")


def _stretches(frame: str) -> Iterator[str]:
    """The parts of a frame that are within a row; the first thing in each is where it begins."""
    begin = 0
    for found in _SEQUENCE.finditer(frame):
        if found["column"] or found["row"]:
            yield frame[begin : found.start()]
            begin = found.start()
    yield frame[begin:]


def _held(stretch: str, relayed: bool) -> str:  # noqa: FBT001 - of the one caller
    place = _SEQUENCE.match(stretch)
    if place is None or not place["column"] or _doubted().search(stretch) is None:
        return stretch
    column, parts = int(place["column"]), _parts(stretch)
    held: list[str] = []
    end = column + sum(_width(part) for part in parts)
    for part in parts:
        width = _width(part)
        room = width if relayed else end - column
        held.append(_steady(part, column, room) if _is_doubted(part) else part)
        column += width
    return "".join(held)


def _parts(stretch: str) -> Sequence[str]:
    """Sequences, and the texts between them: doubted ones by themselves."""
    parts: list[str] = []
    begin = 0
    for found in _SEQUENCE.finditer(stretch):
        parts += _units(stretch[begin : found.start()])
        parts.append(found[0])
        begin = found.end()
    return [*parts, *_units(stretch[begin:])]


@lru_cache(_TEXTS)
def _units(text: str) -> Sequence[str]:
    """A text parted where something doubted begins or ends; joined is what is drawn as one."""
    if _doubted().search(text) is None:
        return [text]
    units: list[str] = []
    # Not by its name: the widgets put one that counts joiners in its place.
    for begin, end, _ in rich.cells.split_graphemes(text)[0]:
        grapheme = text[begin:end]
        if units and _are_one(units[-1], grapheme):
            units[-1] += grapheme
        else:
            units.append(grapheme)
    return units


def _are_one(before: str, grapheme: str) -> bool:
    if not before.strip(_JOINER):
        # Joined to what is before in another colour, it has its room there.
        return not cell_len(before + grapheme)
    if not _is_doubted(before) or not _is_doubted(grapheme):
        return _is_doubted(before) == _is_doubted(grapheme)
    if _FLAGS.match(grapheme):
        # Two of these are one flag.
        return _FLAGS.fullmatch(before) is not None and len(before) % 2 == 1
    # A word of a script that combines is one.
    return not any(_ALONE.search(each) for each in (before, grapheme))


def _is_doubted(part: str) -> bool:
    return not part.startswith("\x1b") and _doubted().search(part) is not None


def _width(part: str) -> int:
    return 0 if part.startswith("\x1b") else cell_len(part)


def _steady(text: str, column: int, room: int) -> str:
    """A text where it may take more or fewer cells than meant: what follows is put in its place.

    ``room`` is how many cells it may take, as they are drawn again at once.
    """
    width = cell_len(text)
    # Fewer: what was there before would still be.
    blank = f"{' ' * width}\x1b[{column}G" if width else ""
    return f"{blank}{_fitting(text, room)}\x1b[{column + width}G"


def _fitting(text: str, room: int) -> str:
    """As much of it as no terminal makes wider."""
    if 2 * len(text) <= room:
        return text
    for place, character in enumerate(text):
        room -= _most_cells(character)
        if room < 0:
            return text[:place].rstrip(_JOINER)
    return text


def _most_cells(character: str) -> int:
    """How wide a character is where nothing joins it to the one before."""
    from unicodedata import category

    # What is put on a letter takes no room, nor do the later parts of a syllable of Korean.
    is_part = category(character).startswith("M") or _SYLLABLE_PARTS.match(character)
    return get_character_cell_size(character) or (0 if is_part else 1)
