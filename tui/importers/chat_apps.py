"""Chats of Open WebUI and of LibreChat: exports, and the database of a server."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from tui.domain.journal.message import Role, ToolCall
from tui.importers import json_lines
from tui.importers import protocol as p
from tui.importers.contents import arguments, attachment, placeholder
from tui.importers.databases import MAGIC, has, is_database, opened, schema
from tui.importers.formats import WITHOUT_MESSAGES, Export, Format, Reading, Talk
from tui.importers.json_elements import beginning, has_key
from tui.importers.json_lines import UNREADABLE, items_in, object_in, object_of, parse, text_in
from tui.importers.json_paths import object_at, objects_at, text_at, time_at
from tui.importers.message_blocks import Piece, Result
from tui.importers.trees import TreeTurn

_COLUMNS = ("id", "title", "chat", "created_at", "updated_at")
_DETAILS = re.compile(
    r'<details\s+type="(reasoning|tool_calls)"([^>]*)>(.*?)(?:</details>\n?|\Z)', re.DOTALL
)
_SUMMARY = re.compile(r"\s*<summary>.*?</summary>\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


class OpenWebUi(Export):
    """Open WebUI, whose calls are in the text of answers, or in an output beside it."""

    program, title = "open-webui", "Open WebUI"
    within = ("chats", "items")
    source_id = ("id", "chat.id")
    name = ("title", "chat.title")
    created = ("created_at", "chat.timestamp")
    model = ("first_model",)
    message_id = ("own_id",)
    time = ("timestamp",)
    parent = ("parentId",)
    shown = ("chat.history.currentId",)
    kinds = {"message": "text"}

    def recognises(self, path: Path, head: bytes) -> bool:
        if head.startswith(MAGIC):
            return has(schema(path, head), "chat", "title", "chat", "archived")
        return has_key(beginning(path, head), b"history", b"currentId|childrenIds")

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        if not is_database(source.path):
            yield from super().talks(source, ledger)
            return
        with opened(source.path) as database:
            for row in database.rows("chat", _COLUMNS, ledger, order=["created_at", "rowid"]):
                chat = {**row, "chat": object_of(row.get("chat"))}
                yield from self.talks_of(source.path, chat, ledger)

    def talks_of(self, path: Path, record: p.Json, ledger: p.Ledger) -> Iterator[Talk]:
        chat = object_at(record, "chat") or record
        found = _messages_in(chat)
        if not found:
            ledger.skipped[WITHOUT_MESSAGES] += 1
            return
        models = [text_in(model) for model in items_in(chat.get("models"))]
        facts = {**record, "chat": chat, "first_model": next(iter(models), "")}
        records = [{**message, "own_id": name} for name, message in found.items()]
        yield Talk(path, facts, lambda _: records, next(iter(found)))

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        words = text_at(record, "error", "error.content", "error.message")
        if failure := words or ("failed" if record.get("error") else ""):
            return "failed", failure
        return "interrupted" if record.get("done") is False else None, None

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        text = self.output(record.get("content"), reading.ledger)
        match whole.role:
            case "assistant":
                yield from list(self._output(record, whole.id, reading)) or _content(whole.id, text)
            case "tool":
                yield Result(text_at(record, "tool_call_id"), text)
            case "user":
                yield text
        for file in objects_at(record, "files"):
            kind = "image" if file.get("type") == "image" else "file"
            yield placeholder(kind, text_at(file, "name", "file.filename"))

    def _output(self, record: p.Json, message: str, reading: Reading) -> Iterator[Piece]:
        for number, item in enumerate(objects_at(record, "output")):
            if item.get("type") == "message":
                yield self.output(item.get("content"), reading.ledger)
            else:
                yield from self.pieces_in(item, f"{message}-{number}", reading.ledger)


def _messages_in(chat: p.Json) -> dict[str, p.Json]:
    """The messages by their ids; an array is the shown branch of a chat without a tree."""
    if tree := object_at(chat, "history.messages"):
        return {name: object_in(message) for name, message in tree.items()}
    found: dict[str, p.Json] = {}
    before = ""
    for number, message in enumerate(items_in(chat.get("messages"))):
        facts = object_in(message)
        # Not made unique by the id of the record: known messages would be imported again.
        name = text_at(facts, "id") or f"{text_at(chat, 'id')}-{number}"
        found[name] = {"parentId": before, **facts}
        before = name
    return found


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


# Possessive: see ``tui.domain.json_text``.
_TOKEN = re.compile(
    rb'(?s)"(?:children|messages)"\s*+:\s*+(?P<array>\[)|"(?:[^"\\]++|\\.)*+"|[\[\]{}]'
)
_MESSAGE, _MESSAGES = "message", "messages"
"""Kinds of brackets; others are ``""``."""


class LibreChat(Format):
    """LibreChat, whose messages are within those that they follow."""

    program, title = "librechat", "LibreChat"
    marks = (b"conversationId", b"exportAt|messageId", b"exportAt|isCreatedByUser|sender")
    source_id = ("conversationId", "first.conversationId", "first.messageId")
    created = ("begun",)
    updated = ("ended",)
    model = ("options.model",)
    message_id = ("messageId", "_id")
    time = ("createdAt",)
    finish = ("finish_reason",)
    statuses = dict.fromkeys(("length", "max_tokens", "incomplete"), "truncated")
    ends = {"unfinished": "interrupted"}
    parent = ("parentMessageId",)
    kinds = {"error": "text"}
    mark_kind = "image"

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        found: list[p.Json] = []
        for data in unnested(json_lines.whole_bytes(source.path)):
            value = object_of(data)
            if not value:
                ledger.skipped[UNREADABLE] += 1
            elif not isinstance(value.get("messages"), list):
                found.append(value)
            elif found:
                times = sorted(time for each in found if (time := time_at(each, "createdAt")))
                around = {"begun": times[0], "ended": times[-1]} if times else {}
                facts = {**value, "first": found[0], **around}
                yield Talk(source.path, facts, lambda _, found=found: found)
                found = []
            else:
                ledger.skipped[WITHOUT_MESSAGES] += 1

    def turn_id(self, record: p.Json, number: int, reading: Reading) -> str:
        own = text_at(record, *self.message_id)
        return own or f"{text_at(record, 'conversationId')}-{number}"

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        """The end of the branch that was shown: from the last root on by the last child."""
        known = {turn.id for turn in turns}
        last = {turn.parent if turn.parent in known else "": turn.id for turn in turns}
        name, passed = "", set[str]()
        while name in last and name not in passed:
            passed.add(name)
            name = last[name]
        return name

    def role_of(self, record: p.Json) -> Role:
        known = record.get("isCreatedByUser")
        is_sent = known if isinstance(known, bool) else text_at(record, "sender").lower() == "user"
        return "user" if is_sent else "assistant"

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        if record.get("error") is True:
            return "failed", text_at(record, "text", "content") or None
        return super().end(record)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        blocks = objects_at(record, "content")
        pieces = list(self.pieces_in(blocks, whole.id, reading.ledger))
        yield from pieces or [text_at(record, "text", "content")]
        for file in objects_at(record, "files"):
            size = file.get("bytes")
            name, kind = text_at(file, "filename"), text_at(file, "type")
            yield attachment(name, kind, f"{size} bytes" if size else "")


def unnested(data: bytes) -> Iterator[bytes]:
    """Take the messages of a tree out of each other, children first, and what is around them last.

    A conversation of a hundred messages is nested too deeply for a parser.
    """
    kinds: list[str] = []
    open_messages: list[list[bytes]] = []
    begin = 0
    for token in _TOKEN.finditer(data):
        around = kinds[-1] if kinds else _MESSAGES
        match data[token.end() - 1 : token.end()]:
            case b"{" if around == _MESSAGES:
                kinds.append(_MESSAGE)
                open_messages.append([])
                begin = token.start()
            case b"[" if not kinds or (token["array"] and around == _MESSAGE):
                if open_messages:
                    open_messages[-1].append(data[begin : token.end()])
                kinds.append(_MESSAGES)
            case b"{" | b"[":
                kinds.append("")
            case b"}" | b"]" if kinds:
                closed = kinds.pop()
                if closed == _MESSAGE:
                    yield b"".join([*open_messages.pop(), data[begin : token.end()]])
                elif closed == _MESSAGES:
                    begin = token.start()
            case _:
                pass
    # Of a file that was cut off, what stood before the children.
    for pieces in reversed(open_messages):
        yield b"".join(pieces) + b"]}"
