"""An answer as it arrives: bytes or parsed events go in, the events of the program come out."""

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal, cast

from tui.providers.codec import Answer, BrokenStream, Halves, JsonObject, Part, failed
from tui.providers.event_stream import (
    LONGEST_LINE,
    NO_JSON,
    EndlessLine,
    Event,
    EventParser,
    json_value,
)
from tui.providers.protocol import (
    ModelEvent,
    TextReceived,
    TextTakenBack,
    ThinkingReceived,
    UsageReported,
)
from tui.providers.thinking import ThinkingFilter

_MANY = 16
"""Events that come in one piece without being joined."""
_BLANK = codecs.BOM_UTF8 + b" \t\r\n"
_PLAIN = re.compile(r"\[?[^\W_][\w .:,;!?'\"()/-]*\]?")
"""A line of words, such as a heartbeat; all else that is no JSON was meant to be some."""
_WORDS = re.compile(r"\[?[^\W_]|\W*error\b", re.IGNORECASE)
_OF_ANSWERS = ("choices", "type", "candidates", "id")
_ERROR = re.compile(
    r"error|exception|fail|invalid|denied|refused|must |cannot|can't|could not|unable|unavailable"
    r"|exceed|overload|not (?:found|supported|allowed)|timed? ?out|too (?:long|large|many)",
    re.IGNORECASE,
)

_Mode = Literal["unknown", "object", "whole", "stream"]
"""What arrives: an ``object`` may be all of an answer, or the first of several lines."""


class Reception:
    """Receives one answer; it does no input or output.

    An event that cannot be read does not end the answer: it is passed over, quoted if it looks like
    an error, and marks the answer as incomplete if it was meant to be a part of it.
    """

    def __init__(self, answer: Answer, *, thinks_first: bool = False) -> None:
        self._answer = answer
        self._filter = ThinkingFilter(inside=thinks_first)
        self._parser = EventParser()
        self._text, self._thinking = Halves(), Halves()
        self._mode: _Mode = "unknown"
        self._body = bytearray()
        """What has come, until it is known to be a stream."""
        self._is_bare = False
        self._events = 0
        self._has_end_mark = False
        self._broken: BrokenStream | None = None
        self._malformed: BrokenStream | None = None
        self._unread = ""
        self._has_text = False
        self._counts: UsageReported | None = None
        self._reported: UsageReported | None = None

    @property
    def is_finished(self) -> bool:
        """True if the answer is whole, even if its end mark has not come."""
        return self._has_end_mark or self._answer.is_finished or self.is_done

    @property
    def is_done(self) -> bool:
        """True if nothing is to be read any more."""
        return self._has_end_mark or self._broken is not None or self._answer.is_done

    @property
    def lacked_start(self) -> bool:
        """True if the text began with thinking, and without a start tag."""
        return self._filter.lacked_start

    @property
    def has_calls(self) -> bool:
        return bool(self._answer.calls)

    @property
    def kept(self) -> list[Part] | None:
        """The parts of the answer for the next request of its turn."""
        return self._answer.kept

    def feed(self, piece: bytes) -> list[ModelEvent]:
        """Give the events that a piece completes."""
        if self._mode != "stream":
            self._body += piece
            self._mode = self._found_mode(piece)
            if self._mode != "stream":
                return []
            piece, self._body = bytes(self._body), bytearray()
        events = list(self._received(self._parser.feed(piece)))
        return _joined(events) if len(events) > _MANY else events

    def take(self, event: JsonObject) -> Iterator[ModelEvent]:
        """Give the events of a parsed one."""
        self._mode = "stream"
        yield from self._received([Event("", "", event)])

    def break_off(self, broken: BrokenStream) -> None:
        """Note why nothing more comes, unless the answer is whole."""
        if not self.is_finished:
            self._broken = broken

    def end(self) -> Iterator[ModelEvent]:
        """Give the events of the end. Raises ``BrokenStream`` if the answer is not whole."""
        if not self.is_done:
            yield from self._received(self._rest())
        incomplete = self._incomplete()
        yield from self._rest_of_text(is_whole=incomplete is None)
        if self._counts != self._reported and self._counts:
            yield self._counts
        if incomplete:
            raise incomplete
        yield from self._answer.end()

    def _incomplete(self) -> BrokenStream | None:
        """The reason why the answer is not whole."""
        if self._broken:
            return self._broken
        if not self.is_finished and not self._is_whole():
            if self._malformed or not self._unread:
                is_stream = self._events and not self._is_object
                return self._malformed or BrokenStream("cut" if is_stream else "no_stream")
            return BrokenStream("failed", self._unread)
        if self._unread and not (self._has_text or self.has_calls):
            return BrokenStream("failed", self._unread)
        return self._malformed

    def _is_whole(self) -> bool:
        """True for an answer that was one JSON object, with or without a reason of its end."""
        return self._is_object and (self._has_text or self.has_calls)

    @property
    def _is_object(self) -> bool:
        """True if nothing came but one JSON object."""
        return self._is_bare and self._events == 1

    def _found_mode(self, piece: bytes) -> _Mode:
        if len(self._body) > LONGEST_LINE:
            self._broken = BrokenStream("no_stream")
        if self._mode == "whole" or (self._mode == "object" and b"\n" not in piece):
            return self._mode
        line, end, _ = self._body.lstrip(_BLANK).partition(b"\n")
        if not line:
            return "unknown"
        self._is_bare = line.startswith((b"{", b"["))
        if not self._is_bare:
            return "stream"
        if not end:
            return "object"
        return "stream" if isinstance(json_value(bytes(line)), dict) else "whole"

    def _rest(self) -> Iterator[Event]:
        """The events at the end of the stream, unless the end cuts them."""
        if self._mode in {"object", "whole"}:
            value = json_value(bytes(self._body.strip(_BLANK)))
            for each in cast("list[Any]", value) if isinstance(value, list) else [value]:
                yield Event("", "", each, is_bare=True)
            return
        for event in self._parser.rest():
            if event.value is not NO_JSON or event.name == "error" or _WORDS.match(event.text):
                yield event

    def _received(self, events: Iterable[Event]) -> Iterator[ModelEvent]:
        try:
            for event in events:
                yield from self._take(event)
                if self.is_done:
                    return
        except EndlessLine:
            self._broken = BrokenStream("malformed")

    def _take(self, event: Event) -> Iterator[ModelEvent]:
        if event.is_bare and event.value is NO_JSON and not self._events:
            # No stream at all.
            return
        self._events += 1
        try:
            if event.name == "error":
                raise failed(event.text if event.value is NO_JSON else event.value)
            value: Any = event.value
            if isinstance(value, list):
                value = next(iter(cast("list[Any]", value)), None)
            if isinstance(value, dict) and value:
                fields = cast("JsonObject", value)
                if _is_error(fields):
                    raise failed(fields)
                named: JsonObject = {"type": event.name} if event.name else {}
                for each in self._answer.receive(named | fields):
                    yield from self._given(each)
            else:
                self._pass_over(event)
        except BrokenStream as broken:
            if self._is_object:
                self._broken = BrokenStream("no_stream")
            elif broken.breakage == "malformed":
                self._malformed = broken
            else:
                self._broken = broken

    def _pass_over(self, event: Event) -> None:
        """Pass over an event that is no object. Raises ``BrokenStream`` for an error."""
        if event.is_done:
            self._has_end_mark = True
            return
        text = event.value if isinstance(event.value, str) else event.text
        is_text = isinstance(event.value, str) or event.value is NO_JSON
        if is_text and _ERROR.search(text) and _WORDS.match(text):
            raise failed(text)
        if event.value is NO_JSON and not event.is_bare:
            if not _PLAIN.fullmatch(text):
                raise BrokenStream("malformed")
            self._unread = text

    def _given(self, event: ModelEvent) -> Iterator[ModelEvent]:
        match event:
            case TextReceived(text):
                yield from self._filtered(*self._filter.take(self._text.joined(text)))
            case ThinkingReceived(text):
                if text := self._thinking.joined(text):
                    yield ThinkingReceived(text)
            case UsageReported():
                self._counts = event
                if self._reported is None:
                    # The first one is all there is of a stopped answer.
                    self._reported = event
                    yield event
            case _:
                yield event

    def _filtered(
        self,
        thinking: str,
        text: str,
        taken_back: bool = False,  # noqa: FBT001, FBT002
    ) -> Iterator[ModelEvent]:
        if taken_back:
            yield TextTakenBack()
        if thinking:
            yield ThinkingReceived(thinking)
        if text:
            self._has_text = True
            yield TextReceived(text)

    def _rest_of_text(self, *, is_whole: bool) -> Iterator[ModelEvent]:
        """Give the text that was held back; thinking that never ended is all of the answer."""
        tag = self._filter.unclosed
        if tag and self.has_calls:
            return
        thinking, text, _ = self._filter.rest()
        # What was cut off may have been thinking, and is named so.
        is_named = tag and not (is_whole and self._answer.ended_by_itself)
        yield from self._filtered(thinking, f"{tag}{text}" if is_named else text)


def _is_error(event: JsonObject) -> bool:
    """True for an object that is an error, or has one beside a piece of an answer."""
    kinds = event.get("object"), event.get("type")
    if event.get("error") or event.get("errors") or "error" in kinds:
        return True
    is_known = not event.keys().isdisjoint(_OF_ANSWERS)
    return not is_known and any(event.get(name) for name in ("message", "detail", "msg"))


def _joined(events: list[ModelEvent]) -> list[ModelEvent]:
    """Join neighbours that continue one text: the program is behind, or the server buffers."""
    joined: list[ModelEvent] = events[:1]
    for event in events[1:]:
        match joined[-1], event:
            case (TextReceived(first), TextReceived(second)):
                joined[-1] = TextReceived(first + second)
            case (ThinkingReceived(first), ThinkingReceived(second)):
                joined[-1] = ThinkingReceived(first + second)
            case _:
                joined.append(event)
    return joined
