"""The words of Google's Gemini API, as the tests' own server says them."""

import json
from collections.abc import Sequence
from typing import Any

from tests.providers.loopback import Call, Exchange

_USAGE = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_STATES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def candidate(*parts: dict[str, Any], reason: Any = None, **more: Any) -> dict[str, Any]:
    """A chunk with one candidate."""
    said: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if reason:
        said["finishReason"] = reason
    return {
        "candidates": [said],
        "modelVersion": "test-model",
        "responseId": "answer-1",
        **more,
    }


class GoogleExchange(Exchange):
    """Chunks of one candidate; the last one has the reason, and nothing comes after it."""

    _usage = False

    def begin(self, *, usage: bool = False) -> None:
        self._usage = usage
        self.head()

    def text(self, piece: str) -> None:
        self.event(candidate({"text": piece}))

    def thinking(self, piece: str) -> None:
        self.event(candidate({"text": piece, "thought": True}))

    def calls(self, calls: Sequence[Call]) -> None:
        for number, (call_id, name, pieces) in enumerate(calls):
            arguments = json.loads("".join(pieces) or "{}")
            call = {"functionCall": {"id": call_id, "name": name, "args": arguments}}
            # The first call of an answer has the signature of the thought before it.
            self.event(candidate(call if number else {**call, "thoughtSignature": "c2ln"}))

    def end(self, reason: str | None = "stop", *, done: bool = True) -> None:
        if not reason and not done:
            return
        usage = {"usageMetadata": _USAGE} if self._usage else {}
        said = _REASONS.get(reason or "stop", "STOP" if reason == "tool_calls" else reason)
        self.event(candidate({"text": ""}, reason=said, **usage))

    def failure(self, message: str) -> None:
        self.event(self.error(500, message))

    def event(self, data: Any) -> None:
        self.raw(b"data: %s\r\n\r\n" % self.encoded(data))

    def error(self, status: int, message: str) -> Any:
        state = _STATES.get(status, "UNKNOWN")
        return {"error": {"code": status, "message": message, "status": state}}
