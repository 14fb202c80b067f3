"""Conversations of Claude.ai: the export, or one conversation that a browser tool has saved."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tui.domain.journal.message import Role, ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import arguments, joined, placeholder, title
from tui.importers.export_files import beginning, has_key, nowhere, records
from tui.importers.json_lines import items_in, object_in, objects_in, text_in
from tui.importers.times import utc

WITHIN = ("conversations",)
_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_STATUS = {"user_canceled": "interrupted", "max_tokens": "truncated"}
_THINKING = re.compile(r"<antThinking>.*?(</antThinking>\s*|\Z)", re.DOTALL | re.IGNORECASE)
_UNSUPPORTED = re.compile(r"(```)?\s*This block is not supported on[^\n]*\n?(```)?\s*")
_SILENT = {"thinking", "redacted_thinking", "token_budget", "flag"}


def _recognises(path: Path, head: bytes) -> bool:
    return has_key(beginning(path, head), b"chat_messages")


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    for record in records(source, ledger, WITHIN):
        if not objects_in(record.get("chat_messages")):
            ledger.skipped["conversation without messages"] += 1
            continue
        yield p.Conversation.of(_heading(record), partial(_items, record))


def _heading(record: p.Json) -> p.Heading:
    first = text_in(objects_in(record["chat_messages"])[0].get("uuid"))
    return p.Heading(
        source_id=text_in(record.get("uuid")) or first or text_in(record.get("name")) or "unnamed",
        name=title(record.get("name")),
        created_at=utc(record.get("created_at")),
        updated_at=utc(record.get("updated_at")),
        model=text_in(record.get("model")),
    )


def _items(record: p.Json, ledger: p.Ledger) -> Iterator[p.Item]:
    turns = list(_turns(record, ledger))
    leaf = text_in(record.get("current_leaf_message_uuid"))
    known = {turn.id for turn in turns}
    if leaf not in known or not any(turn.parent in known for turn in turns):
        leaf = turns[-1].id if turns else ""
    return linked(_chained(turns, known), leaf)


def _chained(turns: list[TreeTurn], known: set[str]) -> Iterator[TreeTurn]:
    """The tree of the turns; without any parent, each follows the one before it."""
    if any(turn.parent in known for turn in turns):
        yield from turns
        return
    before = ""
    for turn in turns:
        yield turn._replace(parent=before)
        before = turn.id


def _turns(record: p.Json, ledger: p.Ledger) -> Iterator[TreeTurn]:
    seen: set[str] = set()
    model = text_in(record.get("model")) or None
    for number, message in enumerate(items_in(record["chat_messages"])):
        facts = object_in(message)
        name = text_in(facts.get("uuid"))
        if not name or name in seen:
            name = f"{record.get('uuid')}-{number}"
        seen.add(name)
        said, reason = _said(name, facts, model)
        ledger.count(said, reason)
        yield TreeTurn(name, text_in(facts.get("parent_message_uuid")), said)


def _said(
    name: str, message: p.Json, model: str | None
) -> tuple[tuple[p.ForeignMessage, ...], str]:
    """The messages of a record, or the reason that there are none."""
    role = _ROLES.get(text_in(message.get("sender")))
    if not role:
        return (), "unknown role" if message else "unreadable line"
    is_answer = role == "assistant"
    whole = p.ForeignMessage(
        id=name,
        role=role,
        content=None,
        timestamp=utc(message.get("created_at")),
        status=_status(message) if is_answer else None,
        model=(text_in(message.get("model")) or model) if is_answer else None,
    )
    said = messages(whole, [*_pieces(name, message), *_files(message)])
    kinds = {text_in(block.get("type")) for block in objects_in(message.get("content"))}
    return said, "thinking" if kinds & _SILENT else "empty message"


def _status(message: p.Json) -> str | None:
    if message.get("truncated") is True:
        return "truncated"
    return _STATUS.get(text_in(message.get("stop_reason")))


def _pieces(name: str, message: p.Json) -> list[Piece]:
    """What its blocks say; where they say nothing, its plain text."""
    blocks = objects_in(message.get("content"))
    pieces = [piece for number, block in enumerate(blocks) for piece in _block(name, number, block)]
    if any(not isinstance(piece, str) or piece.strip() for piece in pieces):
        return pieces
    text = _shown(text_in(message.get("text")))
    if text.strip():
        return [text]
    unknown = (text_in(block.get("type")) for block in blocks)
    return [placeholder(kind) for kind in unknown if kind and kind not in {"text", *_SILENT}]


def _block(name: str, number: int, block: p.Json) -> Iterator[Piece]:
    match block.get("type"):
        case "text":
            yield _shown(text_in(block.get("text")))
        case "tool_use":
            call = text_in(block.get("id")) or f"{name}-call-{number}"
            yield ToolCall(call, text_in(block.get("name")), arguments(block.get("input")))
        case "tool_result":
            called = text_in(block.get("tool_use_id"))
            yield Result(called, _result(block.get("content")), text_in(block.get("name")))
        case "image" | "document" as kind:
            yield placeholder(kind, text_in(block.get("file_name")))
        case _:
            yield text_in(block.get("text"))


def _result(content: Any) -> str:
    if not isinstance(content, list):
        return text_in(content) or text_in(object_in(content).get("text"))
    return joined(_result_block(block) for block in items_in(content))


def _result_block(block: Any) -> str:
    if isinstance(block, str):
        return block
    facts = object_in(block)
    words = [text_in(facts.get(field)) for field in ("title", "url", "text")]
    return joined(words) or placeholder(text_in(facts.get("type")) or "block")


def _shown(text: str) -> str:
    return _THINKING.sub("", _UNSUPPORTED.sub("", text))


def _files(message: p.Json) -> Iterator[str]:
    for attachment in objects_in(message.get("attachments")):
        name = text_in(attachment.get("file_name"))
        content = text_in(attachment.get("extracted_content"))
        kind = text_in(attachment.get("file_type"))
        yield joined([name, content]) if content.strip() else placeholder("file", name, kind)
    files = objects_in(message.get("files")) or objects_in(message.get("files_v2"))
    for file in files:
        kind = "image" if file.get("file_kind") == "image" else "file"
        yield placeholder(kind, text_in(file.get("file_name")))


READER = p.Reader(
    "claude-ai", "Claude.ai", nowhere, _recognises, _read, several=True, archives=True
)
