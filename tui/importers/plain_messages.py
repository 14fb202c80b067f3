"""Any JSON of conversations in the form of the vendors: ``{"messages": [{"role", "content"}]}``.

One such object, an array or lines of them, or the array of messages alone.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tui.domain.journal.message import Role, ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.contents import arguments, blocks, joined, placeholder, title
from tui.importers.export_files import beginning, files, has_key, nowhere, placed_records
from tui.importers.json_elements import Element
from tui.importers.json_lines import UNREADABLE, items_in, object_in, objects_in, text_in
from tui.importers.made_ids import MadeIds, first_ids, made_id
from tui.importers.times import utc

_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "tool": "tool",
    "function": "tool",
}
_RULES = {"system", "developer"}
_CONVERSATION = ("conversation_id", "conversationId", "session_id", "thread_id")
_MESSAGE_ID = ("id", "uuid", "message_id", "messageId")
_BEGUN = ("created_at", "createdAt", "create_time", "created")
_CREATED = (*_BEGUN, "timestamp", "date")
_UPDATED = ("updated_at", "updatedAt", "update_time", "updated")
_SAID = ("role", "content", "tool_calls", "function_call", "tool_call_id")
_MORE = ("parts", "text", "toolCalls", "refusal")
_UNIQUE = 16
"""Characters of an id that names one conversation everywhere; shorter ones may count in a file."""
_DEPTH = 4
"""Objects and arrays within each other that are searched for conversations."""
_MESSAGE = re.compile(rb"""[^{]*\{(?:[^{}]|\{[^{}]*\})*?"role"\s*:""")
"""Matches files whose first object is a message, not one that contains some."""

_WORDS = ("content", "parts", "text")
"""Fields of a message that may have what it says."""
_THINKING = {"thinking", "reasoning", "redacted_thinking"}
_CALLS = {"tool_use", "tool-call", "tool_call", "function_call", "functionCall", "server_tool_use"}
_RESULTS = {"tool_result", "tool-result", "function_call_output", "functionResponse"}
_NAMES = ("name", "toolName", "tool_name")
_IDS = ("id", "tool_use_id", "toolCallId", "tool_call_id", "call_id")
_SENT = ("input", "arguments", "args", "parameters")
_RETURNED = ("content", "output", "result", "response")


def content(message: p.Json) -> Any:
    """What a message says: a text, or its blocks."""
    found = next((message[field] for field in _WORDS if message.get(field)), None)
    inner = object_in(found)
    return next((inner[field] for field in ("parts", "text", "content") if inner.get(field)), found)


def pieces(name: str, message: p.Json) -> Iterator[Piece]:
    """The pieces of a message; ``name`` begins the ids of calls without one."""
    for number, block in enumerate(blocks(content(message))):
        yield from _block(f"{name}-block-{number}", block)
    called = objects_in(message.get("tool_calls") or message.get("toolCalls"))
    for number, call in enumerate(called or objects_in([message.get("function_call")])):
        yield _call(f"{name}-call-{number}", call)
    if not isinstance(message.get("content"), list):
        yield text_in(message.get("refusal"))


def _block(name: str, block: p.Json) -> Iterator[Piece]:
    # Google's blocks have no type but their only key.
    google = next((kind for kind in ("functionCall", "functionResponse") if kind in block), "")
    kind = google or text_in(block.get("type"))
    facts = object_in(block.get(kind)) or block
    if kind in _CALLS:
        yield _call(name, facts)
    elif kind in _RESULTS or kind.endswith("_tool_result"):
        yield Result(_first(facts, _IDS[1:]), _result(facts), _first(facts, _NAMES))
    elif kind not in _THINKING and block.get("thought") is not True:
        yield _words(block, kind)


def _words(block: p.Json, kind: str) -> str:
    text = block.get("text", block.get("refusal"))
    words = text_in(text) or text_in(object_in(text).get("value"))
    return words if words or kind == "text" else placeholder(kind.removesuffix("_url") or "block")


def _call(name: str, call: p.Json) -> ToolCall:
    facts = object_in(call.get("function")) or call
    sent = next((facts[field] for field in _SENT if field in facts), None)
    made = text_in(call.get("call_id")) or _first(call, _IDS) or name
    return ToolCall(made, _first(facts, _NAMES), arguments(sent))


def _result(facts: p.Json) -> str:
    value = next((facts[field] for field in _RETURNED if field in facts), "")
    parts = list(blocks(value))
    if isinstance(value, str) or (parts and all(_is_words(part) for part in parts)):
        return joined(_words(part, text_in(part.get("type"))) for part in parts)
    return json.dumps(value, ensure_ascii=False)


def _is_words(part: p.Json) -> bool:
    return "type" in part or isinstance(part.get("text"), str)


def _first(facts: p.Json, fields: tuple[str, ...]) -> str:
    return next((text for field in fields if (text := text_in(facts.get(field)))), "")


def _recognises(path: Path, head: bytes) -> bool:
    start = beginning(path, head)
    if not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"[", b"{")):
        return False
    if not has_key(start, b"role", b"content|parts|text"):
        return False
    return has_key(start, b"messages") or _MESSAGE.match(start) is not None


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    for file in files(source):
        loose = _Loose()
        for element in placed_records(file, ledger, ("conversations", "data")):
            found = list(_conversations(element.value))
            if found:
                loose.is_divided = True
                yield from map(conversation, found)
            elif "role" in element.value:
                loose.add(element)
            else:
                ledger.skipped[UNREADABLE] += 1
        yield from map(conversation, loose.conversations())


def _conversations(value: Any, depth: int = 0) -> Iterator[p.Json]:
    """Find the objects that have messages, also within others and within arrays."""
    record, items = object_in(value), items_in(value)
    listed = record.get("messages")
    is_talk = isinstance(listed, list)
    if is_talk and not any("messages" in each for each in objects_in(listed)):
        yield record
    elif depth and any("role" in each for each in objects_in(items)):
        yield {"messages": items}
    elif "role" not in record and depth < _DEPTH:
        for each in (*record.values(), *items):
            yield from _conversations(each, depth + 1)


class _Loose:
    """Messages that are in no object: those of one array and one session are a conversation."""

    def __init__(self) -> None:
        self.is_divided = False
        """True if what is between two damaged objects is the rest of a conversation of its own."""
        self._messages: dict[tuple[int, int, str], list[p.Json]] = {}

    def add(self, element: Element) -> None:
        self.is_divided |= element.damage > 0 and not self._messages
        part = element.damage if self.is_divided else 0
        key = element.array, part, _first_id(element.value, _CONVERSATION)
        self._messages.setdefault(key, []).append(element.value)

    def conversations(self) -> Iterator[p.Json]:
        for (_, _, name), found in self._messages.items():
            yield {"session_id": name, "messages": found}


def conversation(record: p.Json) -> p.Conversation:
    """The conversation of an object; the first words name one that has no id of its own."""
    own = own_id(record)
    created = first_time(record, _CREATED)
    is_unique = len(own) >= _UNIQUE
    name = own if is_unique else _made_name(record)
    heading = p.Heading(
        source_id=name,
        name=title(record.get("title")) or title(record.get("name")),
        created_at=created,
        updated_at=first_time(record, _UPDATED),
        model=_model(record),
        beginning=() if is_unique else first_ids(_items(record, name, p.Ledger())),
    )
    return p.Conversation.of(heading, partial(_items, record, name))


def _made_name(record: p.Json) -> str:
    first = next(_items(record, "", p.Ledger()), None)
    return made_id(first_time(record, _BEGUN), first and (first.role, first.content))


def own_id(record: p.Json) -> str:
    """The id that an object has, whatever its program calls it."""
    return _first_id(record, ("id", "uuid", *_CONVERSATION))


def _first_id(record: p.Json, fields: tuple[str, ...]) -> str:
    values = (record.get(field) for field in fields)
    return next((str(value) for value in values if isinstance(value, str | int) and value), "")


def first_time(record: p.Json, fields: tuple[str, ...]) -> str | None:
    """The first of some fields that is a time."""
    return next((time for field in fields if (time := utc(record.get(field)))), None)


def _model(record: p.Json) -> str:
    model = record.get("model")
    return text_in(model) or text_in(object_in(model).get("id"))


def _items(record: p.Json, name: str, ledger: p.Ledger) -> Iterator[p.ForeignMessage]:
    ids = MadeIds(name)
    is_named = own_id(record) == name
    waiting: dict[str, str] = {}
    for value in items_in(record["messages"]):
        message = object_in(value)
        known = _first_id(message, _MESSAGE_ID)
        # In a conversation without an id, it may count the messages of the file.
        more = (message[field] for field in _MORE if field in message)
        is_within = known and is_named
        made = ids.within(known) if is_within else ids.make(known, *map(message.get, _SAID), *more)
        said, reason = _said(made, message, waiting)
        ledger.count(said, reason)
        yield from said


def _said(
    name: str, message: p.Json, waiting: dict[str, str]
) -> tuple[tuple[p.ForeignMessage, ...], str]:
    """The messages of a record, or the reason that there is none; see ``_paired``."""
    known = text_in(message.get("role")).lower()
    role = _ROLES.get(known)
    if not role:
        return (), "system prompt" if known in _RULES else UNREADABLE
    whole = p.ForeignMessage(
        id=name,
        role=role,
        content=None,
        timestamp=first_time(message, _CREATED),
        model=_model(message) or None if role == "assistant" else None,
    )
    found = list(pieces(name, message))
    if role == "tool":
        found = _returned(message, found)
    return messages(whole, [_paired(piece, waiting) for piece in found]), "empty message"


def _returned(message: p.Json, found: list[Piece]) -> list[Piece]:
    """The results of a record of a tool: its blocks, or else its text."""
    results: list[Piece] = [piece for piece in found if not isinstance(piece, str)]
    text = joined(piece for piece in found if isinstance(piece, str))
    call = text_in(message.get("tool_call_id")) or text_in(message.get("toolCallId"))
    if text or not results:
        results.insert(0, Result(call, text, text_in(message.get("name"))))
    return results


def _paired(piece: Piece, waiting: dict[str, str]) -> Piece:
    """A result with its call: the one that it names, else the first that waits, of its tool or any.

    ``waiting`` are the tools of the calls without a result.
    """
    if isinstance(piece, ToolCall):
        waiting[piece.id] = piece.name
    if not isinstance(piece, Result):
        return piece
    same = (call for call, tool in waiting.items() if tool == piece.tool)
    call = piece.call or next(same, next(iter(waiting), ""))
    waiting.pop(call, None)
    return piece._replace(call=call)


READER = p.Reader(
    "messages", "JSON of messages", nowhere, _recognises, _read, several=True, archives=True
)
