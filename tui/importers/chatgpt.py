"""Conversations of ChatGPT's export: a zip, ``conversations.json`` or its numbered parts."""

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import arguments, joined, placeholder, title
from tui.importers.export_files import beginning, has_key, nowhere, records
from tui.importers.json_lines import items_in, object_in, objects_in, text_in
from tui.importers.times import utc

WITHIN = ("conversations",)
_DROPPED = {
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "user_editable_context": "custom instructions",
    "model_editable_context": "memory",
}
_STATUS = {"max_tokens": "truncated", "interrupted": "interrupted"}
_TEXTS = ("title", "url", "text", "result", "output_str", "summary", "content")
"""Fields with the words of contents that have no parts."""


def _recognises(path: Path, head: bytes) -> bool:
    start = beginning(path, head)
    return has_key(start, b"mapping") and has_key(start, b"author|current_node")


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    for record in records(source, ledger, WITHIN):
        if not object_in(record.get("mapping")):
            ledger.skipped["conversation without messages"] += 1
            continue
        yield p.Conversation.of(_heading(record), partial(_items, record))


def _heading(record: p.Json) -> p.Heading:
    known = text_in(record.get("conversation_id")) or text_in(record.get("id"))
    names = list(record["mapping"])
    return p.Heading(
        source_id=known or sha256(repr(names).encode("utf-8", "replace")).hexdigest(),
        name=title(record.get("title")),
        created_at=utc(record.get("create_time")),
        updated_at=utc(record.get("update_time")),
        model=text_in(record.get("default_model_slug")),
    )


def _items(record: p.Json, ledger: p.Ledger) -> Iterator[p.Item]:
    nodes = {name: object_in(node) for name, node in object_in(record["mapping"]).items()}
    tree = _NodeTree(nodes, ledger)
    return linked(tree.turns(), tree.leaf(record.get("current_node")))


class _NodeTree:
    """The nodes of a conversation."""

    def __init__(self, nodes: dict[str, p.Json], ledger: p.Ledger) -> None:
        self._nodes = nodes
        self._below = _children_of(nodes)
        self._ledger = ledger
        self._calls: dict[str, tuple[str, ToolCall]] = {}
        """The calls by their nodes, each with the tool that it was sent to."""

    def leaf(self, current: Any) -> str:
        """The node that was shown last, else the last child of the last child from a root on."""
        if text_in(current) in self._nodes:
            return current
        name = next((name for name in self._nodes if not self._parent(name)), "")
        passed: set[str] = set()
        while name not in passed and (children := self._below.get(name)):
            passed.add(name)
            name = children[-1]
        return name

    def turns(self) -> Iterator[TreeTurn]:
        for name in self._from_the_roots():
            message = object_in(self._nodes[name].get("message"))
            kept, reason = self._message(name, message)
            self._ledger.count(kept, reason)
            yield TreeTurn(name, self._parent(name), kept)

    def _from_the_roots(self) -> Iterator[str]:
        """All nodes, parents first and siblings in the order of their parent."""
        seen: set[str] = set()
        roots = [name for name in self._nodes if not self._parent(name)]
        waiting = [*reversed(self._nodes), *reversed(roots)]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                yield name
                waiting.extend(reversed(self._below[name]))

    def _parent(self, name: str) -> str:
        parent = text_in(self._nodes[name].get("parent"))
        return parent if parent in self._nodes else ""

    def _message(self, name: str, message: p.Json) -> tuple[tuple[p.ForeignMessage, ...], str]:
        """The message of a node, or the reason that there is none."""
        content = object_in(message.get("content"))
        role = object_in(message.get("author")).get("role")
        if reason := _reason_to_drop(message, role, content):
            return (), reason
        if role == "tool":
            return (self._result(name, message, content),), ""
        made = _said(name, message, role, content)
        if not made:
            return (), "empty message"
        if made.tool_calls:
            self._calls[name] = message["recipient"], made.tool_calls[0]
        return (made,), ""

    def _result(self, name: str, message: p.Json, content: p.Json) -> p.ForeignMessage:
        return p.ForeignMessage(
            id=_id(name, message),
            role="tool",
            content=_text(content, message),
            timestamp=utc(message.get("create_time")),
            tool_call_id=self._call_of(name, text_in(message["author"].get("name"))),
        )

    def _call_of(self, name: str, tool: str) -> str:
        """The call that a result answers: the last one to its tool, else the last one at all."""
        last, passed = "", {name}
        at = self._parent(name)
        while at and at not in passed:
            passed.add(at)
            recipient, call = self._calls.get(at, ("", None))
            if call and recipient.partition(".")[0] == tool.partition(".")[0]:
                return call.id
            last = last or (call.id if call else "")
            at = "" if self._is_from_user(at) else self._parent(at)
        return last or f"{name}-0"

    def _is_from_user(self, name: str) -> bool:
        message = object_in(self._nodes[name].get("message"))
        return object_in(message.get("author")).get("role") == "user"


def _children_of(nodes: dict[str, p.Json]) -> dict[str, list[str]]:
    """The children of each node, as it lists them, then those that only name it as their parent."""
    below = {
        name: [child for child in items_in(node.get("children")) if text_in(child) in nodes]
        for name, node in nodes.items()
    }
    listed = {child for children in below.values() for child in children}
    for name, node in nodes.items():
        parent = text_in(node.get("parent"))
        if parent in nodes and name not in listed:
            below[parent].append(name)
    return below


def _reason_to_drop(message: p.Json, role: Any, content: p.Json) -> str:
    facts = object_in(message.get("metadata"))
    if not message:
        return "node without a message"
    if reason := _DROPPED.get(text_in(content.get("content_type"))):
        return reason
    if role == "system":
        return "system prompt"
    if role not in ("user", "assistant", "tool"):
        return "unknown role"
    if facts.get("is_user_system_message"):
        return "custom instructions"
    hidden = message.get("weight") == 0 or facts.get("is_visually_hidden_from_conversation")
    return "hidden message" if hidden and role != "tool" and not _tool_of(message, role) else ""


def _said(name: str, message: p.Json, role: Any, content: p.Json) -> p.ForeignMessage | None:
    """The message of a user or of a model; ``None`` if it has no words."""
    text = _text(content, message)
    calls = _calls(name, message, role, text)
    metadata = object_in(message.get("metadata"))
    if not text.strip() and not calls:
        return None
    return p.ForeignMessage(
        id=_id(name, message),
        role=role,
        content=None if calls else text,
        timestamp=utc(message.get("create_time")),
        tool_calls=calls,
        status=_status(message) if role == "assistant" else None,
        model=text_in(metadata.get("model_slug")) or None if role == "assistant" else None,
    )


def _calls(name: str, message: p.Json, role: Any, text: str) -> tuple[ToolCall, ...]:
    tool = _tool_of(message, role)
    return (ToolCall(f"{name}-0", tool, arguments(text)),) if tool else ()


def _tool_of(message: p.Json, role: Any) -> str:
    recipient = text_in(message.get("recipient"))
    return recipient if role == "assistant" and recipient != "all" else ""


def _id(name: str, message: p.Json) -> str:
    return text_in(message.get("id")) or name


def _status(message: p.Json) -> str | None:
    if message.get("status") == "in_progress":
        return "interrupted"
    finish = object_in(object_in(message.get("metadata")).get("finish_details"))
    return _STATUS.get(text_in(finish.get("type")))


def _text(content: p.Json, message: p.Json) -> str:
    if isinstance(content.get("parts"), list):
        texts = [_part(part) for part in items_in(content["parts"])]
        return joined([*texts, *_attached(message, content)])
    found = [text_in(content.get(field)) for field in _TEXTS]
    if any(text.strip() for text in found):
        return joined(dict.fromkeys(found))
    known = any(field in content for field in _TEXTS)
    return "" if known or not content else placeholder(text_in(content.get("content_type")))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    facts = object_in(part)
    kind = text_in(facts.get("content_type"))
    if text := text_in(facts.get("text")):
        return text
    if not facts:
        return ""
    return placeholder(_kind(kind), _size(facts.get("size_bytes")))


def _kind(kind: str) -> str:
    return next((word for word in ("image", "audio", "video") if word in kind), "file")


def _attached(message: p.Json, content: p.Json) -> Iterator[str]:
    """Files beside the text; pictures among the parts are not repeated."""
    pictures = content.get("content_type") == "multimodal_text"
    for file in objects_in(object_in(message.get("metadata")).get("attachments")):
        kind = text_in(file.get("mimeType")) or text_in(file.get("mime_type"))
        if not (pictures and kind.startswith("image/")):
            yield placeholder("file", text_in(file.get("name")), kind, _size(file.get("size")))


def _size(value: Any) -> str:
    return f"{value} bytes" if isinstance(value, int) and value else ""


READER = p.Reader("chatgpt", "ChatGPT", nowhere, _recognises, _read, several=True, archives=True)
