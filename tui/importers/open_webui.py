"""Chats of Open WebUI: its export, and the database of a server."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result
from tui.importers.branches import TreeTurn
from tui.importers.contents import arguments, placeholder
from tui.importers.databases import MAGIC, has, is_database, opened, schema
from tui.importers.export_files import beginning, has_key
from tui.importers.formats import WITHOUT_MESSAGES, Export, Reading, Talk
from tui.importers.json_lines import items_in, object_in, objects_in, parse, parse_text, text_in
from tui.importers.json_paths import object_at, text_at
from tui.importers.message_blocks import TEXT

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
    kinds = {"message": TEXT}

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
        found = _messages(chat)
        if not found:
            ledger.skipped[WITHOUT_MESSAGES] += 1
            return
        models = [text_in(model) for model in items_in(chat.get("models"))]
        facts = {**record, "chat": chat, "first_model": next(iter(models), "")}
        records = [{**message, "own_id": name} for name, message in found.items()]
        yield Talk(path=path, facts=facts, records=lambda _: records, name=next(iter(found)))

    def turn_id(self, record: p.Json, number: int, reading: Reading) -> str:
        return record["own_id"]

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        current = text_at(reading.talk.facts, "chat.history.currentId")
        return current if any(turn.id == current for turn in turns) else turns[-1].id

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
        for file in objects_in(record.get("files")):
            kind = "image" if file.get("type") == "image" else "file"
            yield placeholder(kind, text_at(file, "name", "file.filename"))

    def _output(self, record: p.Json, message: str, reading: Reading) -> Iterator[Piece]:
        for number, item in enumerate(objects_in(record.get("output"))):
            if item.get("type") == "message":
                yield self.output(item.get("content"), reading.ledger)
            else:
                yield from self.pieces_in(item, f"{message}-{number}", reading.ledger)


def _messages(chat: p.Json) -> dict[str, p.Json]:
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


READER = OpenWebUi().reader()
