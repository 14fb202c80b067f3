"""The cleaner of Mistral: chat completions, whose thinking is a part of the content."""

from collections.abc import Iterable
from typing import Any

from tui.providers.chat_events import ChatEvents, merged_chunks
from tui.providers.cleaning import JsonObject

_UNNAMED = {"name": "", "arguments": ""}
"""Mistral's library requires both with each fragment of a call."""


class MistralEvents:
    """Cleans the chunks of one answer."""

    is_done = False

    def __init__(self) -> None:
        self._chat = ChatEvents()

    @property
    def is_finished(self) -> bool:
        return self._chat.is_finished

    def clean(self, event: JsonObject) -> Iterable[JsonObject]:
        """Clean a chunk, or a whole completion."""
        return map(_chunk, self._chat.clean(event))

    def rest(self) -> Iterable[JsonObject]:
        return self._chat.rest()


def _chunk(chunk: JsonObject) -> JsonObject:
    choices = [choice | {"delta": _delta(choice["delta"])} for choice in chunk["choices"]]
    return chunk | {"choices": choices}


def _delta(delta: JsonObject) -> JsonObject:
    text, calls = delta.get("content"), delta.get("tool_calls", [])
    thinking = delta.get("reasoning_content") or delta.get("reasoning")
    clean: JsonObject = {"content": _content(text, thinking)} if thinking else {}
    if text and not thinking:
        clean = {"content": text}
    named = [call | {"function": _UNNAMED | call["function"]} for call in calls]
    return clean | ({"tool_calls": named} if named else {})


def _content(text: str | None, thinking: str) -> list[JsonObject]:
    thought: Any = {"type": "thinking", "thinking": [{"type": "text", "text": thinking}]}
    return [thought, *([{"type": "text", "text": text}] if text else [])]


def merged_texts(first: JsonObject, second: JsonObject) -> JsonObject | None:
    """Join two clean chunks that continue one text; thoughts stay apart."""
    are_texts = isinstance(_text(first), str) and isinstance(_text(second), str)
    return merged_chunks(first, second) if are_texts else None


def _text(chunk: JsonObject) -> Any:
    return chunk["choices"][0]["delta"].get("content") if chunk["choices"] else None
