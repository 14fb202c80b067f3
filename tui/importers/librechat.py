"""Conversations of LibreChat's export: a tree of messages within messages, or a flat array."""

import re
from collections.abc import Iterator

from tui.domain.journal.message import Role
from tui.files import read_bounded
from tui.importers import protocol as p
from tui.importers.answers import Piece
from tui.importers.branches import TreeTurn
from tui.importers.contents import attachment, placeholder
from tui.importers.formats import WITHOUT_MESSAGES, Format, Reading, Talk
from tui.importers.json_lines import FILE_BYTES, UNREADABLE, object_in, objects_in, parse
from tui.importers.json_paths import text_at, time_at
from tui.importers.message_blocks import TEXT

# Possessive: see ``tui.domain.json_limits``.
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
    parent = ("parentMessageId",)
    kinds = {"error": TEXT}

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        found: list[p.Json] = []
        for data in unnested(read_bounded(source.path, FILE_BYTES, follow=True)):
            value = object_in(parse(data))
            if not value:
                ledger.skipped[UNREADABLE] += 1
            elif not isinstance(value.get("messages"), list):
                found.append(value)
            elif found:
                times = sorted(time for each in found if (time := time_at(each, "createdAt")))
                around = {"begun": times[0], "ended": times[-1]} if times else {}
                facts = {**value, "first": found[0], **around}
                yield Talk(path=source.path, facts=facts, records=lambda _, found=found: found)
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
        return ("interrupted", None) if record.get("unfinished") is True else super().end(record)

    def mark(self, name: str, block: p.Json) -> str:
        return placeholder("image")

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        blocks = objects_in(record.get("content"))
        pieces = list(self.pieces_in(blocks, whole.id, reading.ledger))
        yield from pieces or [text_at(record, "text", "content")]
        for file in objects_in(record.get("files")):
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


READER = LibreChat().reader()
