"""Finding a text in one conversation: what is typed is looked for as it is, anywhere in a word.

Case, accents and width are ignored, and so is whether words stand on one line or on two; nothing
of a query is an operator. What only makes text bold or code (``*`` and backquotes) counts where it
was typed, as nobody sees it in an answer.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from unicodedata import normalize

import msgspec

from tui.domain.journal.message import Message
from tui.domain.text.tokens import BELONGS_TO_LETTER, without_points

_MARKUP = "*`"
_UNIT = re.compile(f"[\\s\\S][{BELONGS_TO_LETTER}]*")
_BLANKS = re.compile("[\t\n\x0b\x0c\r\x1c-\x1f\x85\u2028\u2029]|  ")
_ENDED, _FULL = "\n", "\v"


class Needle(msgspec.Struct, frozen=True):
    """What is looked for: ``folded`` is never empty in one that ``needle`` has made."""

    text: str
    folded: str
    with_markup: bool


class Piece(msgspec.Struct, frozen=True):
    """A part of a place that fits: characters of one row."""

    row: int
    begin: int
    end: int


Place = tuple[Piece, ...]
"""Where a text fits: on one row, or on more where it is wrapped."""


class _Folding(dict[int, str]):
    """What each character is compared by, found out when it is first needed."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = without_points(chr(code).casefold())
        return folded


_FOLDING = _Folding()


def needle(text: str) -> Needle | None:
    """What to look for; ``None`` if nothing can be found by it."""
    with_markup = any(mark in text for mark in _MARKUP)
    folded = " ".join(_fold(text, with_markup=with_markup).split())
    return Needle(text, folded, with_markup) if folded else None


def count(wanted: Needle, text: str) -> int:
    """How often a text has it."""
    folded = _fold(text, with_markup=wanted.with_markup)
    if _BLANKS.search(folded):
        # A blank line separates, any other blanks are one.
        folded = "\n".join(" ".join(part.split()) for part in folded.split("\n\n"))
    return folded.count(wanted.folded)


def count_in(wanted: Needle, message: Message) -> int:
    """How often a message has it, also in what is folded on screen."""
    return sum(count(wanted, text) for text in texts_of(message))


def texts_of(message: Message) -> Iterator[str]:
    """What can be found of a message: its text, and its calls with their arguments."""
    yield message.text
    for call in message.tool_calls:
        yield call.name
        yield arguments_text(call.arguments)


def arguments_text(arguments: Any) -> str:
    """A call's arguments as they are shown."""
    try:
        return json.dumps(arguments, ensure_ascii=False, indent=2, default=str)
    except (ValueError, RecursionError):
        return "…"


def places(wanted: Needle, rows: Sequence[tuple[str, bool]]) -> list[Place]:
    """Where rows of wrapped text have it, in order.

    With each row goes whether it was filled: what goes on below it may be the same word.
    """
    joined, origins = _joined(wanted, rows)
    return [
        tuple(_pieces(origins[found.start() : found.end()]))
        for found in _pattern(wanted.folded).finditer(joined)
    ]


def _fold(text: str, *, with_markup: bool) -> str:
    folded = text.lower() if text.isascii() else normalize("NFKC", text).translate(_FOLDING)
    return folded if with_markup else folded.replace("*", "").replace("`", "")


_Origin = tuple[int, int, int] | None
"""The row, and from where to where in it."""


def _joined(wanted: Needle, rows: Sequence[tuple[str, bool]]) -> tuple[str, list[_Origin]]:
    """The folded rows as one text, and where each character of it comes from."""
    text: list[str] = []
    origins: list[_Origin] = []
    for number, (row, full) in enumerate(rows):
        for begin, end, unit in _units(row, with_markup=wanted.with_markup):
            if unit == " " and text and text[-1] in " \n\v":
                continue
            text += unit
            origins += [(number, begin, end)] * len(unit)
        if text and text[-1] == " ":
            text.pop()
            origins.pop()
        text.append(_FULL if full else _ENDED)
        origins.append(None)
    return "".join(text), origins


def _units(row: str, *, with_markup: bool) -> Iterator[tuple[int, int, str]]:
    for found in _UNIT.finditer(row):
        folded = _fold(found[0], with_markup=with_markup)
        for character in folded:
            yield *found.span(), " " if character.isspace() else character


def _pieces(origins: Sequence[_Origin]) -> Iterator[Piece]:
    row, begin, end = -1, 0, 0
    for origin in filter(None, origins):
        if origin[0] != row:
            if row >= 0:
                yield Piece(row, begin, end)
            row, begin, _ = origin
        end = origin[2]
    if row >= 0:
        yield Piece(row, begin, end)


@lru_cache(maxsize=8)
def _pattern(folded: str) -> re.Pattern[str]:
    words = (f"{_FULL}?".join(map(re.escape, word)) for word in folded.split(" "))
    return re.compile(f"[ {_ENDED}{_FULL}]".join(words))
