"""The codec of Amazon Bedrock's Converse."""

import re
from collections.abc import Iterator, Mapping

from tui.domain.model_settings import ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.codec import (
    Answer,
    Codec,
    JsonObject,
    Part,
    as_object,
    as_text,
    counts,
    reported,
    sendable,
)
from tui.providers.messages import answer_tokens, supported_by_claude, thinking_of_claude
from tui.providers.model_table import BEDROCK, CLAUDE, supported, traits_in
from tui.providers.protocol import ModelEvent, ModelRequest
from tui.providers.sending import PLAIN_ID, arguments_object, messages_of

_CLAUDE = re.compile(r"anthropic\.(claude.*)")
_CACHES = re.compile(r"anthropic\.claude|amazon\.nova")
_CACHE_POINT = {"cachePoint": {"type": "default"}}
_NO_RESULT = "(no output)"
"""Blank texts are refused."""


class Converse(Codec):
    """Requests to Amazon Bedrock, which AWS's client sends."""

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
        self.thinks_unasked = self.traits.thinks_unasked
        self._point = [_CACHE_POINT] if _CACHES.search(choice.model) else []
        self._answer_tokens = answer_tokens(choice, self.traits)

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        if self._claude:
            return supported_by_claude(parameters, self.traits, self._answer_tokens)
        return supported(parameters, self.traits)

    def body(self, request: ModelRequest) -> JsonObject:
        parameters = request.parameters
        messages: list[JsonObject] = [
            {
                "role": "assistant" if role == "assistant" else "user",
                "content": [block for part in parts if (block := _block(part))],
            }
            for role, parts in messages_of(request, PLAIN_ID)
        ]
        if messages:
            messages[-1]["content"] += self._point
        body: JsonObject = {"modelId": sendable(self.choice.model), "messages": messages}
        if request.system_prompt.strip():
            body["system"] = [{"text": sendable(request.system_prompt)}, *self._point]
        if request.tools:
            tools = [
                {
                    "toolSpec": {
                        "name": each.name,
                        "description": sendable(each.description),
                        "inputSchema": {"json": each.parameters},
                    }
                }
                for each in request.tools
            ]
            body["toolConfig"] = {"tools": [*tools, *(self._point if self._claude else [])]}
        fields, limits = self._thinking(parameters), dict[str, float]()
        if parameters.temperature is not None:
            limits["temperature"] = parameters.temperature
        needed = self._answer_tokens if "budget_tokens" in fields.get("thinking", {}) else 0
        if most := parameters.max_tokens or needed:
            limits["maxTokens"] = most
        if limits:
            body["inferenceConfig"] = limits
        if fields := fields | self.choice.extra_body:
            body["additionalModelRequestFields"] = fields
        return body

    def answer(self) -> "ConverseAnswer":
        return ConverseAnswer()

    def _thinking(self, parameters: ModelParameters) -> JsonObject:
        effort = parameters.effort
        if self._claude:
            return thinking_of_claude(parameters, self.traits, self._answer_tokens)
        if effort is None or self.traits.switch != "effort":
            return {}
        if "qwen." in self.choice.model:
            # Its middle does not think.
            return {"reasoning_config": {"off": "none", "medium": "high"}.get(effort, effort)}
        return {"reasoning_effort": effort}


def _block(part: Part) -> JsonObject | None:
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


class ConverseAnswer(Answer):
    """The events of one answer, each an object with its name as the only field."""

    def take(self, event: JsonObject) -> Iterator[ModelEvent]:
        match event:
            case {"contentBlockStart": {"contentBlockIndex": place, "start": {"toolUse": given}}}:
                call, given = self.part(place, "call"), as_object(given)
                call.id, call.name = as_text(given.get("toolUseId")), as_text(given.get("name"))
            case {"contentBlockDelta": {"contentBlockIndex": place, "delta": delta}}:
                yield from self._delta(place, as_object(delta))
            case {"messageStop": stop}:
                self.reason, self.is_finished = as_text(as_object(stop).get("stopReason")), True
            case {"metadata": metadata}:
                self.is_done = self.is_finished
                found = counts(as_object(metadata).get("usage")).get
                cached = found("cacheReadInputTokens", 0)
                written = found("cacheWriteInputTokens", 0)
                sent = found("inputTokens", 0) + cached + written
                yield from reported(sent, found("outputTokens", 0), cached, written)
            case _:
                pass

    def _delta(self, place: int, delta: JsonObject) -> Iterator[ModelEvent]:
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
