"""Find in one conversation: substring search, also within words and across line breaks.

Case, accents and width are ignored; a query has no operators. Marks of bold and code (``*`` and
backquotes) are invisible in an answer and match only if they were typed.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from unicodedata import normalize

import msgspec

from tui.domain.journal.blocks import FileBlock
from tui.domain.journal.message import Message
from tui.domain.text.tokens import BELONGS_TO_LETTER, without_points
from tui.domain.tool_servers import tool_title

_MARKUP = "*`"
_UNIT = re.compile(f"[\\s\\S][{BELONGS_TO_LETTER}]*")
_BLANKS = re.compile("[\t\n\x0b\x0c\r\x1c-\x1f\x85\u2028\u2029]|  ")
_ENDED, _FULL = "\n", "\v"


class Needle(msgspec.Struct, frozen=True):
    """A parsed query; ``folded`` is not empty."""

    text: str
    folded: str
    with_markup: bool


class Piece(msgspec.Struct, frozen=True):
    """The part of a match on one row: characters ``begin`` to ``end``."""

    row: int
    begin: int
    end: int


Place = tuple[Piece, ...]
"""A match; of several pieces where it is wrapped."""


class _Folding(dict[int, str]):
    """A cache of the folded form of each character."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = without_points(chr(code).casefold())
        return folded


_FOLDING = _Folding()


def needle(text: str) -> Needle | None:
    """Parse a query; ``None`` if it is blank after folding."""
    with_markup = any(mark in text for mark in _MARKUP)
    folded = " ".join(_fold(text, with_markup=with_markup).split())
    return Needle(text, folded, with_markup) if folded else None


def count(wanted: Needle, text: str) -> int:
    """Count the matches in a text."""
    folded = _fold(text, with_markup=wanted.with_markup)
    if _BLANKS.search(folded):
        # A blank line separates; any other run of blanks counts as one.
        folded = "\n".join(" ".join(part.split()) for part in folded.split("\n\n"))
    return folded.count(wanted.folded)


def count_in(wanted: Needle, message: Message) -> int:
    """Count the matches in a message, also in parts that are folded on screen."""
    return sum(count(wanted, text) for text in texts_of(message))


def texts_of(message: Message) -> Iterator[str]:
    """The searchable texts of a message: its text, its files, and its calls with arguments."""
    if message.role != "user" or not message.attachments:
        yield message.text
    else:
        # As on screen, where a file is not fenced.
        yield message.typed_text
        for attachment in message.attachments:
            yield attachment.label
            if isinstance(attachment, FileBlock):
                yield attachment.text
    for call in message.tool_calls:
        yield tool_title(call.name)
        yield arguments_text(call.arguments)


def arguments_text(arguments: Any) -> str:
    """Format the arguments of a call as on screen."""
    try:
        return json.dumps(arguments, ensure_ascii=False, indent=2, default=str)
    except (ValueError, RecursionError):
        return "…"


def places(wanted: Needle, rows: Sequence[tuple[str, bool]]) -> list[Place]:
    """Find the matches in rows of wrapped text, in order.

    The flag of a row is true if it is full, so that a word may continue on the next one.
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
"""Row, begin and end of the characters a folded character comes from."""


def _joined(wanted: Needle, rows: Sequence[tuple[str, bool]]) -> tuple[str, list[_Origin]]:
    """Join the folded rows; with the origin of each character."""
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
