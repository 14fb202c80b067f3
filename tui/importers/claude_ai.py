"""Conversations of Claude.ai: the export, or one conversation that a browser tool has saved."""

import re
from collections.abc import Iterator

from tui.importers import protocol as p
from tui.importers.answers import Piece, Unknown
from tui.importers.branches import TreeTurn
from tui.importers.contents import joined, placeholder
from tui.importers.formats import Export, Reading
from tui.importers.json_lines import objects_in
from tui.importers.json_paths import objects_at, text_at
from tui.importers.message_blocks import THINKING

_THINKING = re.compile(r"<antThinking>.*?(</antThinking>\s*|\Z)", re.DOTALL | re.IGNORECASE)
_UNSUPPORTED = re.compile(r"(```)?\s*This block is not supported on[^\n]*\n?(```)?\s*")


class ClaudeAi(Export):
    """Claude.ai, whose messages have blocks, and often the same as plain text."""

    program, title = "claude-ai", "Claude.ai"
    revision = 1
    marks = (b"chat_messages",)
    within = ("conversations",)
    listed = ("chat_messages",)
    source_id = ("uuid", "first", "name")
    name = ("name",)
    role = ("sender",)
    roles = {"human": "user", "user": "user", "assistant": "assistant"}
    message_id = ("uuid",)
    one_model = True
    finish = ("stop_reason",)
    statuses = {"user_canceled": "interrupted", "max_tokens": "truncated"}
    parent = ("parent_message_uuid",)
    may_be_a_line = True
    kinds = {"token_budget": THINKING, "flag": THINKING}

    def messages_of(self, record: p.Json) -> list[p.Json]:
        """The messages, each with an id that no other has."""
        found = super().messages_of(record)
        seen: set[str] = set()
        for number, facts in enumerate(found):
            name = text_at(facts, "uuid")
            record.setdefault("first", name)
            if facts and (not name or name in seen):
                name = facts["uuid"] = f"{record.get('uuid')}-{number}"
            seen.add(name)
        return found

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        leaf = text_at(reading.talk.facts, "current_leaf_message_uuid")
        return leaf if any(turn.id == leaf for turn in turns) else turns[-1].id

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        return ("truncated", None) if record.get("truncated") is True else super().end(record)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        """What its blocks say; where they say nothing, its plain text."""
        pieces = list(self.pieces_in(objects_in(record.get("content")), whole.id, reading.ledger))
        text = self.text(text_at(record, "text"))
        yield from [text] if text.strip() and not any(map(_says, pieces)) else pieces
        for attachment in objects_in(record.get("attachments")):
            name, kind = text_at(attachment, "file_name"), text_at(attachment, "file_type")
            content = text_at(attachment, "extracted_content")
            yield joined([name, content]) if content.strip() else placeholder("file", name, kind)
        for file in objects_at(record, "files", "files_v2"):
            kind = "image" if file.get("file_kind") == "image" else "file"
            yield placeholder(kind, text_at(file, "file_name"))

    def text(self, text: str) -> str:
        return _THINKING.sub("", _UNSUPPORTED.sub("", text))

    def mark(self, name: str, block: p.Json) -> str:
        return placeholder(name, text_at(block, "file_name"))


def _says(piece: Piece) -> bool:
    """True for a piece with words, or a call or a result."""
    if isinstance(piece, Unknown):
        return bool(piece.words)
    return not isinstance(piece, str) or bool(piece.strip())


READER = ClaudeAi().reader()
