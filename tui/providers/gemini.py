"""The codec of Google's Gemini API."""

import re
from collections.abc import Iterator, Mapping

from tui.domain.models import Effort
from tui.providers.catalog import ModelChoice
from tui.providers.codec import (
    BrokenStream,
    Codec,
    IncomingAnswer,
    JsonObject,
    Part,
    PartKind,
    arguments_object,
    as_list,
    as_object,
    as_text,
    base64_of,
    blocks_of,
    is_odd_end,
    sendable,
    tool,
)
from tui.providers.model_table import GEMINI, traits_in
from tui.providers.protocol import ModelEvent, ModelRequest, TextReceived, ThinkingReceived
from tui.providers.server_words import value_at

_ANY_ID = re.compile(r"(?s).+")
_BUDGETS: Mapping[Effort, int] = {"off": 0, "low": 2_048, "medium": 8_192, "high": 24_576}
"""Tokens for thinking, of models that have no levels of it."""
_FIELDS = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId"})
_BLOCKED = "PROHIBITED_CONTENT"
"""The reason of the end for a prompt that was blocked for a reason of another name."""


class GeminiAnswer(IncomingAnswer):
    """The chunks of one answer, of which the first candidate counts.

    There is no end mark: the last chunk has the reason of the end. A whole answer looks the same.
    """

    def receive(self, event: JsonObject) -> Iterator[ModelEvent]:
        candidates = as_list(event.get("candidates"))[:1]
        feedback, usage = event.get("promptFeedback"), self.counts(event.get("usageMetadata"))
        if not (candidates or feedback or event.keys() & _FIELDS):
            raise BrokenStream("malformed")
        for candidate in map(as_object, candidates):
            content = as_object(candidate.get("content") or {})
            for part in as_list(content.get("parts")):
                yield from self._part(as_object(part))
            if reason := candidate.get("finishReason"):
                is_known = is_odd_end(as_text(reason)) or reason.lower() in {"stop", "max_tokens"}
                self.finish(reason if is_known else "OTHER", candidate.get("finishMessage"))
        if feedback and not candidates and (reason := as_object(feedback).get("blockReason")):
            is_known = is_odd_end(as_text(reason))
            self.finish(reason if is_known else _BLOCKED, feedback.get("blockReasonMessage"))
        yield from self.usage(
            usage["promptTokenCount"] + usage["toolUsePromptTokenCount"],
            usage["candidatesTokenCount"] + usage["thoughtsTokenCount"],
            usage["cachedContentTokenCount"],
        )

    @property
    def kept(self) -> list[Part] | None:
        parts = list(self.parts.values())
        return parts if any(part.extra for part in parts) else None

    def _part(self, part: JsonObject) -> Iterator[ModelEvent]:
        """Receive a part; those of a kind that is never asked for are passed over."""
        signature = part.get("thoughtSignature")
        signed = {"thoughtSignature": signature} if isinstance(signature, str) else {}
        if part.get("functionCall"):
            given = as_object(part["functionCall"])
            call = self._at("call", signed)
            call.id, call.name = as_text(given.get("id")), as_text(given.get("name"))
            call.value = given.get("args")
        elif "text" in part or part.keys() == signed.keys():
            text, is_thought = as_text(part.get("text")), part.get("thought") is True
            if text or signed:
                self._at("thinking" if is_thought else "text", signed).text += text
            yield ThinkingReceived(text) if is_thought else TextReceived(text)
        for place in ("inlineData", "fileData"):
            if str(kind := value_at(part, place, "mimeType")).startswith("image/"):
                yield self.picture(kind)
        for kind, name in (("executableCode", "code"), ("codeExecutionResult", "output")):
            if said := as_text(value_at(part, kind, name)):
                yield TextReceived(f"\n```\n{said.strip()}\n```\n")

    def _at(self, kind: PartKind, signed: JsonObject) -> Part:
        """The part that a piece continues, or a new one; a signature ends a part."""
        last = self.parts.get(len(self.parts) - 1)
        if last and kind != "call" and last.kind == kind and not (last.extra or signed):
            return last
        part = self.part(len(self.parts), kind)
        part.extra = signed
        return part


class Gemini(Codec):
    """Requests to Google's Gemini API, which lists its models at the same address."""

    answer = GeminiAnswer
    optional: Mapping[str, str] = {
        "generationConfig.temperature": "temperature",
        "generationConfig.maxOutputTokens": "max_tokens",
        "generationConfig.thinkingConfig": "effort",
    }

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice, traits_in(GEMINI, choice.model.removeprefix("models/")))
        name = self.model
        place = name if "/" in name else f"models/{name}"
        self.path = f"/v1beta/{place}:streamGenerateContent?alt=sse"

    def body(self, request: ModelRequest) -> JsonObject:
        body: JsonObject = {
            "contents": [
                {"role": "model" if role == "assistant" else "user", "parts": parts}
                for role, parts in blocks_of(request, _ANY_ID, _part)
                # None may be empty.
                if parts
            ]
        }
        if request.system_prompt:
            body["systemInstruction"] = {"parts": [{"text": sendable(request.system_prompt)}]}
        if request.tools:
            declared = [tool(each, parametersJsonSchema=each.parameters) for each in request.tools]
            body["tools"] = [{"functionDeclarations": declared}]
        self.add_limits(body, request.parameters)
        if thinking := self._thinking(request.parameters.effort):
            body.setdefault("generationConfig", {})["thinkingConfig"] = thinking
        return body

    def _thinking(self, effort: Effort | None) -> JsonObject:
        if not self.traits.efforts:
            return {}
        shown = {} if effort == "off" else {"includeThoughts": True}
        if effort is None:
            return shown
        if self.traits.switch == "budget":
            return {**shown, "thinkingBudget": _BUDGETS[effort]}
        return {**shown, "thinkingLevel": "MINIMAL" if effort == "off" else effort.upper()}


def _part(part: Part) -> JsonObject | None:
    match part.kind:
        case "text":
            return {"text": part.text, **part.extra} if part.text or part.extra else None
        case "thinking":
            # A thought need not come back, unless it is what is signed.
            return {"text": part.text, "thought": True, **part.extra} if part.extra else None
        case "picture":
            return {"inlineData": {"mimeType": part.name, "data": base64_of(part)}}
        case "call":
            args = arguments_object(part.value)
            return {"functionCall": {"id": part.id, "name": part.name, "args": args}, **part.extra}
        case "result":
            said = {"id": part.id, "name": part.name, "response": {"output": part.text}}
            return {"functionResponse": said}
        case "other":
            return None
