"""The content of messages in the form of any vendor: texts, calls and results among its blocks."""

import json
from collections.abc import Iterator
from typing import Any

from tui.domain.journal.message import ToolCall
from tui.importers.answers import Piece, Result
from tui.importers.contents import arguments, blocks, joined, placeholder
from tui.importers.json_lines import object_in, objects_in, text_in
from tui.importers.protocol import Json

_WORDS = ("content", "parts", "text")
"""Fields of a message that may have what it says."""
_THINKING = {"thinking", "reasoning", "redacted_thinking"}
_CALLS = {"tool_use", "tool-call", "tool_call", "function_call", "functionCall", "server_tool_use"}
_RESULTS = {"tool_result", "tool-result", "function_call_output", "functionResponse"}
_NAMES = ("name", "toolName", "tool_name")
_IDS = ("id", "tool_use_id", "toolCallId", "tool_call_id", "call_id")
_SENT = ("input", "arguments", "args", "parameters")
_RETURNED = ("content", "output", "result", "response")


def content(message: Json) -> Any:
    """What a message says: a text, or its blocks."""
    found = next((message[field] for field in _WORDS if message.get(field)), None)
    inner = object_in(found)
    return next((inner[field] for field in ("parts", "text", "content") if inner.get(field)), found)


def pieces(name: str, message: Json) -> Iterator[Piece]:
    """The pieces of a message; ``name`` begins the ids of calls without one."""
    for number, block in enumerate(blocks(content(message))):
        yield from _block(f"{name}-block-{number}", block)
    called = objects_in(message.get("tool_calls") or message.get("toolCalls"))
    for number, call in enumerate(called or objects_in([message.get("function_call")])):
        yield _call(f"{name}-call-{number}", call)
    if not isinstance(message.get("content"), list):
        yield text_in(message.get("refusal"))


def _block(name: str, block: Json) -> Iterator[Piece]:
    kind = _kind(block)
    facts = object_in(block.get(kind)) or block
    if kind in _CALLS:
        yield _call(name, facts)
    elif kind in _RESULTS or kind.endswith("_tool_result"):
        yield Result(_first(facts, _IDS[1:]), _result(facts), _first(facts, _NAMES))
    elif kind not in _THINKING and block.get("thought") is not True:
        yield _words(block, kind)


def _kind(block: Json) -> str:
    """The type of a block; Google's have none but their only key."""
    google = next((kind for kind in ("functionCall", "functionResponse") if kind in block), "")
    return google or text_in(block.get("type"))


def _words(block: Json, kind: str) -> str:
    text = block.get("text", block.get("refusal"))
    words = text_in(text) or text_in(object_in(text).get("value"))
    return words if words or kind == "text" else placeholder(kind.removesuffix("_url") or "block")


def _call(name: str, call: Json) -> ToolCall:
    facts = object_in(call.get("function")) or call
    sent = next((facts[field] for field in _SENT if field in facts), None)
    made = text_in(call.get("call_id")) or _first(call, _IDS) or name
    return ToolCall(made, _first(facts, _NAMES), arguments(sent))


def _result(facts: Json) -> str:
    value = next((facts[field] for field in _RETURNED if field in facts), "")
    parts = list(blocks(value))
    if isinstance(value, str) or (parts and all(_is_words(part) for part in parts)):
        return joined(_words(part, text_in(part.get("type"))) for part in parts)
    return json.dumps(value, ensure_ascii=False)


def _is_words(part: Json) -> bool:
    return "type" in part or isinstance(part.get("text"), str)


def _first(facts: Json, fields: tuple[str, ...]) -> str:
    return next((text for field in fields if (text := text_in(facts.get(field)))), "")
