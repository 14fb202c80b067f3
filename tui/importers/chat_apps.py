"""Chats of apps and of their servers: exports, backups of all as one object, and a database."""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path

from tui.domain.journal.message import Role, ToolCall
from tui.importers import protocol as p
from tui.importers.contents import arguments, attachment, link, placeholder
from tui.importers.databases import MAGIC, has, is_database, opened, schema
from tui.importers.formats import WITHOUT_MESSAGES, Export, Format, Reading, Talk
from tui.importers.json_elements import beginning, has_key, records
from tui.importers.json_lines import (
    UNREADABLE,
    items_in,
    object_in,
    parse,
    parse_text,
    text_in,
    whole_bytes,
)
from tui.importers.json_paths import object_at, objects_at, text_at, time_at, value_at
from tui.importers.message_blocks import Piece, Result, call_in
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
                chat = {**row, "chat": parse_text(row.get("chat"))}
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

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        found: list[p.Json] = []
        for data in unnested(whole_bytes(source.path)):
            value = object_in(parse(data))
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

    def mark(self, name: str, block: p.Json) -> str:
        return placeholder("image")

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


_FILES = ("name", "origin_name", "file.origin_name", "metadata.name")


class Backup(Export):
    """An app; of its messages, each says in ``above`` which one it follows."""

    message_id = ("own_id",)
    parent = ("above",)
    shown = ("shown",)
    failure = ("error", "error.message", "error.type")
    thoughts = ("reasoning",)
    ends = {"generating": "interrupted"}
    created = time = ("createdAt",)
    updated = ("updatedAt",)

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        """The chats of the object; each names in ``shown`` the end of the branch that was shown."""
        raise NotImplementedError

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        for record in records(source, ledger):
            for chat in self.chats(record):
                yield from self.talks_of(source.path, chat, ledger)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        if whole.role == "tool":
            output = self.output(value_at(record, *self.content), reading.ledger)
            yield Result(text_at(record, "tool_call_id", "toolCallId"), output)
            return
        yield from super().pieces(record, whole, reading)
        for number, called in enumerate(objects_at(record, "tool_calls")):
            yield call_in(called, f"{whole.id}-call-{number}")
        for file in (*items_in(record.get("files")), *items_in(record.get("links"))):
            yield self.mark(text_at(object_in(file), "fileType", "type"), object_in(file))

    def mark(self, name: str, block: p.Json) -> str:
        if address := text_at(block, "url", "image_url.url", "image_url"):
            return link(address)
        return placeholder("image" if "image" in name else "file", text_at(block, *_FILES))


class TypingMind(Backup):
    """TypingMind, which may ask several models: the answer of the last one is shown."""

    program, title = "typingmind", "TypingMind"
    marks = (b"messages", b"chatID", b"chatTitle|chatParams|preview|folderID")
    source_id = ("chatID",)
    name = ("chatTitle",)
    content = ("content", "contextSummary.content", "pluginResponse.data")
    sent = ("usage.prompt_tokens", "usage.input_tokens")
    received = ("usage.completion_tokens", "usage.output_tokens")
    roles = {**Export.roles, "function": "tool"}
    summary = ("type", "tm_context_summary")
    kinds = {
        "tm_provider_tool_call": "call",
        "tm_provider_tool_call_result": "result",
        **dict.fromkeys(("tm_image_file", "tm_text_file", "tm_blob_file"), "mark"),
    }

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        return objects_at(record, "data.chats") or [record]

    def messages_of(self, record: p.Json) -> list[p.Json]:
        found, last = list[p.Json](), ""
        for message in super().messages_of(record):
            if message.get("type") == "training-message":
                # An example, which its user does not see.
                message["role"] = "system"
            before = last
            for answer in objects_at(message, "responses") or [{"messages": [message]}]:
                model = {"model": answer["model"]} if "model" in answer else {}
                said = [{**each, **model} for each in objects_at(answer, "messages")]
                last = _follow(found, said, before, text_at(record, "chatID"))
        record["shown"] = last
        return found


class Chatbox(Backup):
    """Chatbox, whose sessions have threads, one after the other, and forks of them."""

    program, title = "chatbox", "Chatbox"
    marks = (rb"chat-sessions(-list)?|session:[\w-]+", b"contentParts|providers|aiProvider")
    name = ("name",)
    created = updated = ()
    model = ("settings.modelId",)
    content = ("contentParts", "content")
    time = ("timestamp",)
    finish = ("finishReason",)
    statuses = {"length": "truncated"}
    sent = ("usage.inputTokens",)
    received = ("usage.outputTokens",)
    summary = ("isSummary", True)
    kinds = {"info": "silent"}

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        newer = [object_in(record[name]) for name in record if name.startswith("session:")]
        every = (*objects_at(record, "chat-sessions"), *newer)
        return {text_at(each, "id"): each for each in every}.values()

    def messages_of(self, record: p.Json) -> list[p.Json]:
        found, last, name = list[p.Json](), "", text_at(record, "id")
        for thread in (*objects_at(record, "threads"), record):
            last = _follow(found, items_in(thread.get("messages")), last, name)
        for forked, fork in object_at(record, "messageForksHash").items():
            for branch in objects_at(object_in(fork), "lists"):
                _follow(found, items_in(branch.get("messages")), forked, name)
        record["shown"] = last
        return found


class LobeChat(Backup):
    """LobeChat, whose messages are in one table, in any order, and name their topics."""

    program, title = "lobechat", "LobeChat"
    marks = (b"exportType|userSettings|agentsToSessions|messagePlugins", b"state|data")
    name = ("title", "meta.title")
    compared = 1
    said_by = ("extra.fromModel", "model")
    sent = ("metadata.inputTokens", "metadata.totalInputTokens")
    received = ("metadata.outputTokens", "metadata.totalOutputTokens")

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        tables = object_at(record, "state", "data")
        about = [*objects_at(tables, "sessions"), *objects_at(tables, "topics")]
        facts = {text_at(each, "id"): each for each in about}
        called = {text_at(each, "id"): each for each in objects_at(tables, "messagePlugins")}
        threads = objects_at(tables, "threads")
        last = {text_at(each, "id"): text_at(each, "sourceMessageId") for each in threads}
        roles, chats = dict[str, str](), dict[str, p.Json]()
        messages = objects_at(tables, "messages")
        for message in sorted(messages, key=lambda each: time_at(each, "createdAt") or ""):
            name = text_at(message, "topicId", "sessionId", "agentId") or "inbox"
            line = text_at(message, "threadId") or name
            own, role, above = (text_at(message, key) for key in ("id", "role", "parentId"))
            if role == "tool" or roles.get(above, "tool") == "tool":
                # Results of one answer follow each other.
                above = last.get(line, "")
            roles[own] = role
            chat = chats.setdefault(name, {"id": name, **facts.get(name, {}), "messages": []})
            # An answer that has not begun is three dots.
            content = "" if message.get("content") == "..." else message.get("content")
            calls = [{**each, "name": each.get("apiName")} for each in objects_at(message, "tools")]
            more = {"own_id": own, "above": above, "content": content, "tool_calls": calls}
            chat["messages"].append({**called.get(own, {}), **message, **more})
            last[line] = own
            chat["shown"] = last.get(name)
        return chats.values()


def _follow(found: list[p.Json], messages: Iterable[object], before: str, chat: str) -> str:
    """Add messages that follow each other to those that were found; gives the last one's id."""
    for each in messages:
        message = object_in(each)
        own = text_at(message, "id", "uuid") or f"{chat}/{len(found)}"
        found.append({**message, "own_id": own, "above": before})
        before = own
    return before
