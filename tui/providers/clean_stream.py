"""The stream of an answer, made clean: parsed as leniently as servers write, passed on strictly.

Model libraries read JSON events of exactly their vendor's shape, and fail on all others in ways of
their own. They are given such events only; everything else ends the stream as ``BrokenStream``.
"""

import codecs
import json
from collections.abc import Iterable, Iterator

from tui.providers.cleaning import (
    BrokenStream,
    Cleaner,
    JsonObject,
    Merge,
    as_object,
    failed,
    malformed,
    never_merged,
)
from tui.providers.event_stream import (
    LONGEST_LINE,
    NO_JSON,
    EndlessLine,
    Event,
    EventParser,
    is_done,
    json_value,
)

_MANY = 16
"""Events that come in one piece without being merged."""
_BLANK = codecs.BOM_UTF8 + b" \t\r\n"
_ENCODER = json.JSONEncoder(ensure_ascii=False)


class CleanStream:
    """Takes a server's bytes in pieces and gives clean events; it does no input or output."""

    def __init__(self, cleaner: Cleaner, merge: Merge = never_merged) -> None:
        self._cleaner = cleaner
        self._merge = merge
        self._parser = EventParser()
        self._body: list[bytes] | None = None
        self._body_length = 0
        self._begun = False
        self._had_event = False
        self._broken: BrokenStream | None = None
        self._had_end_mark = False

    @property
    def is_finished(self) -> bool:
        """True if the answer is whole, even if its end mark has not come."""
        return self._had_end_mark or self._cleaner.is_finished

    @property
    def is_done(self) -> bool:
        """True if nothing is to be read any more."""
        return self._had_end_mark or self._broken is not None

    def take(self, piece: bytes) -> bytes:
        """Give the clean events that a piece completes, up to one that breaks the stream."""
        if not self._begun and piece.strip():
            self._begun = True
            self._body = [] if piece.lstrip(_BLANK).startswith(b"{") else None
        if self._body is None:
            return self._clean(self._parser.feed(piece))
        self._add_to_body(self._body, piece)
        return b""

    def rest(self) -> bytes:
        """Give the clean events of the end. Raises ``BrokenStream`` if the answer is not whole."""
        if self._body is not None and not self._broken:
            return self._whole(b"".join(self._body))
        clean = b"" if self.is_done else self._clean(self._whole_events())
        if self._broken:
            raise self._broken
        if not self.is_finished:
            raise BrokenStream("cut" if self._had_event else "no_stream")
        return clean + _encoded(self._cleaner.rest())

    def _whole_events(self) -> Iterator[Event]:
        """The event at the end of the stream, unless the end cuts it."""
        for event in self._parser.rest():
            if event.value is not NO_JSON or event.name == "error" or is_done(event.text):
                yield event

    def _clean(self, events: Iterator[Event]) -> bytes:
        clean: list[JsonObject] = []
        try:
            for event in events:
                clean += self._cleaned(event)
                if self.is_done:
                    break
        except BrokenStream as broken:
            self._broken = broken
        except EndlessLine:
            self._broken = malformed()
        return _encoded(self._merged(clean) if len(clean) > _MANY else clean)

    def _merged(self, events: list[JsonObject]) -> list[JsonObject]:
        """Join neighbours that continue one text: the program is behind, or the server buffers.

        The library needs ten times as long for an event as the parser.
        """
        merged = events[:1]
        for event in events[1:]:
            both = self._merge(merged[-1], event)
            if both is None:
                merged.append(event)
            else:
                merged[-1] = both
        return merged

    def _cleaned(self, event: Event) -> list[JsonObject]:
        self._had_event = True
        if is_done(event.text):
            self._had_end_mark = True
            return []
        if event.name == "error":
            raise failed(event.text if event.value is NO_JSON else event.value)
        named: JsonObject = {"type": event.name} if event.name else {}
        clean = [*self._cleaner.clean(named | as_object(event.value))]
        self._had_end_mark = self._cleaner.is_done
        return clean

    def _add_to_body(self, body: list[bytes], piece: bytes) -> None:
        self._body_length += len(piece)
        if self._body_length > LONGEST_LINE:
            self._broken = BrokenStream("no_stream")
        else:
            body.append(piece)

    def _whole(self, body: bytes) -> bytes:
        """Give the events of an answer that is one JSON object."""
        answer = json_value(body.strip(_BLANK).decode("utf-8", "replace"))
        try:
            clean = _encoded(self._cleaner.clean(as_object(answer)))
        except BrokenStream:
            clean = b""
        if not clean:
            raise BrokenStream("no_stream")
        return clean + _encoded(self._cleaner.rest())


def _encoded(events: Iterable[JsonObject]) -> bytes:
    return b"".join(map(_encoded_event, events))


# Some client libraries split lines there, too.
_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}


def _encoded_event(event: JsonObject) -> bytes:
    name = f"event: {event['type']}\n" if "type" in event else ""
    text = f"{name}data: {_ENCODER.encode(event)}\n\n"
    if text.isascii():
        return text.encode()
    text = text.translate(_LINE_ENDS)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Joins the halves of a surrogate pair, and replaces those that stay alone.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
