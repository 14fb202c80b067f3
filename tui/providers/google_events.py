"""The cleaner of Google's Gemini API: chunks of text, thoughts and calls.

The library warns of words that it does not know, onto the screen.
"""

from collections.abc import Iterable
from typing import Any

from tui.providers.cleaning import (
    Halves,
    JsonObject,
    as_list,
    as_object,
    as_text,
    counts,
    failed,
    malformed,
)

_REASONS = frozenset(
    {
        "BLOCKLIST",
        "LANGUAGE",
        "MALFORMED_FUNCTION_CALL",
        "MAX_TOKENS",
        "OTHER",
        "PROHIBITED_CONTENT",
        "RECITATION",
        "SAFETY",
        "SPII",
        "STOP",
        "UNEXPECTED_TOOL_CALL",
    }
)
"""The reasons of the end that the library knows, as far as they are of a text."""
_UNKNOWN = "OTHER"
_BLOCKED = "PROHIBITED_CONTENT"
"""The reason of the end for a prompt that was blocked for a reason of another name."""


class GoogleEvents:
    """Cleans the chunks of one answer, of which the first candidate counts."""

    is_done = False
    """There is no end mark: the last chunk has the reason of the end."""

    def __init__(self) -> None:
        self._text = Halves()
        self.is_finished = False

    def clean(self, event: JsonObject) -> Iterable[JsonObject]:
        """Clean a chunk, or a whole answer, which looks the same."""
        if event.get("error"):
            raise failed(event)
        candidates = as_list(event.get("candidates"))[:1] or _blocked(event.get("promptFeedback"))
        usage = counts(event.get("usageMetadata"))
        if not (candidates or usage):
            raise malformed()
        clean: JsonObject = {
            "candidates": [self._candidate(as_object(each)) for each in candidates]
        }
        return [clean | ({"usageMetadata": usage} if usage else {})]

    def rest(self) -> Iterable[JsonObject]:
        return ()

    def _candidate(self, candidate: JsonObject) -> JsonObject:
        content, given = as_object(candidate.get("content") or {}), candidate.get("finishReason")
        reason = given if given in _REASONS else _UNKNOWN
        self.is_finished = self.is_finished or bool(given)
        parts = [self._part(as_object(part)) for part in as_list(content.get("parts"))]
        clean: JsonObject = {
            "content": {"role": "model", "parts": [part for part in parts if part]}
        }
        return clean | ({"finishReason": reason} if given else {})

    def _part(self, part: JsonObject) -> JsonObject:
        """Clean a part; empty for one of a kind that is never asked for."""
        signature = part.get("thoughtSignature")
        more = {"thoughtSignature": signature} if isinstance(signature, str) else {}
        if call := part.get("functionCall"):
            return {"functionCall": _call(as_object(call))} | more
        if "text" not in part:
            return {}
        text, thought = self._text.joined(as_text(part["text"])), part.get("thought") is True
        return {"text": text} | ({"thought": True} if thought else {}) | more


def _call(call: JsonObject) -> JsonObject:
    call_id = as_text(call.get("id"))
    clean = {"name": as_text(call.get("name")), "args": as_object(call.get("args") or {})}
    return clean | ({"id": call_id} if call_id else {})


def _blocked(feedback: Any) -> list[JsonObject]:
    """The candidate of a prompt that was blocked: one that ends at once."""
    reason = as_object(feedback).get("blockReason") if feedback else None
    return [{"finishReason": reason if reason in _REASONS else _BLOCKED}] if reason else []


def merged_texts(first: JsonObject, second: JsonObject) -> JsonObject | None:
    """Join two clean chunks that continue one text or one thought."""
    begun, more = _only_text(first), _only_text(second)
    if begun is None or more is None or begun.keys() != more.keys():
        return None
    parts = [{**begun, "text": begun["text"] + more["text"]}]
    # The counts of the second chunk include those of the first.
    return {**first, **second, "candidates": [{"content": {"role": "model", "parts": parts}}]}


def _only_text(chunk: JsonObject) -> JsonObject | None:
    for candidate in chunk["candidates"]:
        parts = candidate["content"]["parts"]
        if "finishReason" not in candidate and len(parts) == 1 and "text" in parts[0]:
            return None if "thoughtSignature" in parts[0] else parts[0]
    return None
