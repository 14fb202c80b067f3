"""Chats of Open WebUI: its export, and the database of a server."""

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tui.domain.journal.message import Role, ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import arguments, joined, placeholder, title
from tui.importers.databases import MAGIC, has, is_database, opened, schema
from tui.importers.export_files import beginning, has_key, nowhere, records
from tui.importers.json_lines import items_in, object_in, objects_in, parse, text_in
from tui.importers.times import utc

WITHIN = ("chats", "items")
_COLUMNS = ("id", "title", "chat", "created_at", "updated_at")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
_DETAILS = re.compile(
    r'<details\s+type="(reasoning|tool_calls)"([^>]*)>(.*?)(?:</details>\n?|\Z)', re.DOTALL
)
_SUMMARY = re.compile(r"\s*<summary>.*?</summary>\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


def _recognises(path: Path, head: bytes) -> bool:
    if head.startswith(MAGIC):
        return has(schema(path, head), "chat", "title", "chat", "archived")
    start = beginning(path, head)
    return has_key(start, b"history", b"currentId|childrenIds")


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    if not is_database(source.path):
        for record in records(source, ledger, WITHIN):
            yield from _chat(record, ledger)
        return
    with opened(source.path) as database:
        for row in database.rows("chat", _COLUMNS, ledger, order=["created_at", "rowid"]):
            chat = parse(text_in(row.get("chat")).encode("utf-8", "replace"))
            yield from _chat({**row, "chat": chat}, ledger)


def _chat(record: p.Json, ledger: p.Ledger) -> Iterator[p.Conversation]:
    """The conversation of a chat, if it has messages."""
    chat = object_in(record.get("chat")) or record
    if not _messages(chat):
        ledger.skipped["conversation without messages"] += 1
        return
    yield p.Conversation.of(_heading(record, chat), partial(_items, chat))


def _heading(record: p.Json, chat: p.Json) -> p.Heading:
    created = utc(record.get("created_at")) or utc(chat.get("timestamp"))
    models = [text_in(model) for model in items_in(chat.get("models"))]
    return p.Heading(
        source_id=text_in(record.get("id"))
        or text_in(chat.get("id"))
        or next(iter(_messages(chat))),
        name=title(record.get("title")) or title(chat.get("title")),
        created_at=created,
        updated_at=utc(record.get("updated_at")),
        model=next(iter(models), ""),
    )


def _messages(chat: p.Json) -> dict[str, Any]:
    """The messages by their ids; an array is the shown branch of a chat without a tree."""
    tree = object_in(object_in(chat.get("history")).get("messages"))
    if tree:
        return tree
    found: dict[str, Any] = {}
    before = ""
    for number, message in enumerate(items_in(chat.get("messages"))):
        facts = object_in(message)
        name = text_in(facts.get("id")) or f"{text_in(chat.get('id'))}-{number}"
        found[name] = {"parentId": before, **facts}
        before = name
    return found


def _items(chat: p.Json, ledger: p.Ledger) -> Iterator[p.Item]:
    found = _messages(chat)
    current = text_in(object_in(chat.get("history")).get("currentId"))
    turns: list[TreeTurn] = []
    for name, message in found.items():
        facts = object_in(message)
        role = _ROLES.get(text_in(facts.get("role")))
        said = _said(name, facts, role) if role else ()
        unread = "system prompt" if facts.get("role") == "system" else "unreadable line"
        ledger.count(said, "empty message" if role else unread)
        turns.append(TreeTurn(name, text_in(facts.get("parentId")), said))
    return linked(turns, current if current in found else turns[-1].id)


def _said(name: str, message: p.Json, role: Role) -> tuple[p.ForeignMessage, ...]:
    is_answer = role == "assistant"
    error = message.get("error")
    facts = object_in(error)
    words = text_in(error) or text_in(facts.get("content")) or text_in(facts.get("message"))
    failure = (words or ("failed" if error else None)) if is_answer else None
    stopped = is_answer and message.get("done") is False
    whole = p.ForeignMessage(
        id=name,
        role=role,
        content=None,
        timestamp=utc(message.get("timestamp")),
        status="failed" if failure else "interrupted" if stopped else None,
        error=failure,
        model=text_in(message.get("model")) or None if is_answer else None,
    )
    said = messages(whole, _pieces(message, whole))
    # A failed answer without a word is kept for its error.
    return said or ((replace(whole, content=""),) if failure else ())


def _pieces(message: p.Json, whole: p.ForeignMessage) -> Iterator[Piece]:
    text = _text(message.get("content"))
    match whole.role:
        case "assistant":
            yield from list(_output(message)) or _content(whole.id, text)
        case "tool":
            yield Result(text_in(message.get("tool_call_id")), text)
        case "user":
            yield text
    for file in objects_in(message.get("files")):
        kind = "image" if file.get("type") == "image" else "file"
        inner = object_in(file.get("file"))
        yield placeholder(kind, text_in(file.get("name")) or text_in(inner.get("filename")))


def _output(message: p.Json) -> Iterator[Piece]:
    for item in objects_in(message.get("output")):
        call = text_in(item.get("call_id")) or text_in(item.get("id"))
        match item.get("type"):
            case "message":
                yield _text(item.get("content"))
            case "function_call":
                yield ToolCall(call, text_in(item.get("name")), arguments(item.get("arguments")))
            case "function_call_output":
                yield Result(call, _text(item.get("output")))
            case _:
                pass


def _text(content: Any) -> str:
    if not isinstance(content, list):
        return text_in(content)
    return joined(
        placeholder("image")
        if "image" in text_in(block.get("type"))
        else text_in(block.get("text"))
        for block in objects_in(content)
    )


def _content(name: str, text: str) -> Iterator[Piece]:
    """Text with the calls in it: they are shown as details that can be opened."""
    at = 0
    for number, details in enumerate(_DETAILS.finditer(text)):
        yield text[at : details.start()].strip("\n")
        at = details.end()
        if details[1] == "tool_calls":
            facts = {key: unescape(value) for key, value in _ATTRIBUTE.findall(details[2])}
            call = facts.get("id") or f"{name}-call-{number}"
            shown = unescape(_SUMMARY.sub("", details[3])).strip()
            yield ToolCall(
                call, facts.get("name", "tool"), arguments(_decoded(facts.get("arguments", "")))
            )
            yield Result(call, _decoded(facts.get("result") or shown))
    yield text[at:].lstrip("\n") if at else text


def _decoded(text: str) -> str:
    """Text that stands in the page as a JSON string."""
    value = parse(text.encode("utf-8", "surrogatepass")) if text.startswith('"') else None
    return value if isinstance(value, str) else text


READER = p.Reader(
    "open-webui", "Open WebUI", nowhere, _recognises, _read, several=True, archives=True
)
