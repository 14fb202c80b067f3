"""The messages of a request in one form, of which each codec makes its own words."""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace as changed_part
from itertools import count, groupby
from typing import Any, Literal, cast

from msgspec.structs import replace

from tui.domain.journal.blocks import ImageBlock, merged, parts_of
from tui.domain.journal.message import Message, ToolCall
from tui.providers.codec import JsonObject, Part, sendable
from tui.providers.protocol import ModelRequest, ToolDefinition

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
