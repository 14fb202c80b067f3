"""Conversations of LibreChat's export: a tree of messages within messages, or a flat array."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tui.domain.journal.message import ToolCall
from tui.files import read_bounded
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import arguments, attachment, placeholder, title
from tui.importers.export_files import beginning, has_key, nowhere
from tui.importers.json_lines import FILE_BYTES, UNREADABLE, object_in, objects_in, parse, text_in
from tui.importers.times import utc

_STATUS = {"length": "truncated", "max_tokens": "truncated", "incomplete": "truncated"}

# Possessive: see ``tui.domain.json_limits``.
_TOKEN = re.compile(
    rb'(?s)"(?:children|messages)"\s*+:\s*+(?P<array>\[)|"(?:[^"\\]++|\\.)*+"|[\[\]{}]'
)
_MESSAGE, _MESSAGES = "message", "messages"
"""Kinds of brackets; others are ``""``."""


def _recognises(path: Path, head: bytes) -> bool:
    start = beginning(path, head)
    if not has_key(start, b"conversationId"):
        return False
    return has_key(start, b"exportAt") or has_key(start, b"messageId", b"isCreatedByUser|sender")


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    found: list[p.Json] = []
    for data in unnested(read_bounded(source.path, FILE_BYTES, follow=True)):
        value = object_in(parse(data))
        if not value:
            ledger.skipped[UNREADABLE] += 1
        elif not isinstance(value.get("messages"), list):
            found.append(value)
        elif found:
            yield p.Conversation.of(_heading(value, found), partial(_items, found))
            found = []
        else:
            ledger.skipped["conversation without messages"] += 1


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


def _heading(record: p.Json, found: list[p.Json]) -> p.Heading:
    times = sorted(time for message in found if (time := utc(message.get("createdAt"))))
    options = object_in(record.get("options"))
    known = text_in(record.get("conversationId")) or text_in(found[0].get("conversationId"))
    return p.Heading(
        source_id=known or text_in(found[0].get("messageId")) or "unnamed",
        name=title(record.get("title")),
        created_at=times[0] if times else None,
        updated_at=times[-1] if times else None,
        model=text_in(options.get("model")),
    )


def _items(found: list[p.Json], ledger: p.Ledger) -> Iterator[p.Item]:
    turns = [_turn(number, message, ledger) for number, message in enumerate(found)]
    return linked(turns, _last_child(turns))


def _last_child(turns: list[TreeTurn]) -> str:
    """The end of the branch that was shown: from the last root on by the last child."""
    known = {turn.id for turn in turns}
    last = {turn.parent if turn.parent in known else "": turn.id for turn in turns}
    name, passed = "", set[str]()
    while name in last and name not in passed:
        passed.add(name)
        name = last[name]
    return name


def _turn(number: int, message: p.Json, ledger: p.Ledger) -> TreeTurn:
    name = text_in(message.get("messageId")) or text_in(message.get("_id"))
    name = name or f"{text_in(message.get('conversationId'))}-{number}"
    said = _said(name, message)
    ledger.count(said, "empty message")
    return TreeTurn(name, text_in(message.get("parentMessageId")), said)


def _said(name: str, message: p.Json) -> tuple[p.ForeignMessage, ...]:
    is_answer = not _is_from_user(message)
    whole = p.ForeignMessage(
        id=name,
        role="assistant" if is_answer else "user",
        content=None,
        timestamp=utc(message.get("createdAt")),
        status=_status(message) if is_answer else None,
        error=_text(message) or None if is_answer and message.get("error") is True else None,
        model=text_in(message.get("model")) or None if is_answer else None,
    )
    return messages(whole, _pieces(name, message))


def _is_from_user(message: p.Json) -> bool:
    known = message.get("isCreatedByUser")
    return known if isinstance(known, bool) else text_in(message.get("sender")).lower() == "user"


def _status(message: p.Json) -> str | None:
    if message.get("error") is True:
        return "failed"
    if message.get("unfinished") is True:
        return "interrupted"
    return _STATUS.get(text_in(message.get("finish_reason")))


def _pieces(name: str, message: p.Json) -> Iterator[Piece]:
    blocks = objects_in(message.get("content"))
    pieces = [piece for number, block in enumerate(blocks) for piece in _block(name, number, block)]
    yield from pieces or [_text(message)]
    for file in objects_in(message.get("files")):
        kind = text_in(file.get("type"))
        size = file.get("bytes")
        yield attachment(text_in(file.get("filename")), kind, f"{size} bytes" if size else "")


def _text(message: p.Json) -> str:
    return text_in(message.get("text")) or text_in(message.get("content"))


def _block(name: str, number: int, block: p.Json) -> Iterator[Piece]:
    match block.get("type"):
        case "think":
            pass
        case "tool_call":
            yield from _called(f"{name}-call-{number}", object_in(block.get("tool_call")))
        case "image_file" | "image_url":
            yield placeholder("image")
        case "error":
            yield text_in(block.get("error")) or text_in(block.get("text"))
        case _:
            text = block.get("text")
            yield text_in(text) or text_in(object_in(text).get("value"))


def _called(otherwise: str, call: p.Json) -> Iterator[Piece]:
    inner = object_in(call.get("function"))
    name = text_in(call.get("name")) or text_in(inner.get("name"))
    sent = call.get("args", inner.get("arguments"))
    made = ToolCall(text_in(call.get("id")) or otherwise, name, arguments(sent))
    yield made
    output = call.get("output", inner.get("output"))
    if isinstance(output, str):
        yield Result(made.id, output)


READER = p.Reader("librechat", "LibreChat", nowhere, _recognises, _read)
