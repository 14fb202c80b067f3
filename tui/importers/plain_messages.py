"""Any JSON of conversations in the form of the vendors: ``{"messages": [{"role", "content"}]}``.

One such object, an array or lines of them, or the array of messages alone.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tui.domain.journal.message import Role, ToolCall
from tui.importers.contents import arguments, joined, placeholder, title
from tui.importers.export_files import beginning, files, nowhere, records
from tui.importers.json_lines import UNREADABLE, items_in, object_in, objects_in, text_in
from tui.importers.made_ids import MadeIds, first_ids, made_id
from tui.importers.protocol import (
    Conversation,
    ForeignMessage,
    Heading,
    Json,
    Ledger,
    Reader,
    Source,
)
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
_BEGUN = ("created_at", "createdAt", "create_time", "created")
_CREATED = (*_BEGUN, "timestamp", "date")
_UPDATED = ("updated_at", "updatedAt", "update_time", "updated")
_SAID = ("role", "content", "tool_calls", "function_call", "tool_call_id")
_UNIQUE = 16
"""Characters of an id that names one conversation everywhere; shorter ones may count in a file."""
_THINKING = {"thinking", "reasoning", "redacted_thinking"}
_MESSAGE = re.compile(rb"""[^{]*\{(?:[^{}]|\{[^{}]*\})*?"role"\s*:""")
"""Matches files whose first object is a message, not one that contains some."""


def _recognises(path: Path, head: bytes) -> bool:
    start = beginning(path, head)
    if not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"[", b"{")):
        return False
    has_words = b'"role"' in start and b'"content"' in start
    return has_words and bool(b'"messages"' in start or _MESSAGE.match(start))


def _read(source: Source, ledger: Ledger) -> Iterator[Conversation]:
    for file in files(source):
        loose: dict[str, list[Json]] = {}
        for record in records(file, ledger, ("conversations", "data")):
            if isinstance(record.get("messages"), list):
                yield conversation(record)
            elif "role" in record:
                loose.setdefault(_first_id(record, _CONVERSATION), []).append(record)
            else:
                ledger.skipped[UNREADABLE] += 1
        for name, messages in loose.items():
            yield conversation({"session_id": name, "messages": messages})


def conversation(record: Json) -> Conversation:
    """The conversation of an object; the first words name one that has no id of its own."""
    own = own_id(record)
    created = first_time(record, _CREATED)
    is_unique = len(own) >= _UNIQUE
    name = own if is_unique else _made_name(record)
    heading = Heading(
        source_id=name,
        name=title(record.get("title")) or title(record.get("name")),
        created_at=created,
        updated_at=first_time(record, _UPDATED) or created,
        model=_model(record),
        beginning=() if is_unique else first_ids(_items(record, name, Ledger())),
    )
    counts = Ledger()
    return Conversation(heading, partial(_items, record, name, counts), counts)


def _made_name(record: Json) -> str:
    first = next(_items(record, "", Ledger()), None)
    return made_id(first_time(record, _BEGUN), first and (first.role, first.content))


def own_id(record: Json) -> str:
    """The id that an object has, whatever its program calls it."""
    return _first_id(record, ("id", "uuid", *_CONVERSATION))


def _first_id(record: Json, fields: tuple[str, ...]) -> str:
    values = (record.get(field) for field in fields)
    return next((str(value) for value in values if isinstance(value, str | int) and value), "")


def first_time(record: Json, fields: tuple[str, ...]) -> str | None:
    """The first of some fields that is a time."""
    return next((time for field in fields if (time := utc(record.get(field)))), None)


def _model(record: Json) -> str:
    model = record.get("model")
    return text_in(model) or text_in(object_in(model).get("id"))


def _items(record: Json, name: str, ledger: Ledger) -> Iterator[ForeignMessage]:
    ids = MadeIds(name)
    waiting: list[str] = []
    for value in items_in(record["messages"]):
        message = object_in(value)
        # Its own id may count the messages of a file, and mean others when that is written anew.
        made = ids.make(own_id(message), *(message.get(field) for field in _SAID))
        said, reason = _said(made, message, waiting)
        if said:
            ledger.read += 1
            yield said
        else:
            ledger.skipped[reason] += 1


def _said(name: str, message: Json, waiting: list[str]) -> tuple[ForeignMessage | None, str]:
    """A message, or the reason that there is none; ``waiting`` are the calls without a result."""
    known = text_in(message.get("role")).lower()
    role = _ROLES.get(known)
    if not role:
        return None, "system prompt" if known in _RULES else UNREADABLE
    text = _text(message.get("content"))
    calls = tuple(_calls(name, message)) if role == "assistant" else ()
    if role != "tool" and not calls and not text.strip():
        return None, "empty message"
    waiting.extend(call.id for call in calls)
    said = ForeignMessage(
        id=name,
        role=role,
        content=None if calls and not text else text,
        timestamp=first_time(message, _CREATED),
        tool_calls=calls,
        tool_call_id=_answered(name, message, waiting) if role == "tool" else None,
        model=_model(message) or None if role == "assistant" else None,
    )
    return said, ""


def _answered(name: str, message: Json, waiting: list[str]) -> str:
    """The call of a result: the one it names, else the first that waits."""
    call = text_in(message.get("tool_call_id"))
    if call in waiting:
        waiting.remove(call)
    return call or (waiting.pop(0) if waiting else f"{name}-0")


def _calls(name: str, message: Json) -> Iterator[ToolCall]:
    old = object_in(message.get("function_call"))
    for number, call in enumerate(objects_in(message.get("tool_calls")) or [old] * bool(old)):
        function = object_in(call.get("function")) or call
        own = text_in(call.get("id")) or f"{name}-call-{number}"
        yield ToolCall(own, text_in(function.get("name")), arguments(function.get("arguments")))


def _text(content: Any) -> str:
    if not isinstance(content, list):
        return text_in(content) or text_in(object_in(content).get("text"))
    return joined(_block(block) for block in items_in(content))


def _block(block: Any) -> str:
    if isinstance(block, str):
        return block
    facts = object_in(block)
    kind = text_in(facts.get("type"))
    text = facts.get("text")
    if kind in _THINKING:
        return ""
    words = text_in(text) or text_in(object_in(text).get("value"))
    return words or placeholder(kind.removesuffix("_url") or "block")


READER = Reader(
    "messages", "JSON of messages", nowhere, _recognises, _read, several=True, archives=True
)
