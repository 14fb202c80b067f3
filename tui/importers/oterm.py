"""Chats of oterm; its database has no times."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from tui.importers import protocol as p
from tui.importers.branches import with_unique_ids
from tui.importers.contents import joined, placeholder, title
from tui.importers.databases import DatabaseCopy, Row, found, has, opened, schema
from tui.importers.json_lines import items_in, parse, text_in

_MESSAGE = ("id", "author", "text", "images")


def _find(places: p.Places) -> Iterator[p.Source]:
    usual = places.named("XDG_DATA_HOME", places.app_support) / "oterm"
    yield from found(places.named("OTERM_DATA_DIR", usual) / "store.db")


def _recognises(path: Path, head: bytes) -> bool:
    tables = schema(path, head)
    return has(tables, "message", "chat_id", "author", "text") and "chat" in tables


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    with opened(source.path) as database:
        for row in database.rows("chat", ["id", "name", "model"], ledger, order=["id"]):
            yield from _chat(database, row, ledger)


def _chat(database: DatabaseCopy, row: Row, ledger: p.Ledger) -> Iterator[p.Conversation]:
    first = next(_messages(database, row, ledger), None)
    if first is None:
        ledger.skipped["conversation without messages"] += 1
        return
    # Numbers begin again in another database: the first words tell one chat 1 from another.
    words = sha256(text_in(first.get("text")).encode("utf-8", "replace")).hexdigest()
    name = f"{row.get('id')}-{words[:16]}"
    heading = p.Heading(name, title(row.get("name")), model=text_in(row.get("model")))
    yield p.Conversation.of(
        heading, lambda ledger: with_unique_ids(_items(database, row, name, ledger))
    )


def _messages(database: DatabaseCopy, row: Row, ledger: p.Ledger) -> Iterator[Row]:
    equal = {"chat_id": row.get("id")}
    return database.rows("message", _MESSAGE, ledger, equal=equal, order=["id"])


def _items(database: DatabaseCopy, chat: Row, name: str, ledger: p.Ledger) -> Iterator[p.Item]:
    for row in _messages(database, chat, ledger):
        author = row.get("author")
        images = items_in(parse(text_in(row.get("images")).encode("utf-8", "replace")))
        text = joined([text_in(row.get("text")), *(placeholder("image") for _ in images)])
        if author not in ("user", "assistant"):
            ledger.skipped["system prompt" if author == "system" else "unknown role"] += 1
        elif not text:
            ledger.skipped["empty message"] += 1
        else:
            ledger.read += 1
            model = text_in(chat.get("model")) or None if author == "assistant" else None
            yield p.ForeignMessage(f"{name}/{row.get('id')}", author, text, model=model)


READER = p.Reader("oterm", "oterm", _find, _recognises, _read, several=True)
