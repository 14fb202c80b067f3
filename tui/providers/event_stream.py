"""The parser of server-sent events, as servers write them and not only as the standard has them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec

LONGEST_LINE = 16 * 1024 * 1024
"""Limit of a line, and of the data of one event, in bytes."""

NO_JSON: Any = object()
"""The value of an event whose data is no JSON."""

_DECODER = json.JSONDecoder(parse_constant=lambda _: None, strict=False)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_FIELDS = frozenset({b"id", b"retry"})
_decode = msgspec.json.Decoder().decode


class EndlessLine(Exception):
    """A line, or the data of one event, is over ``LONGEST_LINE``."""


@dataclass(frozen=True, slots=True)
class Event:
    """The name of an event, its data, and the value of the data as JSON."""

    name: str
    text: str
    value: Any = NO_JSON
    is_bare: bool = False
    """True for a line that is no field, and may be no event at all."""

    @property
    def is_done(self) -> bool:
        """True for the end mark of a stream, ``[DONE]`` in any case."""
        return self.text.strip(' \t\r\n"').lower() == "[done]"


class EventParser:
    """Parses a stream that arrives in pieces; comments, ids and empty events are no events.

    The blank line after an event may be missing: each line of data that is JSON by itself is an
    event. So is a line without ``data:`` that is JSON, and one that begins with ``error:``.
    """

    def __init__(self) -> None:
        self._lines = _Lines()
        self._name = ""
        self._data: list[bytes] = []
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
        field, colon, value = line.lstrip().partition(b":")
        if field == b"data":
            yield from self._add(value.removeprefix(b" "))
        elif field == b"event":
            self._name = _text(value.removeprefix(b" "))
        elif field.lower() == b"error":
            yield _event("error", value.removeprefix(b" "))
        elif field.startswith(b"{") or not (colon or field in _FIELDS):
            yield replace(_event("", line), is_bare=True)

    def _add(self, data: bytes) -> Iterator[Event]:
        if not self._data:
            event = _event(self._name, data)
            if event.value is not NO_JSON or event.is_done:
                self._name = ""
                yield event
                return
        self._length += len(data)
        if self._length > LONGEST_LINE:
            raise EndlessLine
        self._data.append(data)

    def _collected(self) -> Iterator[Event]:
        lines, name = self._data, self._name
        self._data, self._name, self._length = [], "", 0
        whole = b"\n".join(lines)
        if not whole.strip():
            return
        event = _event(name, whole)
        if event.value is NO_JSON and len(lines) > 1:
            # The blank line may be missing after a line that is none, such as a heartbeat.
            apart = [_event(name, line) for line in lines]
            if any(each.value is not NO_JSON or each.is_done for each in apart):
                yield from apart
                return
        yield event


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
        line = b"".join((*self._begun, end)) if self._begun else end
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


def json_value(data: bytes) -> Any:
    """Parse JSON, with null for NaN and infinity; ``NO_JSON`` if it is none."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # It takes lone surrogates, NaN, control characters, and bytes that are no UTF-8.
        return _DECODER.decode(_text(data))
    except (ValueError, RecursionError):
        return NO_JSON


def _event(name: str, data: bytes) -> Event:
    return Event(name, _text(data), json_value(data))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
