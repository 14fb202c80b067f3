"""The codecs of Anthropic's Messages, also of servers that speak it, and of Amazon's Converse."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec.structs import replace

from tui.domain.models import Effort, ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.codec import (
    PLAIN_ID,
    BrokenStream,
    Codec,
    IncomingAnswer,
    JsonObject,
    Part,
    arguments_object,
    as_list,
    as_object,
    as_text,
    base64_of,
    blocks_of,
    sendable,
    tool,
)
from tui.providers.model_table import BEDROCK, CLAUDE, Traits, is_at, traits_in
from tui.providers.protocol import ModelEvent, ModelRequest, ThinkingReceived

_VENDOR = "api.anthropic.com"
_ANSWER_SHARE = 4
"""The fraction of the context window that is kept free for the answer: a quarter."""
_BUDGETS: Mapping[Effort, int] = {"low": 2_048, "medium": 10_000, "high": 16_384}
"""Tokens for thinking, of models that are told no effort."""
_LEAST_BUDGET = 1_024
"""The fewest that Anthropic accepts."""
_MARK = {"cache_control": {"type": "ephemeral"}}
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")


class ClaudeCodec(Codec):
    """What models of Anthropic take, whoever serves them."""

    def __init__(self, choice: ModelChoice, traits: Traits) -> None:
        super().__init__(choice, traits)
        self.thinks_unasked = traits.thinks_unasked
        free = max(choice.context_window // _ANSWER_SHARE, 1)
        most = traits.most_tokens or choice.provider.answer_tokens
        self.answer_tokens = min(choice.provider.answer_tokens, most, free)
        """The limit of an answer, where a request must have one."""

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        found = super().supported(parameters)
        if found.effort in {None, "off"} or self.traits.switch not in {"budget", "adaptive"}:
            return found
        if self.traits.switch == "budget" and self._budget(found) < _LEAST_BUDGET:
            return replace(found, effort=None)
        # Beside thinking no temperature is accepted.
        return replace(found, temperature=None)

    def thinking(self, parameters: ModelParameters) -> JsonObject:
        """The fields of a body that switch thinking, in the form of the model's family."""
        traits = self.traits
        match parameters.effort:
            case None:
                return {}
            case "off":
                return {"thinking": {"type": traits.off}} if traits.off else {}
            case effort if traits.switch == "adaptive":
                degree = {"output_config": {"effort": effort}} if traits.has_effort else {}
                return {"thinking": {"type": "adaptive"}, **degree}
            case _:
                budget = self._budget(parameters)
                return {"thinking": {"type": "enabled", "budget_tokens": budget}}

    def _budget(self, parameters: ModelParameters) -> int:
        """The tokens for thinking; they are part of the answer's limit."""
        most = parameters.max_tokens or self.answer_tokens
        return min(_BUDGETS.get(parameters.effort or "off", 0), most // 2)


@dataclass(eq=False, repr=False)
class MessageAnswer(IncomingAnswer):
    """The events of one answer; those of a kind to come are passed over."""

    _usage: dict[str, int] = field(default_factory=partial(defaultdict[str, int], int))
    _open: int = -1
    """The place of the last block."""

    def receive(self, event: JsonObject) -> Iterator[ModelEvent]:
        match as_text(event.get("type"), None):
            case "error":
                raise self.failed(event)
            case "message":
                for index, block in enumerate(as_list(event.get("content"))):
                    yield from self._begin(index, as_object(block))
                self._stop(event)
                self.is_finished = True
                yield from self._counted(event.get("usage"))
            case "message_start":
                yield from self._counted(as_object(event.get("message")).get("usage"))
            case "content_block_start":
                block = as_object(event.get("content_block"))
                yield from self._begin(self._place(event, self._open + 1), block)
            case "content_block_delta":
                delta = as_object(event.get("delta"))
                yield from self._continue(self._place(event, max(self._open, 0)), delta)
            case "message_delta":
                self._stop(as_object(event.get("delta")))
                yield from self._counted(event.get("usage"))
            case "message_stop":
                self.is_done = True
            case _:
                pass

    def _place(self, event: JsonObject, otherwise: int) -> int:
        """The place of a block; some servers do not number them."""
        index = otherwise if event.get("index") is None else event["index"]
        if not isinstance(index, int):
            raise BrokenStream("malformed")
        self._open = index
        return index

    def _begin(self, place: int, block: JsonObject) -> Iterator[ModelEvent]:
        match as_text(block.get("type"), None):
            case "text":
                yield self.text(place, as_text(block.get("text")))
            case "thinking":
                last = next(reversed(self.parts.values()), None)
                if last and last.kind == "thinking":
                    yield ThinkingReceived("\n\n")
                yield self.thinking(place, as_text(block.get("thinking")))
                if signature := as_text(block.get("signature")):
                    self.part(place, "thinking").extra = {"signature": signature}
            case "tool_use":
                call = self.part(place, "call")
                call.id, call.name = as_text(block.get("id")), as_text(block.get("name"))
                call.value = block.get("input")
            case "redacted_thinking":
                kept = {name: block[name] for name in ("type", "data") if name in block}
                self.part(place, "other").extra = kept
            case _:
                # Of a tool that is never offered.
                self.part(place, "other")

    def _continue(self, place: int, delta: JsonObject) -> Iterator[ModelEvent]:
        part = self.parts.get(place)
        if part and part.kind == "other":
            return
        match as_text(delta.get("type"), None):
            case "text_delta":
                yield self.text(place, as_text(delta.get("text"), None))
            case "thinking_delta":
                yield self.thinking(place, as_text(delta.get("thinking"), None))
            case "signature_delta":
                if signature := as_text(delta.get("signature"), None):
                    self.part(place, "thinking").extra = {"signature": signature}
            case "input_json_delta":
                self.part(place, "call").text += as_text(delta.get("partial_json"), None)
            case _:
                pass

    def _stop(self, delta: JsonObject) -> None:
        reason = delta.get("stop_reason")
        if isinstance(reason, str) and reason:
            self.finish(reason)
        if reason == "refusal" and delta.get("stop_details"):
            self.decline(as_text(as_object(delta["stop_details"]).get("explanation")))

    def _counted(self, usage: Any) -> Iterator[ModelEvent]:
        """Report the counts so far; one that is missing in an event keeps its last value."""
        self._usage |= {name: count for name, count in self.counts(usage).items() if count}
        cached = self._usage["cache_read_input_tokens"]
        written = self._usage["cache_creation_input_tokens"]
        sent = self._usage["input_tokens"] + cached + written
        return self.usage(sent, self._usage["output_tokens"], cached, written)


class Messages(ClaudeCodec):
    """Requests to Anthropic or a compatible server."""

    answer = MessageAnswer
    path = "/v1/messages"
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}
    optional: Mapping[str, str] = {
        "temperature": "temperature",
        "output_config": "effort",
        "thinking": "effort",
        "cache_control": "",
    }

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice, traits_in(CLAUDE, choice.model))
        # The vendor finds the end of the conversation by itself. A gateway to the vendor may know
        # only marks; other servers are sent nothing.
        self._is_vendor = is_at(choice.provider.base_url, _VENDOR)
        self._marks_ends = self._is_vendor or choice.provider.name == "anthropic"

    def body(self, request: ModelRequest) -> JsonObject:
        parameters = request.parameters
        blocks = blocks_of(request, _CALL_ID, _block)
        messages = [{"role": role, "content": content} for role, content in blocks]
        body: JsonObject = {
            "model": self.model,
            "max_tokens": parameters.max_tokens or self.answer_tokens,
            # A last message that is blank stays: refusing it is the server's part.
            "messages": [each for each in messages if each["content"] or each is messages[-1]],
            "stream": True,
        }
        if request.system_prompt.strip():
            body["system"] = sendable(request.system_prompt)
        if request.tools:
            body["tools"] = [tool(each, input_schema=each.parameters) for each in request.tools]
        self.add_limits(body, parameters)
        body |= self.thinking(parameters)
        if self._marks_ends:
            # Of tools, system prompt and conversation, for the vendor's cache.
            if "tools" in body:
                body["tools"][-1] |= _MARK
            if "system" in body:
                body["system"] = [{"type": "text", "text": body["system"], **_MARK}]
            if self._is_vendor:
                body |= _MARK
            elif body["messages"] and (last := body["messages"][-1]["content"]):
                last[-1] |= _MARK
        return body


def _block(part: Part) -> JsonObject | None:
    """A part as the vendor takes it, who refuses blank texts, and thinking without a signature."""
    match part.kind:
        case "text":
            return {"type": "text", "text": part.text} if part.text.strip() else None
        case "picture":
            source = {"type": "base64", "media_type": part.name, "data": base64_of(part)}
            return {"type": "image", "source": source}
        case "thinking":
            signed = {"thinking": part.text, **part.extra}
            return {"type": "thinking", **signed} if part.extra.get("signature") else None
        case "call":
            given = arguments_object(part.value)
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": given}
        case "result":
            content = [{"type": "text", "text": part.text}] if part.text.strip() else ""
            return {"type": "tool_result", "tool_use_id": part.id, "content": content}
        case "other":
            return part.extra or None


# --- Converse

_CLAUDE = re.compile(r"anthropic\.(claude.*)")
_CACHES = re.compile(r"anthropic\.claude|amazon\.nova")
_CACHE_POINT = {"cachePoint": {"type": "default"}}
_NO_RESULT = "(no output)"
"""Blank texts are refused."""


class ConverseAnswer(IncomingAnswer):
    """The events of one answer, each an object with its name as the only field."""

    def receive(self, event: JsonObject) -> Iterator[ModelEvent]:
        match event:
            case {"contentBlockStart": {"contentBlockIndex": place, "start": {"toolUse": given}}}:
                call, given = self.part(str(place), "call"), as_object(given)
                call.id, call.name = as_text(given.get("toolUseId")), as_text(given.get("name"))
            case {"contentBlockDelta": {"contentBlockIndex": place, "delta": delta}}:
                yield from self._delta(str(place), as_object(delta))
            case {"messageStop": stop}:
                self.finish(as_text(as_object(stop).get("stopReason")))
            case {"metadata": metadata}:
                self.is_done = self.is_finished
                usage = self.counts(as_object(metadata).get("usage"))
                cached, written = usage["cacheReadInputTokens"], usage["cacheWriteInputTokens"]
                sent = usage["inputTokens"] + cached + written
                yield from self.usage(sent, usage["outputTokens"], cached, written)
            case _:
                pass

    def _delta(self, place: str, delta: JsonObject) -> Iterator[ModelEvent]:
        match delta:
            case {"text": str(text)}:
                yield self.text(place, text)
            case {"toolUse": {"input": str(piece)}}:
                self.part(place, "call").text += piece
            case {"reasoningContent": {"text": str(text)}}:
                yield self.thinking(place, text)
            case {"reasoningContent": {"signature": str(signature)}}:
                self.part(place, "thinking").extra = {"signature": signature}
            case {"reasoningContent": {"redactedContent": data}}:
                self.part(place, "other").extra = {"redactedContent": data}
            case _:
                pass


class Converse(ClaudeCodec):
    """Requests to Amazon Bedrock, which AWS's client sends."""

    answer = ConverseAnswer
    optional: Mapping[str, str] = {
        "inferenceConfig.temperature": "temperature",
        "inferenceConfig.maxTokens": "max_tokens",
        "additionalModelRequestFields.thinking": "effort",
        "additionalModelRequestFields.output_config": "effort",
        "additionalModelRequestFields.reasoning_effort": "effort",
        "additionalModelRequestFields.reasoning_config": "effort",
    }

    def __init__(self, choice: ModelChoice) -> None:
        self._claude = _CLAUDE.search(choice.model)
        table, name = (CLAUDE, self._claude[1]) if self._claude else (BEDROCK, choice.model)
        super().__init__(choice, traits_in(table, name))
        self._point = [_CACHE_POINT] if _CACHES.search(choice.model) else []

    def body(self, request: ModelRequest) -> JsonObject:
        blocks = blocks_of(request, PLAIN_ID, _converse_block)
        messages: list[JsonObject] = [{"role": role, "content": each} for role, each in blocks]
        if messages:
            messages[-1]["content"] += self._point
        body: JsonObject = {"modelId": self.model, "messages": messages}
        if request.system_prompt.strip():
            body["system"] = [{"text": sendable(request.system_prompt)}, *self._point]
        if request.tools:
            tools = [tool(each, inputSchema={"json": each.parameters}) for each in request.tools]
            point = self._point if self._claude else []
            body["toolConfig"] = {"tools": [*({"toolSpec": each} for each in tools), *point]}
        self.add_limits(body, request.parameters)
        fields = self.thinking(request.parameters)
        if "budget_tokens" in fields.get("thinking", {}):
            body.setdefault("inferenceConfig", {}).setdefault("maxTokens", self.answer_tokens)
        if fields := fields | self.choice.provider.extra_body:
            body["additionalModelRequestFields"] = fields
        return body

    def thinking(self, parameters: ModelParameters) -> JsonObject:
        effort = parameters.effort
        if self._claude:
            return super().thinking(parameters)
        if effort is None or self.traits.switch != "effort":
            return {}
        if "qwen." in self.choice.model:
            # Its middle does not think.
            return {"reasoning_config": {"off": "none", "medium": "high"}.get(effort, effort)}
        return {"reasoning_effort": effort}


def _converse_block(part: Part) -> JsonObject | None:
    match part.kind:
        case "text":
            return {"text": part.text} if part.text.strip() else None
        case "thinking":
            # Without a signature it does not go back.
            thought = {"text": part.text, **part.extra}
            return {"reasoningContent": {"reasoningText": thought}} if part.extra else None
        case "other":
            return {"reasoningContent": part.extra} if part.extra else None
        case "picture":
            kind = part.name.rpartition("/")[2]
            return {"image": {"format": kind, "source": {"bytes": part.value}}}
        case "call":
            given = arguments_object(part.value)
            return {"toolUse": {"toolUseId": part.id, "name": part.name, "input": given}}
        case "result":
            content = [{"text": part.text if part.text.strip() else _NO_RESULT}]
            return {"toolResult": {"toolUseId": part.id, "content": content}}
