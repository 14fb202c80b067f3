"""Any JSON of conversations in the form of the vendors: ``{"messages": [{"role", "content"}]}``.

One such object, an array or lines of them, or the array of messages alone; also those of Chatbot UI
and of ShareGPT, ``{"conversations": [{"from", "value"}]}``.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tui.domain.journal.message import Role, ToolCall
from tui.importers import protocol as p
from tui.importers.contents import joined
from tui.importers.formats import WITHOUT_MESSAGES, Export, Reading, Talk
from tui.importers.json_elements import beginning, has_key, placed_records, records
from tui.importers.json_lines import items_in, object_in, objects_in, parse_text
from tui.importers.json_paths import objects_at, text_at, time_at
from tui.importers.made_ids import first_ids, made_id
from tui.importers.message_blocks import Piece, Result, Unknown, call_in

_CONVERSATION = ("conversation_id", "conversationId", "session_id", "thread_id")
_OWN_IDS = ("id", "uuid", *_CONVERSATION)
_BEGUN = ("created_at", "createdAt", "create_time", "created")
_CREATED = (*_BEGUN, "timestamp", "date")
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
_SPEAKERS: dict[str, Role] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "model", "ai", "bot"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
_SHARED = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "bing", "bard", "model"), "assistant"),
    **dict.fromkeys(("tool", "observation", "function_response"), "tool"),
    "system": "system",
}
"""The roles of ShareGPT's speakers."""


class PlainMessages(Export):
    """Messages of nobody knows what program."""

    program, title = "messages", "JSON of messages"
    name = ("title", "name")
    created = _CREATED
    updated = ("updated_at", "updatedAt", "update_time", "updated")
    model = said_by = ("model", "model.id")
    roles = _SPEAKERS
    message_id = ("id", "uuid", "message_id", "messageId")
    time = _CREATED
    unnamed = "{message}-block-{number}"
    output_texts = ()

    def recognises(self, path: Path, head: bytes) -> bool:
        start = beginning(path, head)
        if not has_key(start, b"role", b"content|parts|text"):
            return False
        if has_key(start, b"versions", b"currentlySelected"):
            # LM Studio's, which has its messages in versions.
            return False
        return has_key(start, b"messages") or _MESSAGE.match(start) is not None

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        # Messages in no object: those of one array and one session are a conversation.
        loose: dict[tuple[int, int, str], list[p.Json]] = {}
        is_divided = False
        for element in placed_records(source, ledger, ("conversations", "data")):
            found = list(_conversations(element.value))
            is_divided |= bool(found)
            for record in found:
                yield self.talk(source.path, record)
            if not found and "role" in element.value:
                # What is between two damaged objects may be the rest of a conversation of its own.
                is_divided |= element.damage > 0 and not loose
                part = element.damage if is_divided else 0
                key = element.array, part, _first_id(element.value, _CONVERSATION)
                loose.setdefault(key, []).append(element.value)
            elif not found:
                ledger.skipped["unknown record"] += 1
        for (_, _, name), said in loose.items():
            yield self.talk(source.path, {"session_id": name, "messages": said})

    def talk(self, path: Path, record: p.Json) -> Talk:
        """The conversation of an object."""
        messages = [object_in(each) for each in items_in(record["messages"])]
        return Talk(path, record, lambda _: messages)

    def heading(self, talk: Talk) -> p.Heading:
        """The facts of a conversation; the first words name one that has no id of its own."""
        heading, own = super().heading(talk), _first_id(talk.facts, _OWN_IDS)
        if len(own) >= _UNIQUE:
            return replace(heading, source_id=own)
        items = self.items(talk, replace(heading, source_id=""), p.Ledger())
        first = next((item for item in items if isinstance(item, p.ForeignMessage)), None)
        begun = time_at(talk.facts, *_BEGUN)
        name = made_id(begun, first and (first.role, first.content))
        heading = replace(heading, source_id=name)
        return replace(heading, beginning=first_ids(self.items(talk, heading, p.Ledger())))

    def role_of(self, record: p.Json) -> Role | None:
        return self.roles.get(text_at(record, "role").lower())

    def reason_without_words(self, record: p.Json) -> str:
        return "empty message"

    def id_of(self, record: p.Json, reading: Reading) -> str:
        known = _first_id(record, self.message_id)
        if known and _first_id(reading.talk.facts, _OWN_IDS) == reading.heading.source_id:
            return reading.ids.within(known)
        # In a conversation without an id, it may count the messages of the file.
        more = (record[field] for field in _MORE if field in record)
        return reading.ids.make(known, *map(record.get, _SAID), *more)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        found = list(self.pieces_in(_content(record), whole.id, reading.ledger))
        called = objects_at(record, "tool_calls", "toolCalls")
        for number, call in enumerate(called or objects_in([record.get("function_call")])):
            found.append(call_in(call, f"{whole.id}-call-{number}"))
        if not isinstance(record.get("content"), list):
            found.append(text_at(record, "refusal"))
        if whole.role == "tool":
            found = _returned(record, found)
        return (_paired(piece, reading.known) for piece in found)


class ChatbotUi(PlainMessages):
    """Chatbot UI, whose export has no times."""

    program, title = "chatbot-ui", "Chatbot UI"

    def recognises(self, path: Path, head: bytes) -> bool:
        start = beginning(path, head)
        return has_key(start, b"history", b"messages", b"role") and not has_key(start, b"currentId")

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        for record in records(source, ledger, ("history",)):
            if isinstance(record.get("messages"), list):
                yield self.talk(source.path, record)
            else:
                ledger.skipped[WITHOUT_MESSAGES] += 1


class ShareGpt(PlainMessages):
    """The form of ShareGPT."""

    program, title = "sharegpt", "ShareGPT"

    def recognises(self, path: Path, head: bytes) -> bool:
        return has_key(beginning(path, head), b"conversations", b"from", b"value")

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        for record in records(source, ledger):
            turns = record.get("conversations", record.get("conversation"))
            if isinstance(turns, list):
                messages = [_message(object_in(turn)) for turn in items_in(turns)]
                yield self.talk(source.path, {**record, "messages": messages})
            else:
                ledger.skipped["unknown record"] += 1


def _message(turn: p.Json) -> p.Json:
    """A turn in the form of the vendors."""
    speaker, value = text_at(turn, "from").lower(), turn.get("value")
    if speaker != "function_call":
        return {"role": _SHARED.get(speaker, ""), "content": value}
    call = object_in(parse_text(value) or value)
    called = call if text_at(call, "name") else {"name": "tool", "arguments": value}
    return {"role": "assistant", "tool_calls": [called]}


def _content(message: p.Json) -> Any:
    """What a message says: a text, or its blocks."""
    found = next((message[field] for field in _WORDS if message.get(field)), None)
    inner = object_in(found)
    return next((inner[field] for field in ("parts", "text", "content") if inner.get(field)), found)


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


def _first_id(record: p.Json, fields: tuple[str, ...]) -> str:
    values = (record.get(field) for field in fields)
    return next((str(value) for value in values if isinstance(value, str | int) and value), "")


def _returned(message: p.Json, found: list[Piece]) -> list[Piece]:
    """The results of a record of a tool: its blocks, or else its text."""
    results: list[Piece] = [piece for piece in found if not isinstance(piece, str | Unknown)]
    text = joined(str(piece) for piece in found if isinstance(piece, str | Unknown))
    call = text_at(message, "tool_call_id", "toolCallId")
    if text or not results:
        results.insert(0, Result(call, text, text_at(message, "name")))
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
