"""The parser of server-sent events, as servers write them and not only as the standard has them."""

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

import msgspec

LONGEST_LINE = 16 * 1024 * 1024
"""Limit of a line, of the data of one event, and of a body that is no stream, in bytes."""

NO_JSON: Any = object()
"""The value of an event whose data is no JSON."""

_DECODER = json.JSONDecoder(parse_constant=lambda _: None, strict=False)
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BLANK = codecs.BOM_UTF8 + b" \t\r\n"
_decode = msgspec.json.Decoder().decode


_Body = Literal["unknown", "object", "value", "stream"]


class EndlessLine(Exception):
    """Something is over ``LONGEST_LINE``."""


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
    """Parses a body that arrives in pieces; comments, ids and empty events are no events.

    The blank line after an event may be missing: each line of data that is JSON by itself is an
    event. So is a line without ``data:`` that is JSON, and one that begins with ``error:``; and a
    body that is one JSON value, over as many lines as it likes.
    """

    def __init__(self) -> None:
        self.body: _Body = "unknown"
        """What arrives: an ``object`` may be the whole ``value``, or the first line of several."""
        self.begins_with_json = False
        self._begun = bytearray()
        """What has come, until it is known to be a stream; then, the line that has begun."""
        self._after_return = False
        self._name = ""
        self._data = bytearray()
        """The lines of data of one event, each with a line end."""

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Give the events that a piece completes. Raises ``EndlessLine``."""
        if self.body != "stream":
            self._begun += piece
            self.body = self._recognised(piece)
            if self.body != "stream":
                self._limit(self._begun)
                return
            piece, self._begun = bytes(self._begun.removeprefix(codecs.BOM_UTF8)), bytearray()
        if self._after_return:
            piece = piece.removeprefix(b"\n")
        self._after_return = piece.endswith(b"\r")
        *ends, begun = _LINE_END.split(piece)
        for end in ends:
            line, self._begun = bytes(self._begun + end), bytearray()
            yield from self._parse(line)
        self._begun += begun
        self._limit(self._begun)

    def rest(self) -> Iterator[Event]:
        """Give the events that the end of the body completes."""
        if self.body in {"object", "value"}:
            value = json_value(bytes(self._begun.strip(_BLANK)))
            for each in cast("list[Any]", value) if isinstance(value, list) else [value]:
                yield Event("", "", each, is_bare=True)
        elif self.body == "stream":
            yield from self._parse(bytes(self._begun))
            yield from self._parse(b"")

    def _recognised(self, piece: bytes) -> _Body:
        if self.body == "value" or (self.body == "object" and b"\n" not in piece):
            return self.body
        line, end, _ = self._begun.lstrip(_BLANK).partition(b"\n")
        self.begins_with_json = line.startswith((b"{", b"["))
        if not self.begins_with_json:
            return "stream" if line else "unknown"
        if not end:
            return "object"
        return "stream" if isinstance(json_value(bytes(line)), dict) else "value"

    def _parse(self, line: bytes) -> Iterator[Event]:
        if not line:
            yield from self._collected()
            return
        field, colon, value = line.lstrip().partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            # Twice behind some gateways.
            value = value.removeprefix(b"data: ")
            if not self._data:
                event = _event(self._name, value)
                if event.value is not NO_JSON or event.is_done:
                    self._name = ""
                    yield event
                    return
            self._data += value + b"\n"
            self._limit(self._data)
        elif field == b"event":
            self._name = _text(value)
        elif field.lower() == b"error":
            yield _event("error", value)
        elif field.startswith(b"{") or b" " in field or not (colon or field in {b"id", b"retry"}):
            yield Event("", _text(line), json_value(line), is_bare=True)

    def _collected(self) -> Iterator[Event]:
        whole, name = bytes(self._data[:-1]), self._name
        self._data, self._name = bytearray(), ""
        if not whole.strip():
            return
        event = _event(name, whole)
        if event.value is NO_JSON and b"\n" in whole:
            # The blank line may be missing after a line that is none, such as a heartbeat.
            apart = [_event(name, line) for line in whole.split(b"\n")]
            if any(each.value is not NO_JSON or each.is_done for each in apart):
                yield from apart
                return
        yield event

    def _limit(self, collected: bytearray) -> None:
        if len(collected) > LONGEST_LINE:
            raise EndlessLine


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
