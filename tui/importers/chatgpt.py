"""Conversations of ChatGPT's export: a zip, ``conversations.json`` or its numbered parts."""

import re
from collections.abc import Iterator
from typing import Any

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result
from tui.importers.contents import arguments, joined, placeholder
from tui.importers.formats import Reading
from tui.importers.json_lines import items_in, object_in, parse_text, text_in
from tui.importers.json_paths import object_at, objects_at, text_at, value_at
from tui.importers.node_exports import NodeExport

_NO_BRACKETS = str.maketrans("[]", "()")
_DROPPED = {
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "user_editable_context": "custom instructions",
    "model_editable_context": "memory",
}
_CITED = re.compile("\ue200([^\ue200\ue201]*)\ue201|【(\\d+)[^【】†]*†[^【】]*】")
"""The marks of citations, the older ones with the number of what is cited."""
_TEXTS = ("title", "url", "text", "result", "output_str", "summary", "content")
"""Fields with the words of contents that have no parts."""


class ChatGpt(NodeExport):
    """ChatGPT, whose conversations are trees of nodes with a message each, or none."""

    program, title = "chatgpt", "ChatGPT"
    revision = 1
    marks = (b"mapping", b"author|current_node")
    source_id = ("conversation_id", "id", "made")
    created = ("create_time",)
    updated = ("update_time",)
    model = ("default_model_slug",)
    role = ("author.role",)
    time = ("create_time",)
    said_by = ("metadata.model_slug",)
    finish = ("metadata.finish_details.type",)
    statuses = {"max_tokens": "truncated", "interrupted": "interrupted"}

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        if reason := _reason_to_drop(record):
            reading.ledger.skipped[reason] += 1
            return ()
        if tool := _tool_of(record):
            reading.known[name] = tool
        return super().said(record, text_at(record, "id") or name, reading)

    def reason_without_words(self, record: p.Json) -> str:
        return "empty message"

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        if text_at(record, "content.content_type") == "system_error":
            return "failed", _text(record) or None
        if text_at(record, "status") == "in_progress":
            return "interrupted", None
        return super().end(record)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        text, tool = _text(record) if whole.error is None else "", _tool_of(record)
        text = text if whole.role == "user" else _with_links(text, record)
        if whole.role == "tool":
            yield Result(_call_of(record, reading), text)
        else:
            yield ToolCall(f"{record['node']}-0", tool, arguments(text)) if tool else text


def _call_of(record: p.Json, reading: Reading) -> str:
    """The call that a result answers: the last one to its tool, else the last one at all."""
    facts, tool = reading.talk.facts, text_at(record, "author.name")
    last, at, passed = "", record["above"], {record["node"]}
    while at and at not in passed:
        passed.add(at)
        called = reading.known.get(at, "")
        if called and called.partition(".")[0] == tool.partition(".")[0]:
            return f"{at}-0"
        last = last or (f"{at}-0" if called else "")
        role = value_at(object_in(facts["mapping"][at]), "message.author.role")
        at = "" if role == "user" else facts["parents"][at]
    return last or f"{record['node']}-0"


def _reason_to_drop(message: p.Json) -> str:
    role = text_at(message, "author.role")
    if message["is_empty"]:
        return "node without a message"
    if reason := _DROPPED.get(text_at(message, "content.content_type")):
        return reason
    if role == "system":
        return "system prompt"
    if role not in ("user", "assistant", "tool"):
        return "unknown role"
    if value_at(message, "metadata.is_user_system_message"):
        return "custom instructions"
    is_hidden = value_at(message, "metadata.is_visually_hidden_from_conversation")
    hidden = message.get("weight") == 0 or is_hidden
    return "hidden message" if hidden and role != "tool" and not _tool_of(message) else ""


def _tool_of(message: p.Json) -> str:
    recipient = text_at(message, "recipient")
    is_call = text_at(message, "author.role") == "assistant" and recipient != "all"
    return recipient if is_call else ""


def _text(message: p.Json) -> str:
    content = object_at(message, "content")
    if isinstance(content.get("parts"), list):
        return joined([*map(_part, items_in(content["parts"])), *_attached(message)])
    found = [text_in(content.get(field)) for field in _TEXTS]
    if any(text.strip() for text in found):
        return joined(dict.fromkeys(found))
    known = any(field in content for field in _TEXTS)
    return "" if known or not content else placeholder(text_at(content, "content_type"))


def _with_links(text: str, message: p.Json) -> str:
    """Put links in the place of the marks of citations; a mark of none goes."""
    if not _CITED.search(text):
        return text
    facts = {text_at(each, "matched_text"): each for each in _references(message)}
    for cited in objects_at(message, "metadata.citations"):
        number = value_at(cited, "metadata.extra.cited_message_idx")
        facts.setdefault(str(number), object_at(cited, "metadata"))

    def link(mark: re.Match[str]) -> str:
        return _link(facts.get(mark[0]) or facts.get(mark[2] or "", {}), mark[1] or "")

    return _CITED.sub(link, text)


def _references(message: p.Json) -> list[p.Json]:
    return objects_at(message, "metadata.content_references")


def _link(cited: p.Json, mark: str) -> str:
    """The links to what is cited, else its words."""
    found = [each for each in objects_at(cited, "items") or [cited] if text_at(each, "url")]
    titles = (text_at(each, "title", "name", "url").translate(_NO_BRACKETS) for each in found)
    links = (f"[{name}]({text_at(each, 'url')})" for name, each in zip(titles, found, strict=True))
    words = text_at(cited, "alt", "prompt_text", "name", "title")
    if not cited and mark.startswith("entity\ue202"):
        words = next(iter(items_in(parse_text(mark.partition("\ue202")[2]))[1:2]), "")
    return f"({', '.join(dict.fromkeys(links))})" if found else text_in(words)


def _part(part: Any) -> str:
    facts = object_in(part)
    if text := text_in(part) or text_at(facts, "text"):
        return text
    kind = text_at(facts, "content_type")
    word = next((word for word in ("image", "audio", "video") if word in kind), "file")
    return placeholder(word, _size(facts.get("size_bytes"))) if facts else ""


def _attached(message: p.Json) -> Iterator[str]:
    """Files beside the text; pictures among the parts are not repeated."""
    pictures = text_at(message, "content.content_type") == "multimodal_text"
    for file in objects_at(message, "metadata.attachments"):
        kind = text_at(file, "mimeType", "mime_type")
        if not (pictures and kind.startswith("image/")):
            yield placeholder("file", text_at(file, "name"), kind, _size(file.get("size")))


def _size(value: Any) -> str:
    return f"{value} bytes" if isinstance(value, int) and value else ""


READER = ChatGpt().reader()
