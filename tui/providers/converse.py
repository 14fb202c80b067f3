"""The codec of Amazon Bedrock's Converse."""

import re
from collections.abc import Iterator, Mapping

from tui.domain.model_settings import ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.codec import IncomingAnswer, JsonObject, Part, as_object, as_text
from tui.providers.messages import ClaudeCodec
from tui.providers.model_table import BEDROCK, CLAUDE, supported, traits_in
from tui.providers.protocol import ModelEvent, ModelRequest
from tui.providers.sending import PLAIN_ID, arguments_object, blocks_of, sendable, tool

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

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        if self._claude:
            return super().supported(parameters)
        return supported(parameters, self.traits)

    def body(self, request: ModelRequest) -> JsonObject:
        blocks = blocks_of(request, PLAIN_ID, _block)
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
