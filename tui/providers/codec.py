"""The interface of codecs, one for each wire format, and what their answers share.

A codec does no input or output: it makes the body of a request, and understands parsed events.
"""

import json
import re
import secrets
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tui.domain.journal.message import TokenUsage, ToolCall
from tui.domain.model_settings import ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.model_table import PLAIN, Traits, supported
from tui.providers.protocol import (
    AnswerEnded,
    ModelEvent,
    ModelRequest,
    TextReceived,
    ThinkingReceived,
)
from tui.providers.server_words import text_in

JsonObject = dict[str, Any]

Breakage = Literal["cut", "failed", "malformed", "no_stream", "silent", "declined", "ended"]
"""``declined`` by the model; ``ended`` for a reason that is no success: ``words`` names it."""

_DIGITS = 16
"""Limit of a count."""
_FULL = re.compile(
    r"continuation|(?:context_)?length(?:_exceeded)?|max_(?:output_)?tokens|model_(?:context_window_exceeded|length)"
)
_FILTERED = re.compile(
    r"blocklist|content[-_]filter(?:ed)?|guardrail_intervened|model_armor|recitation|safety"
    r"|image_(?:prohibited_content|recitation|safety)|prohibited_content|sensitive|spii"
)
# Reasons of an end, in lower case, as are those below.

BROKEN_OFF: Mapping[str, str] = {
    "abort": "broke off",
    "canceled": "cancelled the request",
    "cancelled": "cancelled the request",
    "error": "reports an error",
    "incomplete": "broke off",
    "insufficient_system_resource": "ran out of resources",
    "language": "does not support the language",
    "load": "was still loading the model",
    "malformed_function_call": "received an invalid tool call",
    "malformed_model_output": "received an invalid answer",
    "malformed_tool_use": "received an invalid tool call",
    "missing_thought_signature": "missed the thought of an earlier tool call",
    "network_error": "lost its connection to the model",
    "other": "broke off",
    "pause_turn": "paused",
    "timeout": "ran out of time",
    "too_many_tool_calls": "received too many tool calls",
    "unexpected_tool_call": "received an unexpected tool call",
}
"""Words about an answer whose end was not its own, by the server's reason."""


class BrokenStream(Exception):
    """The reason why an answer is no whole one; ``words`` are the server's, if it has any."""

    def __init__(self, breakage: Breakage, words: str = "", more: str = "") -> None:
        super().__init__(breakage)
        self.breakage: Breakage = breakage
        self.words = sendable(words)
        self.more = sendable(more)
        """The server's words about the reason of an end."""


class Codec(ABC):
    """The requests and the answers of one wire format, for one model."""

    path = ""
    """The end of the address of a request, which follows the ``base_url``."""
    headers: Mapping[str, str] = {}
    """The headers of a request, but for the key and those that all requests have."""
    optional: Mapping[str, str] = {}
    """Fields of a body, with dots, that can be left out if a server refuses them.

    The value is the parameter that is named to the user, empty for one that is not the user's.
    """
    thinks_unasked = False
    """True for a model that thinks without an effort, and whose vendor wants that back."""
    answer: type["IncomingAnswer"]
    """Begins an answer."""

    def __init__(self, choice: ModelChoice, traits: Traits = PLAIN) -> None:
        self.choice = choice
        self.model = sendable(choice.model)
        self.traits = traits

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        """Leave out the parameters that the model is known to refuse; ``body`` takes these."""
        return supported(parameters, self.traits)

    @abstractmethod
    def body(self, request: ModelRequest) -> JsonObject:
        """Make the body of a request."""

    def add_limits(self, body: JsonObject, parameters: ModelParameters) -> None:
        """Add the temperature and the limit of the answer, if they are set, to their fields."""
        values = {"temperature": parameters.temperature, "max_tokens": parameters.max_tokens}
        for path, name in self.optional.items():
            if (value := values.get(name)) is not None:
                *above, last = path.split(".")
                inner = body
                for each in above:
                    inner = inner.setdefault(each, {})
                inner[last] = value


PartKind = Literal["text", "thinking", "call", "result", "picture", "other"]


@dataclass(slots=True)
class Part:
    """A part of a message, received or to be sent."""

    kind: PartKind
    text: str = ""
    """The text, the thinking, the result, or the arguments of a call as they arrive."""
    id: str = ""
    name: str = ""
    """The name of a tool; the type of a picture."""
    value: Any = None
    """The arguments of a call; the bytes of a picture."""
    extra: JsonObject = field(default_factory=dict[str, Any])
    """Fields that only the server understands, and must have back, such as a signature."""


class IncomingAnswer(ABC):
    """One answer that arrives."""

    is_finished = False
    """True once the server gave the reason of the end; little follows it, perhaps nothing."""
    is_done = False
    """True once the last event came; nothing is read after it."""

    def __init__(self) -> None:
        self.reason = ""
        """The server's word for the reason of the end."""
        self.reason_words = ""
        """Its sentence about that."""
        self.refusal: str | None = None
        """The words with which the model declines to answer."""
        self.parts: dict[Any, Part] = {}
        """In order, by the place that the server gives them."""

    @abstractmethod
    def receive(self, event: JsonObject) -> Iterator[ModelEvent]:
        """Give the events of a parsed one; a whole answer, without a stream, is one event, too.

        Texts, thinking and counts as they come; the calls and the end belong to ``end``. Raises
        ``BrokenStream`` for an event that reports a failure, or has another shape.
        """

    @property
    def calls(self) -> list[Part]:
        """The tool calls, their arguments as text, or as a value."""
        return [part for part in self.parts.values() if part.kind == "call"]

    @property
    def kept(self) -> list[Part] | None:
        """The parts for the next request of the turn; ``None`` without any for the server only."""
        parts = list(self.parts.values())
        more = any(part.extra or part.kind in {"thinking", "other"} for part in parts)
        return parts if more else None

    @property
    def ended_by_itself(self) -> bool:
        """True if the model has said all that it wanted, as far as the server tells."""
        return not (is_odd_end(self.reason) or _FULL.fullmatch(self.reason.lower()))

    def part(self, place: Any, kind: PartKind) -> Part:
        """The part at a place, begun if need be."""
        return self.parts.setdefault(place, Part(kind))

    def text(self, place: Any, text: str) -> TextReceived:
        """Add to the text at a place."""
        self.part(place, "text").text += text
        return TextReceived(text)

    def thinking(self, place: Any, text: str) -> ThinkingReceived:
        """Add to the thinking at a place."""
        self.part(place, "thinking").text += text
        return ThinkingReceived(text)

    def picture(self, kind: Any = "") -> TextReceived:
        """The text in place of a picture, which has no other place here."""
        return TextReceived(f"[image: {kind}]" if kind and isinstance(kind, str) else "[image]")

    @staticmethod
    def failed(body: Any) -> BrokenStream:
        """Make the error for an event that reports one."""
        return BrokenStream("failed", text_in(body))

    @classmethod
    def counts(cls, usage: Any) -> defaultdict[str, int]:
        """The token counts of a usage object, 0 for others; those in an object of it with a dot."""
        found: defaultdict[str, int] = defaultdict(int)
        for name, value in cast("JsonObject", usage).items() if isinstance(usage, dict) else ():
            if isinstance(value, dict):
                found |= {f"{name}.{below}": count for below, count in cls.counts(value).items()}
            elif isinstance(value, str):
                found[name] = int(value) if value.isdecimal() and len(value) < _DIGITS else 0
            elif isinstance(value, int | float) and not isinstance(value, bool):
                found[name] = int(value) if 0 <= value < 10**_DIGITS and value % 1 == 0 else 0
        return found

    def usage(
        self, input_tokens: int, output_tokens: int, cached: int = 0, written: int = 0
    ) -> Iterator[TokenUsage]:
        """Report counts, if there are any; ``input_tokens`` has the cached ones, too."""
        if input_tokens or output_tokens:
            cached = min(cached, input_tokens)
            written = min(written, input_tokens - cached)
            yield TokenUsage(input_tokens, output_tokens, cached, written)

    def decline(self, words: str) -> None:
        """Add to the words with which the model declines to answer."""
        self.refusal = (self.refusal or "") + words

    def finish(self, reason: str, words: Any = None) -> None:
        """Set the reason of the end, and the server's words about it."""
        self.reason, self.is_finished = reason, True
        self.reason_words = words if isinstance(words, str) else ""

    def end(self) -> Iterator[ModelEvent]:
        """Give the calls and the end of an answer. Raises ``BrokenStream`` for one that failed."""
        if self.refusal is not None or self.reason.lower() == "refusal":
            raise BrokenStream("declined", self.refusal or "")
        if is_odd_end(self.reason):
            raise BrokenStream("ended", self.reason, self.reason_words)
        used: set[str] = set()
        for part in self.calls:
            # Not every server gives ids, or keeps them unique. Nine digits suit every server.
            call_id = sendable(part.id) or f"{secrets.randbelow(10**9):09}"
            while call_id in used:
                call_id += "_"
            used.add(call_id)
            arguments = _arguments(part.text or part.value)
            yield ToolCall(call_id, sendable(part.name), arguments)
        # Not every server says that it calls tools.
        ended = "tool_calls" if used else "stop"
        yield AnswerEnded("length" if _FULL.fullmatch(self.reason.lower()) else ended)


def is_odd_end(reason: str) -> bool:
    """True for a reason of an end that a content filter or a failure made."""
    return reason.lower() in BROKEN_OFF or bool(_FILTERED.fullmatch(reason.lower()))


def _arguments(given: Any) -> Any:
    """The arguments of a call: an object or null; an empty one if missing; all else stays text."""
    if isinstance(given, dict):
        return cast("JsonObject", given)
    text = str(given or "{}")
    try:
        # A pair of surrogates may have come in two pieces.
        value = json.loads(sendable(text) if text.strip() else "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, str) and value.lstrip().startswith("{"):
        # Some templates encode the object twice.
        return _arguments(value)
    return cast("Any", value) if value is None or isinstance(value, dict) else text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


# --- reading events


def as_object(value: Any) -> JsonObject:
    """Return a value that must be an object. Raises ``BrokenStream``."""
    if not isinstance(value, dict):
        raise BrokenStream("malformed")
    return cast("JsonObject", value)


def as_list(value: Any) -> list[Any]:
    """Return a value that must be a list, or missing. Raises ``BrokenStream``."""
    if not isinstance(value, list | None):
        raise BrokenStream("malformed")
    return cast("list[Any]", value or [])


def as_text(value: Any, missing: str | None = "") -> str:
    """Return a value that must be a text, or ``missing`` if it is. Raises ``BrokenStream``."""
    text = missing if value is None else value
    if not isinstance(text, str):
        raise BrokenStream("malformed")
    return text


class Halves:
    """Joins surrogate pairs that a server split over two pieces of a text; replaces single ones."""

    def __init__(self) -> None:
        self._held = ""

    def joined(self, text: str) -> str:
        """Give the text, with the half held back before it and without one at its end."""
        if text.isascii() and not self._held:
            return text
        text = self._held + text
        self._held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return sendable(text.removesuffix(self._held) if self._held else text)


def sendable(text: str) -> str:
    """Make a text encodable as UTF-8: join surrogate pairs, replace lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
