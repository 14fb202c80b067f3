"""Sessions of goose: its database, and the files of one session each before 1.10."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import with_unique_ids
from tui.importers.contents import arguments, joined, placeholder, title, todos
from tui.importers.databases import (
    MAGIC,
    DatabaseCopy,
    Row,
    found,
    has,
    is_database,
    opened,
    schema,
)
from tui.importers.json_lines import items_in, object_in, objects, objects_in, parse_text, text_in
from tui.importers.made_ids import MadeIds, first_ids
from tui.importers.times import utc

_SESSION = (
    *("id", "name", "description", "session_type", "working_dir"),
    *("created_at", "updated_at", "extension_data"),
)
_MESSAGE = ("role", "content_json", "created_timestamp", "metadata_json")
_LEFT_OUT = {"sub_agent": "sub-agent", "hidden": "hidden session", "scheduled": "scheduled run"}
_TODO = re.compile(r"^\s*[-*] \[([ xX])\] (.+)$", re.MULTILINE)


def _find(places: p.Places) -> Iterator[p.Source]:
    folders = [places.data / "goose"]
    if places.is_mac:
        folders.append(places.app_support / "Block" / "goose")
    if root := places.environment.get("GOOSE_PATH_ROOT", "").strip():
        folders.append(Path(root).expanduser() / "data")
    for folder in folders:
        yield from found(folder / "sessions" / "sessions.db")
        yield from places.sources(folder, "sessions/*.jsonl")


def _recognises(path: Path, head: bytes) -> bool:
    if head.startswith(MAGIC):
        return has(schema(path, head), "messages", "session_id", "content_json")
    first = head.split(b"\n", 1)[0]
    return path.suffix == ".jsonl" and b'"working_dir"' in first and b'"role"' not in first


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    if not is_database(source.path):
        first = next((line.value for line in objects(source.path, p.Ledger())), None)
        facts = first if first and "role" not in first else p.Json()
        heading = p.Heading(
            source_id=source.path.stem,
            name=title(facts.get("description")),
            project_path=text_in(facts.get("working_dir")),
        )
        yield _conversation(heading, partial(_lines, source.path), [])
        return
    with opened(source.path) as database:
        for row in database.rows("sessions", _SESSION, ledger, order=["created_at", "rowid"]):
            yield from _of_rows(database, row, ledger)


def _conversation(
    heading: p.Heading, read: Callable[[p.Ledger], Iterable[p.Json]], listed: list[tuple[str, str]]
) -> p.Conversation:
    """The conversation of some records; its id is a date and a number, as on other machines."""

    def items(ledger: p.Ledger) -> Iterator[p.Item]:
        return with_unique_ids(_items(heading.source_id, read, listed, ledger))

    beginning = first_ids(items(p.Ledger()), 1)
    return p.Conversation.of(replace(heading, beginning=beginning), items)


def _lines(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    for number, line in enumerate(objects(path, ledger)):
        if number == 0 and "role" not in line.value:
            ledger.skipped["facts of the session"] += 1
        else:
            yield line.value


def _of_rows(database: DatabaseCopy, row: Row, ledger: p.Ledger) -> Iterator[p.Conversation]:
    name = text_in(row.get("id"))
    if reason := _LEFT_OUT.get(text_in(row.get("session_type"))):
        rows = database.rows("messages", ["id"], ledger, equal={"session_id": name})
        ledger.skipped[reason] += sum(1 for _ in rows)
        return
    heading = p.Heading(
        source_id=name,
        name=title(row.get("name")) or title(row.get("description")),
        project_path=text_in(row.get("working_dir")),
        created_at=utc(row.get("created_at")),
        updated_at=utc(row.get("updated_at")),
    )
    listed = _todos(parse_text(row.get("extension_data")))
    yield _conversation(heading, partial(_rows, database, name), listed)


def _rows(database: DatabaseCopy, session: str, ledger: p.Ledger) -> Iterator[p.Json]:
    equal = {"session_id": session}
    for row in database.rows("messages", _MESSAGE, ledger, equal=equal, order=["id"]):
        yield {
            "role": row.get("role"),
            "created": row.get("created_timestamp"),
            "content": parse_text(row.get("content_json")),
            "metadata": parse_text(row.get("metadata_json")),
        }


def _todos(value: Any) -> list[tuple[str, str]]:
    """The items of a list that is kept as Markdown."""
    listed: list[tuple[str, str]] = []
    for name, facts in object_in(value).items():
        if name.startswith("todo"):
            listed += _TODO.findall(text_in(object_in(facts).get("content")))
    return listed


def _items(
    name: str,
    read: Callable[[p.Ledger], Iterable[p.Json]],
    listed: list[tuple[str, str]],
    ledger: p.Ledger,
) -> Iterator[p.Item]:
    ids = MadeIds(name)
    last, was_summary = "", False
    for record in read(ledger):
        facts = object_in(record.get("metadata"))
        # goose writes all rows anew when it sums up: their numbers name nothing.
        made = ids.make(*(record.get(each) for each in ("role", "created", "content")))
        said = _said(made, record)
        hidden = facts.get("userVisible") is False and facts.get("agentVisible") is not False
        if hidden and (was_summary or not last or not said):
            # After a summary, the model is told to go on.
            ledger.skipped["injected text"] += 1
            continue
        kinds = {text_in(block.get("type")) for block in objects_in(record.get("content"))}
        if record.get("role") not in ("user", "assistant"):
            ledger.skipped["unknown role"] += 1
        else:
            ledger.count(said, "thinking" if "thinking" in kinds else "empty message")
        if hidden:
            yield p.ForeignSummary("\n\n".join(each.content or "" for each in said), last)
        else:
            yield from said
            last = said[-1].id if said else last
        was_summary = hidden
    if listed:
        states = {" ": "pending"}
        yield todos((text, states.get(mark, "completed"), None) for mark, text in listed)


def _said(name: str, record: p.Json) -> tuple[p.ForeignMessage, ...]:
    role = record.get("role")
    if role not in ("user", "assistant"):
        return ()
    whole = p.ForeignMessage(name, role, None, timestamp=utc(record.get("created")))
    blocks = objects_in(record.get("content"))
    return messages(
        whole, [piece for n, block in enumerate(blocks) for piece in _block(name, n, block)]
    )


def _block(name: str, number: int, block: p.Json) -> Iterator[Piece]:
    call = text_in(block.get("id"))
    match block.get("type"):
        case "text":
            yield text_in(block.get("text"))
        case "image":
            yield placeholder("image", text_in(block.get("mimeType")))
        case "toolRequest" | "frontendToolRequest":
            value = object_in(object_in(block.get("toolCall")).get("value"))
            sent = arguments(value.get("arguments"))
            yield ToolCall(call or f"{name}-call-{number}", text_in(value.get("name")), sent)
        case "toolResponse":
            yield Result(call, _result(object_in(block.get("toolResult"))))
        case _:
            pass


def _result(result: p.Json) -> str:
    if "error" in result:
        return text_in(result["error"])
    value = result.get("value")
    content = items_in(value) or items_in(object_in(value).get("content"))
    return text_in(value) or joined(_output(object_in(block)) for block in content)


def _output(block: p.Json) -> str:
    if block.get("type") == "image":
        return placeholder("image", text_in(block.get("mimeType")))
    return text_in(block.get("text")) or text_in(object_in(block.get("resource")).get("text"))


READER = p.Reader("goose", "goose", _find, _recognises, _read, several=True)
