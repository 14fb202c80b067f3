"""Find in one conversation: substring search, also within words and across line breaks.

Case, accents and width are ignored; a query has no operators. Marks of bold and code (``*`` and
backquotes) are invisible in an answer and match only if they were typed.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from unicodedata import normalize

import msgspec

from tui.domain.journal.message import FileBlock, Message
from tui.domain.search.tokens import BELONGS_TO_LETTER, without_points
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


class MessageMatches(msgspec.Struct, frozen=True):
    """A matching message and its number of matches."""

    message_id: str
    count: int


class Match(msgspec.Struct, frozen=True):
    """One match: the ``number``-th in its message, from 0."""

    message_id: str
    number: int


class ReadingPosition(msgspec.Struct, frozen=True):
    """The top of the viewport: a message, and the number of its matches above the first row."""

    message_id: str | None
    above: int = 0


class Matches:
    """Matching messages, newest first, collected while the session is scanned from its end.

    ``whole`` is true once the beginning was reached; ``current`` is the selected match.
    """

    def __init__(self, reading: ReadingPosition) -> None:
        self.whole = False
        self.total = 0
        self.current: Match | None = None
        self._reading = reading
        self._found: list[MessageMatches] = []
        self._recent = 0
        self._index = -1
        self._below: int | None = None if reading.message_id else 0

    def take(self, found: Sequence[MessageMatches], below: int | None = None) -> None:
        """Add the matching messages of the next part upwards.

        If the top of the viewport is in that part, ``below`` counts those from it on.
        """
        if below is not None and self._below is None:
            self._below = len(self._found) + below
        self._found += found
        self.total += _sum(found)

    def end(self) -> None:
        """Note that the beginning was reached."""
        self.whole = True
        if self._below is None:
            self._below = 0

    def begin(self, recent: Sequence[MessageMatches], below: int | None) -> None:
        """Add the matching messages of the loaded end, which may change."""
        self.take(recent, below)
        self._recent = len(recent)

    def renew(self, recent: Sequence[MessageMatches]) -> None:
        """Replace the matching messages of the loaded end."""
        old, gained = self._recent, len(recent) - self._recent
        self.total += _sum(recent) - _sum(self._found[:old])
        self._found[:old] = recent
        self._recent = len(recent)
        if self._below is not None:
            self._below = max(0, self._below + gained)
        if self.current is None:
            return
        if self._index >= old:
            self._index += gained
            return
        ids = [found.message_id for found in recent]
        if self.current.message_id in ids:
            self._go(ids.index(self.current.message_id), self.current.number)
        else:
            self.current, self._index = None, -1

    def go_to_nearest(self) -> Match | None:
        """Select the first match from the top of the viewport on, else the last before it.

        ``None`` without matches, or while the scan has not reached that far.
        """
        place = self._from_reader() or self._before_reader()
        return self._go(*place) if place else None

    def step(self, count: int) -> tuple[Match, bool] | None:
        """Select the next match (-1: the previous one), and tell if that wrapped around.

        ``None`` while the scan has not found it yet.
        """
        place = self._next(count)
        if place is not None:
            return self._go(*place), False
        if not self.whole or not self._found:
            return None
        return self._go(*((len(self._found) - 1, 0) if count > 0 else (0, -1))), True

    def _next(self, count: int) -> tuple[int, int] | None:
        if self.current is None:
            return self._from_reader() if count > 0 else self._before_reader()
        number = self.current.number + count
        if 0 <= number < self._found[self._index].count:
            return self._index, number
        index = self._index - count
        return (index, 0 if count > 0 else -1) if 0 <= index < len(self._found) else None

    def _from_reader(self) -> tuple[int, int] | None:
        """The first match from the top of the viewport on."""
        if not self._below:
            return None
        here, above = self._below - 1, self._at_reader()
        if self._found[here].count > above:
            return here, above
        return (here - 1, 0) if here else None

    def _before_reader(self) -> tuple[int, int] | None:
        """The last match above the viewport."""
        if self._below is None:
            return None
        if above := self._at_reader():
            return self._below - 1, above - 1
        return (self._below, -1) if self._below < len(self._found) else None

    def _at_reader(self) -> int:
        """The number of matches in the top message above the viewport."""
        here = self._found[self._below - 1] if self._below else None
        same = here is not None and here.message_id == self._reading.message_id
        return self._reading.above if same else 0

    @property
    def position(self) -> int | None:
        """The number of the selected match, counted from the beginning; ``None`` while unknown."""
        if self.current is None or not self.whole:
            return None
        return _sum(self._found[self._index + 1 :]) + self.current.number + 1

    def _go(self, index: int, number: int) -> Match:
        found = self._found[index]
        last = found.count - 1
        self._index = index
        self.current = Match(found.message_id, last if number < 0 else min(number, last))
        return self.current


def _sum(found: Iterable[MessageMatches]) -> int:
    return sum(each.count for each in found)
