"""The codecs of OpenAI: chat completions, as compatible servers and Mistral speak, and Responses.

At OpenAI's own address, chat completions refuse tools to models that reason. Nothing is stored at
the vendor's: reasoning goes back encrypted, within a turn.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.providers.catalog import ModelChoice
from tui.providers.codec import (
    PLAIN_ID,
    SHORT_ID,
    Codec,
    IncomingAnswer,
    JsonObject,
    Part,
    PartKind,
    arguments_text,
    as_list,
    as_object,
    as_text,
    data_uri,
    messages_of,
    sendable,
    tool,
)
from tui.providers.model_table import ANY, MISTRAL, OPENAI, PLAIN, Traits, is_at, traits_in
from tui.providers.protocol import ModelEvent, ModelRequest, TextReceived, ThinkingReceived
from tui.providers.server_words import value_at

OPENAI_HOST = "api.openai.com"
REASONING_EFFORTS = {"off": "none"}
"""OpenAI's words for efforts, where they are not ours."""

_REASONING = ("reasoning_content", "reasoning", "thinking")
_LISTS = ("reasoning_details", "thinking_blocks")
_OBJECTS = ("extra_content", "provider_specific_fields")
_PIECES = frozenset({"text", "summary", "thinking"})
"""Fields of opaque parts whose texts come in pieces."""
_OF_CALLS = frozenset({"index", "id", "type", "function", "name", "arguments", "parameters"})
_CACHED = (
    "prompt_tokens_details.cached_tokens",
    "cached_tokens",
    "prompt_cache_hit_tokens",
    "cache_read_input_tokens",
)


@dataclass(eq=False, repr=False)
class ChatAnswer(IncomingAnswer):
    """The chunks of one answer, of which the first choice counts."""

    _has_come: bool = False
    _open: dict[Any, Part] = field(default_factory=dict[Any, Part])
    """The calls that arrive, by their index; not every server gives each one of its own."""

    def receive(self, event: JsonObject) -> Iterator[ModelEvent]:
        usage = event.get("usage")
        for choice in map(as_object, as_list(event.get("choices"))[:1]):
            if choice.get("error"):
                raise self.failed(choice)
            reason = choice.get("finish_reason")
            # Some servers give one with each chunk.
            if isinstance(reason, str) and reason not in {"", "null"}:
                self.finish(reason)
            yield from self._delta(self._delta_of(choice))
            usage = usage or choice.get("usage")
        # Some servers count anew with each chunk: only the last counts count.
        if usage := usage or value_at(event, "x_groq", "usage"):
            yield from self._counted(usage)
        if error := value_at(event, "x_groq", "error"):
            raise self.failed(error)

    def _delta_of(self, choice: JsonObject) -> JsonObject:
        """The new part of an answer, under any of the names that servers have for it."""
        if choice.get("delta") is not None:
            delta = as_object(choice["delta"])
            self._has_come |= bool(delta.get("content") or delta.get("tool_calls"))
            return delta
        if choice.get("message") is not None:
            # After pieces it is all of them again.
            return {} if self._has_come else as_object(choice["message"])
        return {"content": choice.get("text")}

    def _delta(self, delta: JsonObject) -> Iterator[ModelEvent]:
        parts = list(self._content(delta.get("content")))
        thoughts = "".join(each.text for each in parts if isinstance(each, ThinkingReceived))
        # Of two fields alike the first.
        fields = (name for name in _REASONING if isinstance(delta.get(name), str) and delta[name])
        if name := "reasoning_content" if thoughts else next(fields, ""):
            self.part(name, "thinking").name = name
            yield self.thinking(name, thoughts or delta[name])
        yield from (each for each in parts if isinstance(each, TextReceived))
        yield TextReceived(as_text(value_at(delta, "audio", "transcript")))
        yield from (self.picture() for _ in as_list(delta.get("images")))
        if refusal := as_text(delta.get("refusal")):
            self.decline(refusal)
        for name in _LISTS:
            if isinstance(delta.get(name), list):
                _extend(self.part(name, "other").extra.setdefault(name, []), delta[name])
        for name in _OBJECTS:
            if isinstance(delta.get(name), dict):
                self.part(name, "other").extra.setdefault(name, {}).update(delta[name])
        fragments = _listed(delta.get("tool_calls"))
        if legacy := delta.get("function_call"):
            fragments = [*fragments, {"function": legacy}]
        for place, fragment in enumerate(fragments):
            self._call(place, as_object(fragment))

    def _content(self, content: Any) -> Iterator[TextReceived | ThinkingReceived]:
        """The text of an answer, its thinking and its pictures; some servers send typed parts."""
        for part in [content] if isinstance(content, str) else _listed(content):
            match part:
                case str(text):
                    yield TextReceived(text)
                case {"type": "image_url" | "image" | "output_image"}:
                    yield self.picture()
                case {"thinking": thinking} if thinking:
                    texts = self._content(thinking)
                    joined = "".join(each.text for each in texts if isinstance(each, TextReceived))
                    yield ThinkingReceived(joined)
                case _:
                    yield TextReceived(as_text(as_object(part).get("text")))

    def _call(self, place: int, fragment: JsonObject) -> None:
        """Add a fragment of a call, without what was said before."""
        function = as_object(fragment.get("function") or fragment)
        index, given = fragment.get("index"), fragment.get("id")
        key = place if index is None else str(index)
        call_id, name = "" if given is None else str(given), as_text(function.get("name"))
        arguments = function.get("arguments", function.get("parameters"))
        if not isinstance(arguments, str | None):
            # Some servers send the object itself.
            arguments = json.dumps(arguments)
        call = self._open.get(key)
        if call is None or _is_followed(call, call_id, name, arguments or ""):
            call = self._open[key] = self.part(len(self.parts), "call")
        call.id = call.id or call_id
        call.name += name if name != call.name else ""
        call.text += arguments or ""
        # Such as the signature of a thought.
        more = fragment.items()
        call.extra |= {key: value for key, value in more if key not in _OF_CALLS and value}

    def _counted(self, usage: Any) -> Iterator[ModelEvent]:
        found = self.counts(usage)
        cached = next(filter(None, (found[name] for name in _CACHED)), 0)
        details = found["prompt_tokens_details.cache_write_tokens"]
        sent = found["prompt_tokens"] or found["input_tokens"]
        came = found["completion_tokens"] or found["output_tokens"]
        thought = found["completion_tokens_details.reasoning_tokens"]
        if found["total_tokens"] == sent + came + thought:
            # xAI and others do not count it as a part of the answer.
            came += thought
        return self.usage(sent, came, cached, details or found["cache_creation_input_tokens"])


class ChatCompletions(Codec):
    """Requests to a server that speaks chat completions."""

    answer = ChatAnswer
    path = "/chat/completions"

    def __init__(self, choice: ModelChoice) -> None:
        self._is_mistral = choice.provider.dialect == "mistral"
        mistrals = traits_in(MISTRAL, choice.model)
        super().__init__(choice, mistrals if self._is_mistral else _openai_traits(choice))
        self.headers = account_headers() if choice.provider.name == "openai" else {}
        is_openai = is_at(choice.provider.base_url, OPENAI_HOST)
        self.optional = {
            "temperature": "temperature",
            "max_completion_tokens" if is_openai else choice.provider.max_tokens_name: "max_tokens",
            "reasoning_effort": "effort",
            "stream_options": "",
        }

    def body(self, request: ModelRequest) -> JsonObject:
        body: JsonObject = {
            "model": self.model,
            "messages": list(self._messages(request)),
            "stream": True,
        }
        if self.choice.provider.stream_options and not self._is_mistral:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            tools = [tool(each, parameters=each.parameters) for each in request.tools]
            body["tools"] = [{"type": "function", "function": each} for each in tools]
        self.add_limits(body, request.parameters)
        if effort := request.parameters.effort:
            body["reasoning_effort"] = REASONING_EFFORTS.get(effort, effort)
        return body

    def _messages(self, request: ModelRequest) -> Iterator[JsonObject]:
        if request.system_prompt:
            yield {"role": "system", "content": sendable(request.system_prompt)}
        own = "" if self._is_mistral else self.choice.name
        for role, parts in messages_of(request, SHORT_ID, own):
            match role:
                case "assistant":
                    yield self._answered(parts)
                case "tool":
                    for part in parts:
                        yield {"role": "tool", "tool_call_id": part.id, "content": part.text}
                case "user" if [part.kind for part in parts] == ["text"]:
                    yield {"role": "user", "content": parts[0].text}
                case _:
                    yield {"role": "user", "content": [_content(part) for part in parts]}

    def _answered(self, parts: Sequence[Part]) -> JsonObject:
        said: JsonObject = {"role": "assistant", "content": None}
        thoughts: list[JsonObject] = []
        for part in parts:
            match part.kind:
                case "text":
                    said["content"] = (said["content"] or "") + part.text
                case "thinking" if self._is_mistral:
                    thought = [{"type": "text", "text": part.text}]
                    thoughts = [{"type": "thinking", "thinking": thought}]
                case "thinking":
                    said[part.name] = part.text
                case "call":
                    function = {"name": part.name, "arguments": arguments_text(part.value)}
                    call = {"id": part.id, "type": "function", "function": function}
                    said.setdefault("tool_calls", []).append({**call, **part.extra})
                case _:
                    said |= part.extra
        if thoughts:
            # Mistral's thinking is a part of the content.
            text = said["content"]
            said["content"] = [*thoughts, *([{"type": "text", "text": text}] if text else [])]
        return said


def _openai_traits(choice: ModelChoice) -> Traits:
    """The traits of a model of OpenAI; any other may take everything.

    Models of other servers may have the same names, but other limits; behind another address of
    ``openai`` there may be any model.
    """
    traits = traits_in(OPENAI, choice.model)
    is_known = choice.provider.name == "openai" and traits is not PLAIN
    return traits if is_known or is_at(choice.provider.base_url, OPENAI_HOST) else ANY


def account_headers(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The headers that name the user's account at OpenAI."""
    named = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
    return {name: environ[each] for name, each in named.items() if environ.get(each)}


def _content(part: Part) -> JsonObject:
    if part.kind == "text":
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": data_uri(part)}}


def _is_followed(call: Part, call_id: str, name: str, arguments: str) -> bool:
    """True if a fragment with the index of a call begins another one."""
    if not name or not call.name:
        return False
    if name != call.name:
        return bool(call.text) or "" != call_id != call.id
    if call_id and call_id == call.id:
        return False
    return bool(call_id or arguments.lstrip().startswith("{")) and _is_object(call.text)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _listed(value: Any) -> list[Any]:
    """Return a list; some servers send its only item instead."""
    return [value] if isinstance(value, dict) else as_list(value)


def _extend(collected: list[JsonObject], pieces: list[Any]) -> None:
    """Add opaque parts; the pieces of one text are joined, as they would come without a stream."""
    for piece in map(as_object, pieces):
        if not collected or not _continues(collected[-1], piece):
            collected.append(dict(piece))
            continue
        last = collected[-1]
        for name, value in piece.items():
            if name in _PIECES and isinstance(value, str):
                last[name] = (last.get(name) or "") + value
            elif value is not None:
                last[name] = value


def _continues(last: JsonObject, piece: JsonObject) -> bool:
    if last.get("type") != piece.get("type") or last.get("index") != piece.get("index"):
        return False
    if last.get("signature") and any(piece.get(name) for name in _PIECES):
        return False
    return bool(_PIECES & piece.keys()) and "data" not in last


# --- Responses

_GIVEN_BACK = ("id", "content", "encrypted_content")
"""The fields of reasoning that go back with its summary."""
_KINDS: Mapping[str, PartKind] = {
    "message": "text",
    "reasoning": "thinking",
    "function_call": "call",
}
"""By the types of items; others are of tools that are never offered."""


@dataclass(eq=False, repr=False)
class ResponseAnswer(IncomingAnswer):
    """The events of one answer; those of a kind to come are passed over."""

    _places: dict[Any, int] = field(default_factory=dict[Any, int])
    """The last part of each kind at a place, which gateways give to several."""
    _came: set[str] = field(default_factory=set[str])
    """The types of items that have come, so that their repetition at the end is none."""
    _summaries: dict[Any, int] = field(default_factory=dict[Any, int])
    """The number of the part of a summary that comes, by the place of the reasoning."""

    def receive(self, event: JsonObject) -> Iterator[ModelEvent]:
        if event.get("object") == "response":
            yield from self._ended(event, "")
            return
        match as_text(event.get("type"), None).removeprefix("response."):
            case "error":
                raise self.failed(event)
            case "output_item.added" | "output_item.done" as state:
                fields = as_object(event.get("item"))
                event = {"item_id": fields.get("id"), **event}
                yield from self._item(event, fields, is_done=state.endswith("done"))
            case "output_text.delta":
                yield self.text(self._at(event, "text"), as_text(event.get("delta")))
            case "output_text.done" if not self.part(self._at(event, "text"), "text").text:
                yield self.text(self._at(event, "text"), as_text(event.get("text")))
            case "refusal.delta":
                self.decline(as_text(event.get("delta")))
            # Open models have no summaries: their whole thinking is shown in the same place.
            case "reasoning_summary_text.delta" | "reasoning_text.delta":
                text = as_text(event.get("delta"))
                yield self._thought(self._at(event, "thinking"), text, event.get("summary_index"))
            case "function_call_arguments.delta":
                self.part(self._at(event, "call"), "call").text += as_text(event.get("delta"))
            case "function_call_arguments.done":
                self.part(self._at(event, "call"), "call").value = event.get("arguments")
            case "completed" | "incomplete" | "failed" | "cancelled" as status:
                yield from self._ended(as_object(event.get("response")), status)
            case _:
                pass

    def _at(self, event: JsonObject, kind: PartKind, *, is_new: bool = False) -> int:
        """The place of a part; gateways give it another id in each event, but one place."""
        place = event.get("output_index")
        key = kind, place if isinstance(place, int) else as_text(event.get("item_id"))
        if is_new or key not in self._places:
            self._places[key] = len(self.parts)
        return self._places[key]

    def _item(
        self, event: JsonObject, fields: JsonObject, *, is_done: bool
    ) -> Iterator[ModelEvent]:
        """Add an item; texts that did not come in pieces come with its end."""
        kind = _KINDS.get(named := as_text(fields.get("type")))
        if is_done:
            self._came.add(named)
        if named == "image_generation_call" and is_done:
            yield self.picture()
        if kind is None:
            return
        part = self.part(place := self._at(event, kind, is_new=not is_done), kind)
        call_id = as_text(fields.get("call_id"))
        if call_id and part.id not in {"", call_id}:
            part = self.part(place := self._at(event, kind, is_new=True), kind)
        came_in_pieces = bool(part.text) or not is_done
        match kind:
            case "call":
                part.id = call_id or part.id
                part.name = as_text(fields.get("name")) or part.name
                # Some servers send them whole, and then in pieces.
                part.value = fields.get("arguments") or part.value
            case "thinking":
                names = ("summary", *_GIVEN_BACK) if is_done else _GIVEN_BACK
                part.extra |= {name: fields[name] for name in names if fields.get(name)}
                texts = as_list(fields.get("summary") or fields.get("content"))
                for index, each in enumerate([] if came_in_pieces else texts):
                    yield self._thought(place, as_text(as_object(each).get("text")), index)
            case _:
                if fields.get("phase") in ("commentary", "final_answer"):
                    part.extra["phase"] = fields["phase"]
                for each in map(as_object, as_list(fields.get("content"))):
                    # In whole, also after its pieces.
                    self.refusal = as_text(each.get("refusal")) or self.refusal
                    if not came_in_pieces:
                        yield self.text(place, as_text(each.get("text")))

    def _thought(self, place: Any, text: str, index: Any) -> ThinkingReceived:
        """Add to the reasoning at a place; the parts of its summary are paragraphs."""
        before = self._summaries.get(place, index)
        self._summaries[place] = index
        thought = self.thinking(place, text)
        return thought if before == index else ThinkingReceived(f"\n\n{text}")

    def _ended(self, response: JsonObject, status: str) -> Iterator[ModelEvent]:
        came = {part.kind for part in self.parts.values() if part.text}
        came |= {_KINDS.get(named, named) for named in self._came}
        for place, fields in enumerate(map(as_object, as_list(response.get("output")))):
            named = as_text(fields.get("type"))
            if _KINDS.get(named, named) not in came:
                yield from self._item({"output_index": place}, fields, is_done=True)
        usage = self.counts(response.get("usage"))
        yield from self.usage(
            usage["input_tokens"],
            usage["output_tokens"],
            usage["input_tokens_details.cached_tokens"],
            usage["input_tokens_details.cache_write_tokens"],
        )
        status = response.get("status") or status
        if status in ("failed", "cancelled"):
            raise self.failed(response.get("error") or "")
        reason = as_text(as_object(response.get("incomplete_details") or {}).get("reason"))
        self.finish(reason or ("incomplete" if status == "incomplete" else ""))
        self.is_done = True


class Responses(Codec):
    """Requests to OpenAI, or to a server that speaks its Responses."""

    answer = ResponseAnswer
    path = "/responses"
    optional: Mapping[str, str] = {
        "temperature": "temperature",
        "max_output_tokens": "max_tokens",
        "reasoning.effort": "effort",
        # OpenAI refuses them to accounts that it has not verified.
        "reasoning.summary": "",
        "include": "",
        "store": "",
    }

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice, _openai_traits(choice))
        self.headers = account_headers() if is_at(choice.provider.base_url, OPENAI_HOST) else {}

    def body(self, request: ModelRequest) -> JsonObject:
        body: JsonObject = {
            "model": self.model,
            "input": list(self._items(request)),
            "stream": True,
            "store": False,
        }
        reasoning: JsonObject = {}
        if traits_in(OPENAI, self.model).efforts:
            # Models that do not reason refuse to summarise it.
            reasoning["summary"] = "auto"
            body["include"] = ["reasoning.encrypted_content"]
        if effort := request.parameters.effort:
            reasoning["effort"] = REASONING_EFFORTS.get(effort, effort)
        if reasoning:
            body["reasoning"] = reasoning
        if request.tools:
            tools = [tool(each, parameters=each.parameters) for each in request.tools]
            body["tools"] = [{"type": "function", **each, "strict": False} for each in tools]
        self.add_limits(body, request.parameters)
        return body

    def _items(self, request: ModelRequest) -> Iterator[JsonObject]:
        if request.system_prompt:
            yield {"role": "system", "content": sendable(request.system_prompt)}
        for role, parts in messages_of(request, PLAIN_ID, self.choice.name):
            if role != "user":
                yield from (item for part in parts if (item := _item(part)))
            elif len(parts) == 1 and parts[0].kind == "text":
                yield {"role": "user", "content": parts[0].text}
            else:
                yield {"role": "user", "content": [_input(part) for part in parts]}


def _input(part: Part) -> JsonObject:
    if part.kind == "text":
        return {"type": "input_text", "text": part.text}
    return {"type": "input_image", "image_url": data_uri(part), "detail": "auto"}


def _item(part: Part) -> JsonObject | None:
    match part.kind:
        case "text":
            said = {"role": "assistant", "content": part.text, **part.extra}
            return said if part.text else None
        case "thinking":
            # The vendor has not stored it.
            is_encrypted = isinstance(part.extra.get("encrypted_content"), str)
            return {"type": "reasoning", "summary": [], **part.extra} if is_encrypted else None
        case "call":
            return {
                "type": "function_call",
                "call_id": part.id,
                "name": part.name,
                "arguments": arguments_text(part.value),
            }
        case "result":
            return {"type": "function_call_output", "call_id": part.id, "output": part.text}
        case _:
            return None
