"""An answer as it arrives: bytes or parsed events go in, the events of the program come out."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from tui.domain.journal.message import TokenUsage
from tui.providers.codec import BrokenStream, Halves, IncomingAnswer, JsonObject
from tui.providers.event_stream import NO_JSON, EndlessLine, Event, EventParser
from tui.providers.protocol import ModelEvent, TextReceived, ThinkingReceived
from tui.providers.server_words import value_at
from tui.providers.thinking import ThinkingFilter

_MANY = 16
"""Events that come in one piece without being joined."""
_PLAIN = re.compile(r"\[?[^\W_][\w .:,;!?'\"()/-]*\]?")
"""A line of words, such as a heartbeat; all else that is no JSON was meant to be some."""
_WORDS = re.compile(r"\[?[^\W_]|\W*error\b", re.IGNORECASE)
_OF_ANSWERS = ("choices", "type", "candidates", "usageMetadata", "id")
_ERROR = re.compile(
    r"error|exception|fail|invalid|denied|refused|must |cannot|can't|could not|unable|unavailable"
    r"|exceed|overload|not (?:found|supported|allowed)|timed? ?out|too (?:long|large|many)",
    re.IGNORECASE,
)


class Reception:
    """Receives one answer; it does no input or output.

    An event that cannot be read does not end the answer: it is passed over, quoted if it looks like
    an error, and marks the answer as incomplete if it was meant to be a part of it.
    """

    def __init__(self, answer: IncomingAnswer, *, thinks_first: bool = False) -> None:
        self.answer = answer
        self.filter = ThinkingFilter(inside=thinks_first)
        self._parser = EventParser()
        self._text, self._thinking = Halves(), Halves()
        self._events = 0
        self._has_end_mark = False
        self._broken: BrokenStream | None = None
        self._malformed: BrokenStream | None = None
        self._unread = ""
        self._has_text = self._is_known = False
        self._counts: TokenUsage | None = None
        self._reported: TokenUsage | None = None

    @property
    def is_finished(self) -> bool:
        """True if the answer is whole, even if its end mark has not come."""
        return self._has_end_mark or self.answer.is_finished or self.is_done

    @property
    def is_done(self) -> bool:
        """True if nothing is to be read any more."""
        return self._has_end_mark or self._broken is not None or self.answer.is_done

    def feed(self, piece: bytes) -> list[ModelEvent]:
        """Give the events that a piece completes."""
        events = list(self._received(self._parser.feed(piece)))
        return _joined(events) if len(events) > _MANY else events

    def receive(self, event: JsonObject) -> Iterator[ModelEvent]:
        """Give the events of a parsed one."""
        return self._received([Event("", "", event)])

    def break_off(self, broken: BrokenStream) -> None:
        """Say why nothing more comes, unless the answer is whole."""
        if not self.is_finished:
            self._broken = broken

    def end(self) -> Iterator[ModelEvent]:
        """Give the events of the end. Raises ``BrokenStream`` if the answer is not whole."""
        if not self.is_done:
            # Half an event at the end is none.
            rest = self._parser.rest()
            yield from self._received(
                event
                for event in rest
                if event.value is not NO_JSON or event.name == "error" or _WORDS.match(event.text)
            )
        incomplete = self._incomplete()
        tag = self.filter.unclosed
        if not (tag and self.answer.calls):
            # Thinking that never ended is all of the answer. What was cut off may have been
            # thinking, and is named so.
            is_all = incomplete is None and self.answer.ended_by_itself
            if text := ("" if is_all else tag) + self.filter.rest():
                yield TextReceived(text)
        if self._counts != self._reported and self._counts:
            yield self._counts
        if incomplete:
            raise incomplete
        yield from self.answer.end()

    def _incomplete(self) -> BrokenStream | None:
        """The reason why the answer is not whole."""
        if self._broken:
            return self._broken
        has_come = self._has_text or bool(self.answer.calls)
        # An answer that was one JSON object needs no reason of its end.
        is_whole = self.is_finished or (self._is_object and has_come)
        if self._unread and not (has_come if is_whole else self._malformed):
            return BrokenStream("failed", self._unread)
        if is_whole or self._malformed:
            return self._malformed
        is_stream = self._is_known and not self._is_object
        return BrokenStream("cut" if is_stream else "no_stream")

    @property
    def _is_object(self) -> bool:
        """True if nothing came but one JSON object."""
        return self._parser.begins_with_json and self._events == 1

    def _received(self, events: Iterable[Event]) -> Iterator[ModelEvent]:
        try:
            for event in events:
                yield from self._read(event)
                if self.is_done:
                    return
        except EndlessLine:
            is_stream = self._parser.body == "stream"
            self._broken = BrokenStream("malformed" if is_stream else "no_stream")

    def _read(self, event: Event) -> Iterator[ModelEvent]:
        if event.is_bare and event.value is NO_JSON and not self._events:
            # No stream at all.
            return
        self._events += 1
        try:
            if event.name == "error":
                raise self.answer.failed(event.text if event.value is NO_JSON else event.value)
            value: Any = event.value
            if isinstance(value, list):
                value = next(iter(cast("list[Any]", value)), None)
            if isinstance(value, dict) and value:
                fields = cast("JsonObject", value)
                if _is_error(fields):
                    raise self.answer.failed(fields)
                self._is_known |= not event.text or _has_answer(fields)
                named: JsonObject = {"type": event.name} if event.name else {}
                for each in self.answer.receive(named | fields):
                    yield from self._cleaned(each)
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
        is_text = isinstance(event.value, str) or event.value is NO_JSON
        text = event.value if isinstance(event.value, str) else event.text
        if is_text and _ERROR.search(text) and _WORDS.match(text):
            raise self.answer.failed(text)
        if event.value is NO_JSON and not event.is_bare:
            if not _PLAIN.fullmatch(text):
                raise BrokenStream("malformed")
            self._unread = text

    def _cleaned(self, event: ModelEvent) -> Iterator[ModelEvent]:
        """Give what the user sees of an event: no halves of characters, and not all counts."""
        match event:
            case TextReceived(text):
                for each in self.filter.receive(self._text.joined(text)):
                    self._has_text |= isinstance(each, TextReceived)
                    yield each
            case ThinkingReceived(text):
                if text := self._thinking.joined(text):
                    yield ThinkingReceived(text)
            case TokenUsage():
                self._counts = event
                if self._reported is None:
                    # The first one is all there is of a stopped answer.
                    self._reported = event
                    yield event
            case _:
                yield event


def _is_error(event: JsonObject) -> bool:
    """True for an object that is an error, or has one beside a piece of an answer."""
    kinds = event.get("object"), event.get("type")
    if event.get("error") or event.get("errors") or "error" in kinds:
        return True
    # MiniMax's stands beside a piece, too.
    if value_at(event, "base_resp", "status_code"):
        return True
    return not _has_answer(event) and any(event.get(name) for name in ("message", "detail", "msg"))


def _has_answer(event: JsonObject) -> bool:
    """True for a piece of an answer in any of the formats."""
    return not event.keys().isdisjoint(_OF_ANSWERS)


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
