"""Sessions of crush, which keeps a database in each project."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tui.domain.journal.message import ToolCall
from tui.files import UnfitFile, system_text
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import with_unique_ids
from tui.importers.contents import arguments, attachment, joined, placeholder, title, todos
from tui.importers.databases import DatabaseCopy, Row, has, opened, schema, source
from tui.importers.json_lines import object_in, objects_in, parse_text, text_in, whole_if_there
from tui.importers.times import utc

_SESSION = (
    *("id", "parent_session_id", "title", "summary_message_id", "todos"),
    *("created_at", "updated_at"),
)
_MESSAGE = ("id", "role", "parts", "model", "is_summary_message", "created_at")
_STATUS = {"canceled": "interrupted", "max_tokens": "truncated", "error": "failed"}


def _find(places: p.Places) -> Iterator[p.Source]:
    value = whole_if_there(places.data / "crush" / "projects.json")
    for project in objects_in(object_in(value).get("projects")) or objects_in(value):
        folder = Path(text_in(project.get("path")))
        data = folder / (text_in(project.get("data_dir")) or ".crush")
        if folder.is_absolute():
            with suppress(FileNotFoundError, UnfitFile):
                yield source(Path(system_text(str(data / "crush.db"))))


def _recognises(path: Path, head: bytes) -> bool:
    found = schema(path, head)
    return has(found, "sessions", "parent_session_id") and has(
        found, "messages", "session_id", "parts"
    )


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    folder = source.path.absolute().parent
    project = str(folder.parent) if folder.name == ".crush" else ""
    with opened(source.path) as database:
        for row in database.rows("sessions", _SESSION, ledger, order=["created_at", "rowid"]):
            yield from _session(database, row, project, ledger)


def _session(
    database: DatabaseCopy, row: Row, project: str, ledger: p.Ledger
) -> Iterator[p.Conversation]:
    name = text_in(row.get("id"))
    if row.get("parent_session_id") or "$$" in name or name.startswith("title-"):
        found = database.rows("messages", ["id"], ledger, equal={"session_id": name})
        ledger.skipped["sub-agent"] += sum(1 for _ in found)
        return
    heading = p.Heading(
        source_id=name,
        name=title(row.get("title")),
        project_path=project,
        created_at=utc(row.get("created_at")),
        updated_at=utc(row.get("updated_at")),
    )
    yield p.Conversation.of(heading, lambda ledger: with_unique_ids(_items(database, row, ledger)))


def _items(database: DatabaseCopy, session: Row, ledger: p.Ledger) -> Iterator[p.Item]:
    equal = {"session_id": session.get("id")}
    order = ["created_at", "rowid"]
    last = ""
    for row in database.rows("messages", _MESSAGE, ledger, equal=equal, order=order):
        said = _said(row, ledger)
        is_summary = row.get("id") == session.get("summary_message_id")
        if said and last and (is_summary or row.get("is_summary_message") == 1):
            yield p.ForeignSummary(joined(each.content or "" for each in said), last)
            continue
        yield from said
        last = said[-1].id if said else last
    listed = objects_in(parse_text(session.get("todos")))
    if listed:
        yield todos(
            (each.get("content"), each.get("status"), each.get("active_form")) for each in listed
        )


def _said(row: Row, ledger: p.Ledger) -> tuple[p.ForeignMessage, ...]:
    role, name = row.get("role"), text_in(row.get("id"))
    parts = objects_in(parse_text(row.get("parts")))
    if role not in ("user", "assistant", "tool"):
        ledger.skipped["system prompt" if role == "system" else "unknown role"] += 1
        return ()
    is_answer = role == "assistant"
    finishes = [object_in(part.get("data")) for part in parts if part.get("type") == "finish"]
    finish = finishes[-1] if finishes else p.Json()
    status = _STATUS.get(text_in(finish.get("reason"))) if is_answer else None
    error = text_in(finish.get("message")) or text_in(finish.get("details")) or "failed"
    common = p.ForeignMessage(
        id=name,
        role="user" if role == "tool" else role,
        content=None,
        timestamp=utc(row.get("created_at")),
        status=status,
        error=error if status == "failed" else None,
        model=text_in(row.get("model")) or None if is_answer else None,
    )
    pieces = [piece for part in parts for piece in _part(part)]
    said = messages(common, [each for each in pieces if role != "tool" or isinstance(each, Result)])
    kinds = {text_in(part.get("type")) for part in parts}
    ledger.count(said, "thinking" if "reasoning" in kinds else "empty message")
    return said


def _part(part: p.Json) -> Iterator[Piece]:
    data = object_in(part.get("data"))
    match part.get("type"):
        case "text":
            yield text_in(data.get("text"))
        case "tool_call":
            sent = arguments(data.get("input"))
            yield ToolCall(text_in(data.get("id")), text_in(data.get("name")), sent)
        case "tool_result":
            content = text_in(data.get("content"))
            yield Result(text_in(data.get("tool_call_id")), content, text_in(data.get("name")))
        case "binary":
            kind = text_in(data.get("MIMEType")) or text_in(data.get("mime_type"))
            name = Path(text_in(data.get("Path")) or text_in(data.get("path"))).name
            yield attachment(name, kind)
        case "image_url":
            yield placeholder("image")
        case "shell_command":
            yield joined([text_in(data.get("command")), text_in(data.get("output"))])
        case _:
            pass


READER = p.Reader("crush", "crush", _find, _recognises, _read, several=True)
