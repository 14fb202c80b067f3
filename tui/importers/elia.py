"""Chats of Elia."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tui.importers import protocol as p
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import title
from tui.importers.databases import DatabaseCopy, Row, found, has, opened, schema
from tui.importers.json_lines import text_in
from tui.importers.times import utc

_CHAT = ("id", "model", "title", "started_at")
_MESSAGE = ("id", "role", "content", "timestamp", "parent_id", "model")


def _find(places: p.Places) -> Iterator[p.Source]:
    yield from found(places.data / "elia" / "elia.sqlite")


def _recognises(path: Path, head: bytes) -> bool:
    tables = schema(path, head)
    chats = has(tables, "chat", "model", "started_at")
    return chats and has(tables, "message", "chat_id", "role", "content")


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    with opened(source.path) as database:
        for row in database.rows("chat", _CHAT, ledger, order=["id"]):
            # Numbers begin again in another database.
            heading = p.Heading(
                source_id=f"{row.get('id')}-{row.get('started_at')}",
                name=title(row.get("title")),
                created_at=utc(row.get("started_at")),
                model=text_in(row.get("model")),
            )
            yield p.Conversation.of(heading, partial(_items, database, row, heading.source_id))


def _items(database: DatabaseCopy, chat: Row, name: str, ledger: p.Ledger) -> Iterator[p.Item]:
    equal = {"chat_id": chat.get("id")}
    turns: list[TreeTurn] = []
    for row in database.rows("message", _MESSAGE, ledger, equal=equal, order=["id"]):
        parent = row.get("parent_id")
        before = f"{name}/{parent}" if parent is not None else turns[-1].id if turns else ""
        own = f"{name}/{row.get('id')}"
        turns.append(TreeTurn(own, before, _said(own, row, text_in(chat.get("model")), ledger)))
    return linked(turns, turns[-1].id if turns else "")


def _said(name: str, row: Row, model: str, ledger: p.Ledger) -> tuple[p.ForeignMessage, ...]:
    role, text = row.get("role"), text_in(row.get("content"))
    if role not in ("user", "assistant"):
        ledger.skipped["system prompt" if role == "system" else "unknown role"] += 1
        return ()
    if not text.strip():
        ledger.skipped["empty message"] += 1
        return ()
    ledger.read += 1
    said_by = text_in(row.get("model")) or model
    answered = said_by or None if role == "assistant" else None
    return (
        p.ForeignMessage(name, role, text, timestamp=utc(row.get("timestamp")), model=answered),
    )


READER = p.Reader("elia", "Elia", _find, _recognises, _read, several=True)
