"""An answer as it arrives: bytes or parsed events go in, the events of the program come out.

Server-sent events are parsed as servers write them, and not only as the standard has them; thinking
that a model writes into its text is taken out.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import msgspec

from tui.domain.journal.message import TokenUsage
from tui.providers.codec import BrokenStream, Halves, IncomingAnswer, JsonObject
from tui.providers.protocol import ModelEvent, TextReceived, TextTakenBack, ThinkingReceived
from tui.providers.server_words import value_at

# --- events of a stream

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


@dataclass(eq=False, repr=False)
class EventParser:
    """Parses a body that arrives in pieces; comments, ids and empty events are no events.

    The blank line after an event may be missing: each line of data that is JSON by itself is an
    event. So is a line without ``data:`` that is JSON, and one that begins with ``error:``; and a
    body that is one JSON value, over as many lines as it likes.
    """

    body: _Body = "unknown"
    """What arrives: an ``object`` may be the whole ``value``, or the first line of several."""
    begins_with_json: bool = False
    _begun: bytearray = field(default_factory=bytearray)
    """What has come, until it is known to be a stream; then, the line that has begun."""
    _after_return: bool = False
    _name: str = ""
    _data: bytearray = field(default_factory=bytearray)
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
            self._name = value.decode("utf-8", "replace")
        elif field.lower() == b"error":
            yield _event("error", value)
        elif field.startswith(b"{") or b" " in field or not (colon or field in {b"id", b"retry"}):
            yield _event("", line, is_bare=True)

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
        return _DECODER.decode(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return NO_JSON


def _event(name: str, data: bytes, *, is_bare: bool = False) -> Event:
    return Event(name, data.decode("utf-8", "replace"), json_value(data), is_bare)


# --- thinking in a text

_TAGS: Sequence[tuple[str, Sequence[str]]] = (
    ("<think>", ("</think>",)),
    ("<thinking>", ("</thinking>",)),
    ("<thought>", ("</thought>",)),
    ("<seed:think>", ("</seed:think>",)),
    ("[THINK]", ("[/THINK]",)),
    ("◁think▷", ("◁/think▷",)),
    # The channels of gpt-oss; servers leave out some of the marks between two.
    *(
        (
            f"{begin}<|channel|>analysis<|message|>",
            (
                "<|end|><|start|>assistant<|channel|>final<|message|>",
                "<|start|>assistant<|channel|>final<|message|>",
                "<|channel|>final<|message|>",
            ),
        )
        for begin in ("", "<|start|>assistant")
    ),
    ("<|channel|>final<|message|>", ("",)),
)
"""How thinking begins and ends, at the beginning of an answer."""
_ENDS = ("</think>", "</thinking>", "</thought>", "[/THINK]")
"""The ends of thinking whose beginning a template may have."""
_END = re.compile("|".join(map(re.escape, _ENDS)))
_STARTS = re.compile(r"<(?:think|thinking|thought)>|\[THINK\]")
_BEGINNING = re.compile(r"[<\[◁]")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


@dataclass(eq=False, repr=False)
class ThinkingFilter:
    """Separates ``<think>...</think>`` from the beginning of a text that arrives in pieces.

    Only there: further on, the tags are part of the answer. Some servers leave out the start tag:
    the template of their model has it already. Nothing tells so before the end tag, and unless
    the text comes whole, that before it has been given as the answer by then: it is taken back
    once more text follows. ``lacked_start`` is set for the next answer of that model, which is
    filtered with ``begins_inside``.
    """

    begins_inside: bool = False
    unclosed: str = ""
    """The tag of thinking that has begun and not ended."""
    lacked_start: bool = False
    """True if the text began with thinking, and without a start tag."""
    _place: Literal["before", "inside", "after", "text", "past"] = "before"
    _ends: Sequence[str] = _ENDS
    _held: str = ""
    _given: list[str] = field(default_factory=list[str])
    """The thinking, or the text that may turn out to be thinking."""

    def receive(self, piece: str) -> Iterator[TextReceived | ThinkingReceived | TextTakenBack]:
        """Give what is known of the text by now, also of that held back before."""
        self._held += piece
        if self._place == "before":
            self._begin()
        if self._place == "inside" and (thinking := self._inside()):
            yield ThinkingReceived(thinking)
        if self._place == "after":
            self._held = self._held.lstrip()
            self._place = "past" if self._held else "after"
        if self._place == "text":
            yield from self._looked_through()
        elif self._place == "past" and self._held:
            text, self._held = self._held, ""
            yield TextReceived(text)

    def rest(self) -> str:
        """Give the text that was held back at the end of the stream.

        Thinking that has not ended was the answer, or is all that there is of it.
        """
        if self._place == "inside":
            return "".join(self._given) + self._held
        tag = _END.match(self._held) if self._place == "text" else None
        return self._held[tag.end() :] if tag else self._held

    def _begin(self) -> None:
        text = self._held.lstrip()
        if any(start != text and start.startswith(text) for start, _ in _TAGS):
            return
        if found := next((tag for tag in _TAGS if text.startswith(tag[0])), None):
            self.unclosed, self._ends = found
            self._held = text.removeprefix(self.unclosed)
            self.begins_inside = False
        elif not self.begins_inside:
            place, _ = _end_in(text)
            self.begins_inside = place >= 0 and _may_be_thinking(text[:place])
        self._place = "inside" if found or self.begins_inside else "text"

    def _inside(self) -> str:
        places = ((self._held.find(end), -len(end), end) for end in self._ends)
        if found := min((each for each in places if each[0] >= 0), default=None):
            place, _, end = found
            thinking, self._held = self._held[:place], self._held[place + len(end) :]
            self._place, self.unclosed = "after", ""
            self.lacked_start = self.begins_inside
            return thinking
        thinking, self._held = _without_beginning(self._held, self._ends)
        self._given.append(thinking)
        return thinking

    def _looked_through(self) -> Iterator[TextReceived | ThinkingReceived | TextTakenBack]:
        """Give a text of the answer, unless an end tag in it says that it was none.

        The beginning of a tag is held back where one counts, and so is a tag with nothing after it.
        """
        text, self._held = self._held, ""
        place, tag = _end_in(text, self._given)
        before, answer = text[:place], text[place + len(tag) :].lstrip()
        if place < 0:
            before, held = _without_beginning(text, _ENDS)
            if held and not _counts_behind("".join([*self._given, before])):
                before, held = text, ""
        elif not _may_be_thinking("".join([*self._given, before])):
            self._place = "past"
            before, held = text, ""
        elif answer:
            self._place, self.lacked_start = "past", True
            yield TextTakenBack()
            if before:
                yield ThinkingReceived(before)
            yield TextReceived(answer)
            return
        else:
            held = text[place:]
        self._held = held
        self._given.append(before)
        if before:
            yield TextReceived(before)


def _end_in(text: str, before: Sequence[str] = ()) -> tuple[int, str]:
    """The first end tag that counts as one; -1 if there is none."""
    if not _END.search(text):
        return -1, ""
    earlier = "".join(before)
    whole = earlier + text
    for tag in _END.finditer(whole, len(earlier)):
        if _counts_behind(whole[: tag.start()]):
            return tag.start() - len(earlier), tag[0]
    return -1, ""


def _counts_behind(before: str) -> bool:
    """True for an end tag that begins a line, or is in the first one and is not quoted there."""
    first_line = before.lstrip()
    return before[-1:] in {"", "\n"} or ("\n" not in first_line and first_line.count("`") % 2 == 0)


def _without_beginning(text: str, tags: Sequence[str]) -> tuple[str, str]:
    """Split off the longest end of a text that may be the beginning of a tag."""
    longest = max(map(len, tags))
    begun = _BEGINNING.search(text, max(0, len(text) - longest))
    for size in range(len(text) - begun.start() if begun else 0, 0, -1):
        end = text[-size:]
        # A bracket by itself begins too much else.
        if end != "[" and any(tag.startswith(end) for tag in tags):
            return text[:-size], end
    return text, ""


def _may_be_thinking(text: str) -> bool:
    """False for a text with a start tag, or one that ends within a block of code."""
    return not _STARTS.search(text) and len(_FENCE.findall(text)) % 2 == 0


# --- one answer

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


@dataclass(eq=False, repr=False)
class Reception:
    """Receives one answer; it does no input or output.

    An event that cannot be read does not end the answer: it is passed over, quoted if it looks like
    an error, and marks the answer as incomplete if it was meant to be a part of it.
    """

    answer: IncomingAnswer
    filter: ThinkingFilter = field(default_factory=ThinkingFilter)
    _parser: EventParser = field(default_factory=EventParser)
    _text: Halves = field(default_factory=Halves)
    _thinking: Halves = field(default_factory=Halves)
    _events: int = 0
    _has_end_mark: bool = False
    _broken: BrokenStream | None = None
    _malformed: BrokenStream | None = None
    _unread: str = ""
    _has_text: bool = False
    _is_known: bool = False
    _counts: TokenUsage | None = None
    _reported: TokenUsage | None = None

    @property
    def is_finished(self) -> bool:
        """True if the answer is whole, even if its end mark has not come."""
        return self.answer.is_finished or self.is_done

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
