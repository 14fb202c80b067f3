"""The parser of server-sent events, as servers write them and not only as the standard has them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST_LINE = 16 * 1024 * 1024
"""Limit of a line, and of the data of one event, in bytes."""

NO_JSON: Any = object()
"""The value of an event whose data is no JSON."""


def _as_null(_: str) -> None:
    return None


_DECODER = json.JSONDecoder(parse_constant=_as_null)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")


class EndlessLine(Exception):
    """A line, or the data of one event, is over ``LONGEST_LINE``."""


@dataclass(frozen=True, slots=True)
class Event:
    """The name of an event, its data, and the value of the data as JSON."""

    name: str
    text: str
    value: Any = NO_JSON


class EventParser:
    """Parses a stream that arrives in pieces; comments, ids and empty events are no events.

    The blank line after an event may be missing: each line of data that is JSON by itself is an
    event.
    """

    def __init__(self) -> None:
        self._lines = _Lines()
        self._name = ""
        self._data: list[str] = []
        self._length = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Give the events that a piece completes. Raises ``EndlessLine``."""
        for line in self._lines.feed(piece):
            yield from self._take(line)

    def rest(self) -> Iterator[Event]:
        """Give the event that the end of the stream completes."""
        yield from self._take(self._lines.rest())
        yield from self._take(b"")

    def _take(self, line: bytes) -> Iterator[Event]:
        if not line:
            yield from self._collected()
            return
        field, _, value = line.partition(b":")
        text = value.decode("utf-8", "replace").removeprefix(" ")
        if field == b"event":
            self._name = text
        elif field == b"data":
            yield from self._add(text)

    def _add(self, text: str) -> Iterator[Event]:
        if not self._data and (event := _event(self._name, text)) is not None:
            self._name = ""
            yield event
            return
        self._length += len(text)
        if self._length > LONGEST_LINE:
            raise EndlessLine
        self._data.append(text)

    def _collected(self) -> Iterator[Event]:
        text, name = "\n".join(self._data), self._name
        self._data, self._name, self._length = [], "", 0
        if text.strip():
            yield _event(name, text) or Event(name, text)


class _Lines:
    """Splits pieces into lines, which end as the standard has it: CR, LF, or both."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        self._length = 0
        self._after_return = False
        self._is_first = True

    def feed(self, piece: bytes) -> Iterator[bytes]:
        if self._after_return:
            piece = piece.removeprefix(b"\n")
        self._after_return = piece.endswith(b"\r")
        *whole, begun = _LINE_END.split(piece)
        for line in whole:
            yield self._ended(line)
        self._begin(begun)

    def rest(self) -> bytes:
        return self._ended(b"")

    def _ended(self, end: bytes) -> bytes:
        line = b"".join((*self._begun, end))
        self._begun, self._length = [], 0
        if self._is_first:
            self._is_first = False
            return line.removeprefix(_BYTE_ORDER_MARK)
        return line

    def _begin(self, begun: bytes) -> None:
        self._length += len(begun)
        if self._length > LONGEST_LINE:
            raise EndlessLine
        if begun:
            self._begun.append(begun)


def json_value(text: str) -> Any:
    """Parse JSON, with null for NaN and infinity; ``NO_JSON`` if it is none."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return NO_JSON


def _event(name: str, text: str) -> Event | None:
    """The event of data that is complete: JSON, or the mark of the end."""
    value = json_value(text)
    if value is NO_JSON and not is_done(text):
        return None
    return Event(name, text, value)


def is_done(text: str) -> bool:
    """True for the end mark of a stream, ``[DONE]`` in any case."""
    return text.strip().lower() == "[done]"
