"""The interface of codecs, one for each wire format, and what their requests and answers share.

A codec does no input or output: it makes the body of a request, and understands parsed events.
"""

import hashlib
import json
import re
import secrets
from abc import ABC, abstractmethod
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed_part
from itertools import count, groupby
from typing import Any, Literal, cast

from msgspec.structs import replace

from tui.domain.journal.message import ImageBlock, Message, TokenUsage, ToolCall, merged, parts_of
from tui.domain.models import EFFORTS, ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.model_table import PLAIN, Traits
from tui.providers.protocol import (
    AnswerEnded,
    ModelEvent,
    ModelRequest,
    TextReceived,
    ThinkingReceived,
    ToolDefinition,
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
        """Leave out the parameters that the model refuses; of efforts take the next that it has."""
        effort, wanted, efforts = None, parameters.effort, self.traits.efforts
        if wanted is not None and efforts:
            enough = (each for each in efforts if EFFORTS.index(each) >= EFFORTS.index(wanted))
            effort = next(enough, efforts[-1])
        takes_temperature = self.traits.temperature == "taken"
        if self.traits.temperature == "without thinking":
            thinks = self.traits.thinks_unasked if effort is None else effort != "off"
            takes_temperature = not thinks and "off" in efforts
        temperature = parameters.temperature if takes_temperature else None
        return replace(parameters, effort=effort, temperature=temperature)

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


@dataclass(eq=False, repr=False)
class IncomingAnswer(ABC):
    """One answer that arrives; without a representation, as a server may repeat the key."""

    is_finished: bool = False
    """True once the server gave the reason of the end; little follows it, perhaps nothing."""
    is_done: bool = False
    """True once the last event came; nothing is read after it."""
    reason: str = ""
    """The server's word for the reason of the end."""
    reason_words: str = ""
    """Its sentence about that."""
    refusal: str | None = None
    """The words with which the model declines to answer."""
    parts: dict[Any, Part] = field(default_factory=dict[Any, Part])
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


@dataclass(eq=False, repr=False)
class Halves:
    """Joins surrogate pairs that a server split over two pieces of a text; replaces single ones."""

    _held: str = ""

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


# --- messages of a request in one form, of which each codec makes its own words

_INVALID_ARGUMENTS = "INVALID_JSON"
"""The key under which arguments that are not an object are sent back: servers parse them."""
SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
"""The form of ids that every server takes; the templates of Mistral's models take no other."""
PLAIN_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST_NAME = 64
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


def messages_of(
    request: ModelRequest, ids: re.Pattern[str], own: str = ""
) -> Iterator[tuple[Literal["user", "assistant", "tool"], list[Part]]]:
    """Give the role and the parts of each message; the results of one message's calls are one.

    ``ids`` is the form of the ids of calls, but for those of answers of the model ``own``. The
    answers of the current turn have the parts that only their server understands.
    """
    kept = kept_answers(request)
    messages = with_ids(request, ids, own).messages
    names = {call.id: call.name for each in messages for call in each.tool_calls}
    for are_results, group in groupby(messages, lambda each: each.role == "tool"):
        if are_results:
            results: list[Part] = []
            for message in group:
                call_id = message.tool_call_id or ""
                name = plain_name(names.get(call_id, ""))
                results.append(Part("result", sendable(message.text), sendable(call_id), name))
            yield "tool", results
            continue
        for message in group:
            if message.role == "assistant":
                yield "assistant", _answered(message, kept.get(message.id, ()))
            else:
                yield "user", list(_asked(message, request.images))


def blocks_of(
    request: ModelRequest, ids: re.Pattern[str], block: Callable[[Part], JsonObject | None]
) -> Iterator[tuple[Literal["user", "assistant"], list[JsonObject]]]:
    """Give the role and the blocks of each message, where results are the user's."""
    for role, parts in messages_of(request, ids):
        made = [each for part in parts if (each := block(part))]
        yield "assistant" if role == "assistant" else "user", made


def tool(definition: ToolDefinition, **schema: JsonObject) -> JsonObject:
    """A tool with the field that has the schema of its parameters."""
    description = sendable(definition.description)
    return {"name": definition.name, "description": description, **schema}


def _asked(message: Message, images: Mapping[str, bytes]) -> Iterator[Part]:
    """The texts and pictures of a message; a picture whose bytes are not there is its label.

    A blank text stands only by itself: many servers refuse it beside others.
    """
    shown = (
        part if isinstance(part, str) or part.sha256 in images else part.label
        for part in parts_of(message.content)
    )
    parts = merged(shown, "\n")
    for part in parts:
        if isinstance(part, ImageBlock):
            yield Part("picture", name=part.media_type, value=images[part.sha256])
        elif len(parts) == 1 or part.strip():
            yield Part("text", sendable(part))


def _answered(message: Message, kept: Sequence[Part]) -> list[Part]:
    """The parts of an answer: text and calls as the session has them, the others as they came."""
    text = sendable(message.text)
    calls = [
        Part("call", id=sendable(call.id), name=plain_name(call.name), value=call.arguments)
        for call in message.tool_calls
    ]
    if sum(part.kind == "call" for part in kept) != len(calls):
        kept = ()
    texts = [part for part in kept if part.kind == "text"]
    parts = [] if texts or not text else [Part("text", text)]
    remaining = iter(calls)
    for part in kept:
        if part.kind == "call":
            parts.append(changed_part(next(remaining), extra=part.extra))
        elif texts == [part]:
            # The text without tags of thinking, where it is in one piece.
            parts.append(Part("text", text, extra=part.extra))
        else:
            parts.append(part)
    return [*parts, *remaining]


def base64_of(picture: Part) -> str:
    """The bytes of a picture as text."""
    return b64encode(picture.value).decode("ascii")


def data_uri(picture: Part) -> str:
    """The bytes of a picture as an address."""
    return f"data:{picture.name};base64,{base64_of(picture)}"


def arguments_object(arguments: Any) -> JsonObject:
    """The arguments of a call, for servers that take nothing but an object."""
    if arguments is None:
        return {}
    is_object = isinstance(arguments, dict)
    given = cast("JsonObject", arguments) if is_object else {_INVALID_ARGUMENTS: arguments}
    text = json.dumps(given, ensure_ascii=False)
    made = sendable(text)
    return given if made == text else json.loads(made)


def arguments_text(arguments: Any) -> str:
    """The arguments of a call as JSON text."""
    value = None if arguments is None else arguments_object(arguments)
    return json.dumps(value, ensure_ascii=False)


def plain_name(name: str) -> str:
    """The name of a tool, for vendors that refuse odd ones, which models invent."""
    return (_ODD.sub("_", name) or "_")[:_LONGEST_NAME]


def with_ids(request: ModelRequest, takes: re.Pattern[str], own: str = "") -> ModelRequest:
    """Give calls whose ids ``takes`` does not match, or that repeat, ids that every server takes.

    Sessions of other servers and programs have such calls; their results follow. The ids of
    answers of the model ``own`` are those of its server, and only need to be unique.
    """
    waiting: dict[str, list[str]] = {}
    """The new ids of the calls without a result so far."""
    used: set[str] = set()
    messages: list[Message] = []
    for message in request.messages:
        is_own = bool(own) and message.model == own
        calls: list[ToolCall] = []
        for call in message.tool_calls:
            made = call.id if is_own or takes.fullmatch(call.id) else _short(call.id)
            numbers = count(1)
            while not made or made in used:
                made = _short(f"{call.id}_{next(numbers)}")
            used.add(made)
            waiting.setdefault(call.id, []).append(made)
            calls.append(replace(call, id=made))
        result_of = message.tool_call_id
        if result_of is not None and waiting.get(result_of):
            result_of = waiting[result_of].pop(0)
        changes = {"tool_calls": tuple(calls), "tool_call_id": result_of}
        messages.append(replace(message, **changes) if any(changes.values()) else message)
    return replace(request, messages=tuple(messages))


def _short(call_id: str) -> str:
    """Nine letters and digits made from an id: the same in each request, for the cache."""
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:9])


# --- answers of the turn that called tools


def lacks_thinking(request: ModelRequest) -> bool:
    """True if the turn has answers of which the thinking was not kept: after a restart, say."""
    return len(_calling(request)) > len(request.memory.answers)


def kept_answers(request: ModelRequest) -> dict[str, Sequence[Part]]:
    """The parts of messages of which more was kept than text and calls, by the messages' ids."""
    pairs = zip(reversed(_calling(request)), reversed(request.memory.answers), strict=False)
    return {message.id: parts for message, parts in pairs if parts is not None}


def _calling(request: ModelRequest) -> list[Message]:
    """The messages since the last question that called tools."""
    asked = [place for place, each in enumerate(request.messages) if each.role == "user"]
    since = request.messages[asked[-1] + 1 :] if asked else request.messages
    return [message for message in since if message.tool_calls]
