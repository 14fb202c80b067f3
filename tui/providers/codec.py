"""The interface of codecs, one for each wire format, and what their answers share.

A codec does no input or output: it makes the body of a request, and understands parsed events.
"""

import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from tui.domain.journal.message import ToolCall
from tui.domain.model_settings import ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.model_table import PLAIN, Traits, supported
from tui.providers.protocol import (
    AnswerEnded,
    ModelEvent,
    ModelRequest,
    TextReceived,
    ThinkingReceived,
    ToolCallReceived,
    UsageReported,
)
from tui.providers.server_words import text_in

JsonObject = dict[str, Any]

Breakage = Literal["cut", "failed", "malformed", "no_stream", "silent", "declined", "ended"]
"""``declined`` by the model; ``ended`` for a reason that is no success: ``words`` names it."""

_LONGEST_COUNT = 16
_FULL = frozenset(
    {
        "continuation",
        "length",
        "max_output_tokens",
        "max_tokens",
        "model_context_window_exceeded",
        "model_length",
    }
)

FILTERED = frozenset(
    {
        "blocklist",
        "content-filter",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "image_prohibited_content",
        "image_recitation",
        "image_safety",
        "model_armor",
        "prohibited_content",
        "recitation",
        "safety",
        "sensitive",
        "spii",
    }
)
"""Reasons of an end that a content filter made, in lower case."""

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
"""Words about an answer whose end was not its own, by the server's reason in lower case."""


class BrokenStream(Exception):
    """The reason why an answer is no whole one; ``words`` are the server's, if it has any."""

    def __init__(self, breakage: Breakage, words: str = "") -> None:
        super().__init__(breakage)
        self.breakage: Breakage = breakage
        self.words = sendable(words)


class Codec(ABC):
    """The requests and the answers of one wire format, for one model."""

    path = ""
    """The end of the address of a request, which follows the ``base_url``."""
    headers: Mapping[str, str] = {}
    """The headers of a request, but for the key and those that all requests have."""
    key_header = ("Authorization", "Bearer {}")
    """The header with the key, and its value with ``{}`` for the key."""
    optional: Mapping[str, str] = {}
    """Fields of a body, with dots, that can be left out if a server refuses them.

    The value is the parameter that is named to the user, empty for one that is not the user's.
    """
    thinks_unasked = False
    """True for a model that thinks without an effort, and whose vendor wants that back."""

    def __init__(self, choice: ModelChoice, traits: Traits = PLAIN) -> None:
        self.choice = choice
        self.traits = traits

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        """Leave out the parameters that the model is known to refuse; ``body`` takes these."""
        return supported(parameters, self.traits)

    @abstractmethod
    def body(self, request: ModelRequest) -> JsonObject:
        """Make the body of a request."""

    @abstractmethod
    def answer(self) -> "Answer":
        """Begin an answer."""


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

    def with_extra(self, extra: JsonObject) -> "Part":
        """The same part with the fields that a server gave with it."""
        return replace(self, extra=extra)


class Answer(ABC):
    """One answer that arrives. ``take`` raises ``BrokenStream`` for an event that reports one."""

    is_finished = False
    """True once the server gave the reason of the end; little follows it, perhaps nothing."""
    is_done = False
    """True once the last event came; nothing is read after it."""

    def __init__(self) -> None:
        self.reason = ""
        """The server's word for the reason of the end."""
        self.refusal: str | None = None
        """The words with which the model declines to answer."""
        self.parts: dict[Any, Part] = {}
        """In order, by the place that the server gives them."""

    @abstractmethod
    def take(self, event: JsonObject) -> Iterator[ModelEvent]:
        """Give the events of a parsed one; a whole answer, without a stream, is one event, too.

        Texts, thinking and counts as they come; the calls and the end belong to ``end``.
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
        return self.reason.lower() not in {*_FULL, *FILTERED, *BROKEN_OFF}

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

    def decline(self, words: str) -> None:
        """Add to the words with which the model declines to answer."""
        self.refusal = (self.refusal or "") + words

    def end(self) -> Iterator[ModelEvent]:
        """Give the calls and the end of an answer. Raises ``BrokenStream`` for one that failed."""
        reason = self.reason.lower()
        if self.refusal is not None or reason == "refusal":
            raise BrokenStream("declined", self.refusal or "")
        if reason in FILTERED or reason in BROKEN_OFF:
            raise BrokenStream("ended", self.reason)
        taken: set[str] = set()
        calls = [_received_call(part, taken) for part in self.calls]
        yield from map(ToolCallReceived, calls)
        # Not every server says that it calls tools.
        ended = "tool_calls" if calls else "stop"
        yield AnswerEnded("length" if reason in _FULL else ended)


# --- reading events


def malformed() -> BrokenStream:
    """Make the error for an event whose shape is wrong."""
    return BrokenStream("malformed")


def failed(body: Any) -> BrokenStream:
    """Make the error for an event that reports one."""
    return BrokenStream("failed", text_in(body))


def as_object(value: Any) -> JsonObject:
    """Take a value that must be an object. Raises ``BrokenStream``."""
    if not isinstance(value, dict):
        raise malformed()
    return cast("JsonObject", value)


def as_list(value: Any) -> list[Any]:
    """Take a value that must be a list, or missing. Raises ``BrokenStream``."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise malformed()
    return cast("list[Any]", value)


def as_text(value: Any) -> str:
    """Take a value that must be a text, or missing. Raises ``BrokenStream``."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise malformed()
    return value


def picture(kind: Any = "") -> TextReceived:
    """The text in place of a picture in an answer, which has no other place here."""
    return TextReceived(f"[image: {kind}]" if kind and isinstance(kind, str) else "[image]")


def counts(usage: Any) -> JsonObject:
    """The token counts of a usage object, also nested ones, without all that is no count."""
    if not isinstance(usage, dict):
        return {}
    kept = {name: _counted(value) for name, value in cast("JsonObject", usage).items()}
    return {name: value for name, value in kept.items() if value not in (None, {})}


def _counted(value: Any) -> int | JsonObject | None:
    if isinstance(value, dict):
        return counts(value)
    if isinstance(value, str) and value.isdecimal() and len(value) < _LONGEST_COUNT:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 10**_LONGEST_COUNT else None


def reported(
    input_tokens: int, output_tokens: int, cached: int = 0, written: int = 0
) -> Iterator[UsageReported]:
    """Report counts, if there are any; ``input_tokens`` has the cached ones, and no more can be."""
    if input_tokens or output_tokens:
        cached = min(cached, input_tokens)
        written = min(written, input_tokens - cached)
        yield UsageReported(
            input_tokens, output_tokens, cached_tokens=cached, cache_write_tokens=written
        )


def _received_call(part: Part, taken: set[str]) -> ToolCall:
    """Make a call; ``taken`` are earlier ids, which not every server keeps unique, or gives.

    Arguments become a JSON object or null; missing ones an empty object; anything else stays text.
    """
    # Nine digits suit every server.
    call_id = sendable(part.id) or f"{secrets.randbelow(10**9):09}"
    while call_id in taken:
        call_id += "_"
    taken.add(call_id)
    return ToolCall(call_id, sendable(part.name), _arguments(part.text or part.value))


def _arguments(given: Any) -> Any:
    if isinstance(given, dict):
        return cast("JsonObject", given)
    text = str(given or "{}")
    try:
        # A pair of surrogates may have come in two pieces.
        value = json.loads(sendable(text) if text.strip() else "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return cast("Any", value) if value is None or isinstance(value, dict) else text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


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
