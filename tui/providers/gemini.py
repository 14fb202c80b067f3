"""The codec of Google's Gemini API."""

import re
from collections.abc import Iterator, Mapping

from tui.domain.model_settings import Effort
from tui.providers.catalog import ModelChoice
from tui.providers.codec import (
    BROKEN_OFF,
    FILTERED,
    Answer,
    Codec,
    JsonObject,
    Part,
    PartKind,
    as_list,
    as_object,
    as_text,
    counts,
    malformed,
    picture,
    reported,
    sendable,
)
from tui.providers.model_table import GEMINI, traits_in
from tui.providers.protocol import ModelEvent, ModelRequest, TextReceived, ThinkingReceived
from tui.providers.sending import arguments_object, base64_of, messages_of
from tui.providers.server_words import value_at

_ANY_ID = re.compile(r"(?s).+")
_BUDGETS: Mapping[Effort, int] = {"off": 0, "low": 2_048, "medium": 8_192, "high": 24_576}
"""Tokens for thinking, of models that have no levels of it."""
_ENDED = frozenset({"stop", "max_tokens"})
_FIELDS = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId"})
_BLOCKED = "PROHIBITED_CONTENT"
"""The reason of the end for a prompt that was blocked for a reason of another name."""


class Gemini(Codec):
    """Requests to Google's Gemini API, which lists its models at the same address."""

    key_header = ("x-goog-api-key", "{}")
    optional: Mapping[str, str] = {
        "generationConfig.temperature": "temperature",
        "generationConfig.maxOutputTokens": "max_tokens",
        "generationConfig.thinkingConfig": "effort",
    }

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice, traits_in(GEMINI, choice.model.removeprefix("models/")))
        name = sendable(choice.model)
        place = name if "/" in name else f"models/{name}"
        self.path = f"/v1beta/{place}:streamGenerateContent?alt=sse"

    def body(self, request: ModelRequest) -> JsonObject:
        parameters = request.parameters
        body: JsonObject = {
            "contents": [
                {"role": "model" if role == "assistant" else "user", "parts": sent}
                for role, parts in messages_of(request, _ANY_ID)
                # None may be empty.
                if (sent := [each for part in parts if (each := _part(part))])
            ]
        }
        if request.system_prompt:
            body["systemInstruction"] = {"parts": [{"text": sendable(request.system_prompt)}]}
        if request.tools:
            declared = [
                {
                    "name": each.name,
                    "description": sendable(each.description),
                    "parametersJsonSchema": each.parameters,
                }
                for each in request.tools
            ]
            body["tools"] = [{"functionDeclarations": declared}]
        config: JsonObject = {}
        if parameters.temperature is not None:
            config["temperature"] = parameters.temperature
        if parameters.max_tokens is not None:
            config["maxOutputTokens"] = parameters.max_tokens
        if thinking := self._thinking(parameters.effort):
            config["thinkingConfig"] = thinking
        return body | ({"generationConfig": config} if config else {})

    def answer(self) -> "GeminiAnswer":
        return GeminiAnswer()

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


class GeminiAnswer(Answer):
    """The chunks of one answer, of which the first candidate counts.

    There is no end mark: the last chunk has the reason of the end. A whole answer looks the same.
    """

    def take(self, event: JsonObject) -> Iterator[ModelEvent]:
        candidates = as_list(event.get("candidates"))[:1]
        feedback, usage = event.get("promptFeedback"), counts(event.get("usageMetadata"))
        if not (candidates or feedback or event.keys() & _FIELDS):
            raise malformed()
        for candidate in map(as_object, candidates):
            content = as_object(candidate.get("content") or {})
            for part in as_list(content.get("parts")):
                yield from self._part(as_object(part))
            if reason := candidate.get("finishReason"):
                self._end(as_text(reason), "OTHER")
        if feedback and not candidates and (reason := as_object(feedback).get("blockReason")):
            self._end(as_text(reason), _BLOCKED)
        yield from reported(
            usage.get("promptTokenCount", 0) + usage.get("toolUsePromptTokenCount", 0),
            usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0),
            usage.get("cachedContentTokenCount", 0),
        )

    @property
    def kept(self) -> list[Part] | None:
        parts = list(self.parts.values())
        return parts if any(part.extra for part in parts) else None

    def _part(self, part: JsonObject) -> Iterator[ModelEvent]:
        """Take a part; those of a kind that is never asked for are passed over."""
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
        elif str(kind := value_at(part, "inlineData", "mimeType")).startswith("image/"):
            yield picture(kind)
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

    def _end(self, reason: str, otherwise: str) -> None:
        known = reason.lower() in {*_ENDED, *FILTERED, *BROKEN_OFF}
        self.reason, self.is_finished = reason if known else otherwise, True
