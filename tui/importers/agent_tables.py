"""Sessions of crush, goose and Zed: databases of them, whose messages are lists of blocks."""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tui.domain.json_text import LINE_BYTES
from tui.files import UnfitFile, system_text
from tui.importers import databases, json_lines
from tui.importers import protocol as p
from tui.importers.archives import decompressed
from tui.importers.contents import attachment, joined, placeholder, todos
from tui.importers.formats import SPEAKERS, Database, Reading, Talk, line_values
from tui.importers.json_lines import items_in, object_in, object_of, objects_in, parse_text
from tui.importers.json_paths import object_at, objects_at, text_at
from tui.importers.message_blocks import Piece, Result, Unknown, as_json

_CRUSH_SESSION = (
    "id", "parent_session_id", "title", "summary_message_id", "todos", "created_at", "updated_at",
)  # fmt: skip
_NEWER = (("messages", "provider"), ("messages", "is_summary_message"), ("sessions", "todos"))
_CRUSH_MESSAGE = ("id", "role", "parts", "model", "is_summary_message", "created_at")


class Crush(Database):
    """crush, whose messages are lists of parts."""

    program = title = "crush"
    revision = 1
    known_by = {"sessions": ("parent_session_id",), "messages": ("session_id", "parts")}
    talk_table = "sessions"
    talk_columns = _CRUSH_SESSION
    talk_order = ("created_at", "rowid")
    message_table = "messages"
    talk_key = "session_id"
    message_columns = _CRUSH_MESSAGE
    message_order = ("created_at", "rowid")
    project = ("project",)
    model = ()
    message_id = ("id",)
    own_ids = True
    todos = ("todos",)
    todo_fields = ("content", "active_form")
    statuses = {"canceled": "interrupted", "max_tokens": "truncated", "error": "failed"}
    kinds = {"finish": "silent", "shell_command": "text"}

    def find(self, places: p.Places) -> Iterator[p.Source]:
        value = json_lines.whole_if_there(places.data / "crush" / "projects.json")
        folders = [each.parent for each in places.in_projects(".crush/crush.db")]
        for project in objects_in(object_in(value).get("projects")) or objects_in(value):
            folder = Path(text_at(project, "path"))
            if folder.is_absolute():
                folders.append(folder / (text_at(project, "data_dir") or ".crush"))
        for data in dict.fromkeys(folders):
            with suppress(FileNotFoundError, UnfitFile):
                yield databases.source(Path(system_text(str(data / "crush.db"))))

    def recognises(self, path: Path, head: bytes) -> bool:
        """Tell its databases from those of opencode's first version, which it has gone on with."""
        tables = databases.schema(path, head)
        is_newer = any(databases.has(tables, table, column) for table, column in _NEWER)
        return is_newer and super().recognises(path, head)

    def heading(self, talk: Talk) -> p.Heading:
        folder = talk.path.absolute().parent
        talk.facts["project"] = str(folder.parent) if folder.name == ".crush" else ""
        talk.facts["todos"] = parse_text(talk.facts.get("todos"))
        return super().heading(talk)

    def left_out(self, facts: p.Json) -> str:
        name = text_at(facts, "id")
        is_own = not facts.get("parent_session_id") and "$$" not in name
        return "" if is_own and not name.startswith("title-") else "sub-agent"

    def record(self, row: databases.Row) -> p.Json:
        parts = objects_in(parse_text(row.get("parts")))
        blocks = [{**object_at(part, "data"), "type": part.get("type")} for part in parts]
        return {**row, "content": blocks}

    def sums_up(self, record: p.Json, reading: Reading) -> bool:
        is_summary = record.get("id") == reading.talk.facts.get("summary_message_id")
        return reading.last != "" and (is_summary or record.get("is_summary_message") == 1)

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        finishes = (part for part in reversed(record["content"]) if part["type"] == "finish")
        finish = next(finishes, p.Json())
        status = self.statuses.get(text_at(finish, "reason"))
        found = [text for field in ("message", "details") if (text := text_at(finish, field))]
        # Of an answer with words, the first alone is known since long.
        is_all = len(record["content"]) == 1
        error = ": ".join(found if is_all else found[:1]) or "failed"
        return status, error if status == "failed" else None

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        for piece in self.pieces_in(record["content"], whole.id, reading.ledger):
            if whole.role != "tool" or isinstance(piece, Result):
                yield piece

    def words(self, block: p.Json, ledger: p.Ledger) -> str | Unknown | None:
        if block["type"] == "shell_command":
            return joined([text_at(block, "command"), text_at(block, "output")])
        return super().words(block, ledger)

    def mark(self, name: str, block: p.Json) -> str:
        if name == "image_url":
            return placeholder("image")
        return attachment(
            Path(text_at(block, "Path", "path")).name, text_at(block, "MIMEType", "mime_type")
        )


_SESSION = (
    "id", "name", "description", "session_type", "working_dir", "created_at", "updated_at",
    "extension_data",
)  # fmt: skip
_MESSAGE = ("role", "content_json", "created_timestamp", "metadata_json")
_LEFT_OUT = {"sub_agent": "sub-agent", "hidden": "hidden session", "scheduled": "scheduled run"}
_TODO = re.compile(r"^\s*[-*] \[([ xX])\] (.+)$", re.MULTILINE)
_NOTICES = (
    "toolConfirmationRequest", "actionRequired", "systemNotification", "contextLengthExceeded",
    "summarizationRequested", "conversationCompacted",
)  # fmt: skip


class Goose(Database):
    """goose, whose ids are dates and numbers, as on other machines."""

    program = title = "goose"
    revision = 1
    compared = 1
    known_by = {"messages": ("session_id", "content_json")}
    talk_table = "sessions"
    talk_columns = _SESSION
    talk_order = ("created_at", "rowid")
    message_table = "messages"
    talk_key = "session_id"
    message_columns = _MESSAGE
    name = ("name", "description")
    project = ("working_dir",)
    model = said_by = ()
    roles = SPEAKERS
    # It writes all rows anew when it sums up: their numbers name nothing.
    made_of = ("role", "created", "content")
    time = ("created",)
    kinds = {"resource": "text", **dict.fromkeys(_NOTICES, "silent")}
    mark_kind = "image"
    file_types = ("mimeType",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        folders = [places.data / "goose"]
        if places.is_mac:
            folders.append(places.app_support / "Block" / "goose")
        if root := places.environment.get("GOOSE_PATH_ROOT", "").strip():
            folders.append(Path(root).expanduser() / "data")
        for folder in folders:
            yield from databases.found(folder / "sessions" / "sessions.db")
            yield from places.sources(folder, "sessions/*.jsonl")

    def recognises(self, path: Path, head: bytes) -> bool:
        if head.startswith(databases.MAGIC):
            return super().recognises(path, head)
        first = head.split(b"\n", 1)[0]
        return path.suffix == ".jsonl" and b'"working_dir"' in first and b'"role"' not in first

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path = source.path
        if databases.is_database(path):
            yield from super().talks(source, ledger)
            return
        first = next(line_values(path, p.Ledger()), p.Json())
        known = ("description", "working_dir") if "role" not in first else ()
        facts = {field: first.get(field) for field in known}
        yield Talk(path, facts, partial(_lines, path), path.stem)

    def left_out(self, facts: p.Json) -> str:
        return _LEFT_OUT.get(text_at(facts, "session_type"), "")

    def record(self, row: databases.Row) -> p.Json:
        return {
            "role": row.get("role"),
            "created": row.get("created_timestamp"),
            "content": parse_text(row.get("content_json")),
            "metadata": parse_text(row.get("metadata_json")),
        }

    def line(self, reading: Reading) -> Iterator[p.Item]:
        was_summary = False
        for record in reading.talk.records(reading.ledger):
            facts = object_at(record, "metadata")
            hidden = facts.get("userVisible") is False and facts.get("agentVisible") is not False
            counts = p.Ledger()
            said = self.said(record, self.id_of(record, reading), replace(reading, ledger=counts))
            if hidden and (was_summary or not reading.last or not said):
                # After a summary, the model is told to go on.
                reading.ledger.skipped["injected text"] += 1
                continue
            reading.ledger.add(counts)
            if hidden:
                yield p.ForeignSummary(
                    "\n\n".join(each.content or "" for each in said), reading.last
                )
            else:
                yield from said
                reading.last = said[-1].id if said else reading.last
            was_summary = hidden

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        """The items of a list that is kept as Markdown."""
        listed: list[tuple[str, str]] = []
        for name, facts in object_of(reading.talk.facts.get("extension_data")).items():
            if name.startswith("todo"):
                listed += _TODO.findall(text_at(object_in(facts), "content"))
        if listed:
            states = {" ": "pending", **dict.fromkeys("xX", "completed")}
            yield todos({"content": text, "status": states[mark]} for mark, text in listed)


def _lines(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    for number, record in enumerate(line_values(path, ledger)):
        if number == 0 and "role" not in record:
            ledger.skipped["facts of the session"] += 1
        else:
            yield record


_COLUMNS = (
    "id", "summary", "created_at", "updated_at", "data_type", "data", "parent_id", "folder_paths",
)  # fmt: skip
_SPEAKERS = {"User": "user", "Agent": "assistant"}


class Zed(Database):
    """Zed, whose messages and blocks are named by their only keys; older ones have types."""

    program, title = "zed", "Zed"
    known_by = {"threads": ("summary", "data_type", "data")}
    name = ("title", "summary")
    project = ("folder",)
    model = ("model.model",)
    version = ("version",)
    sub_agent = ("parent_id", "subagent_context")
    roles = SPEAKERS
    message_id = ("id",)
    time = ()
    one_model = True
    reasons = {"Resume": "mark to continue"}
    kinds = {
        "Text": "text",
        "Thinking": "thinking",
        "RedactedThinking": "thinking",
        "ToolUse": "call",
        "Image": "mark",
    }
    mark_kind = "image"
    file_data = ("source",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        usual = places.app_support / "Zed" if places.is_mac else places.data / "zed"
        packed = places.named("FLATPAK_XDG_DATA_HOME", usual.parent) / usual.name
        return databases.found(packed / "threads" / "threads.db")

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        with databases.opened(source.path) as database:
            for row in database.rows("threads", _COLUMNS, ledger, order=["updated_at", "id"]):
                thread = _thread_in(row.get("data"), row.get("data_type"))
                if not thread:
                    ledger.skipped[databases.DAMAGED] += 1
                    continue
                said = [_message(each) for each in items_in(thread.get("messages"))]
                yield Talk(source.path, _facts(row, thread), lambda _, said=said: said)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        yield from super().pieces(record, whole, reading)
        for result in objects_at(record, "results"):
            content = result.get("content")
            said = [_block(each) for each in items_in(content)] or _block(content)
            text = self.output(said, reading.ledger)
            output = text or as_json(result.get("output"))
            yield Result(text_at(result, "tool_use_id"), output, text_at(result, "tool_name"))

    def words(self, block: p.Json, ledger: p.Ledger) -> str | Unknown | None:
        if block.get("type") != "Mention":
            return super().words(block, ledger)
        uri = block.get("uri")
        facts = object_in(next(iter(object_in(uri).values()), None))
        name = Path(text_at(facts, "abs_path")).name or text_at(facts, "name", "url")
        return joined([placeholder("file", name), text_at(block, "content")])


def _facts(row: databases.Row, thread: p.Json) -> p.Json:
    trees = objects_at(thread, "initial_project_snapshot.worktree_snapshots")
    folder = text_at(row, "folder_paths").partition("\n")[0]
    folder = folder or next((text_at(tree, "worktree_path") for tree in trees), "")
    known = {key: row.get(key) for key in ("id", "created_at", "updated_at", "parent_id")}
    return {"summary": row.get("summary"), **thread, **known, "folder": folder}


def _thread_in(data: Any, kind: Any) -> p.Json:
    """The thread of a row; empty if it is damaged, or is packed in an unknown way."""
    data = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if not isinstance(data, bytes) or kind not in ("json", "zstd"):
        return {}
    if kind == "zstd":
        whole = bytearray()
        for block in decompressed(BytesIO(data)):
            whole += block
            if len(whole) > LINE_BYTES:
                return {}
        data = bytes(whole)
    return object_of(data)


def _message(value: Any) -> p.Json:
    """A message in one form; what has no role in it is named by its type."""
    if isinstance(value, str):
        return {"type": value}
    record = object_in(value)
    name = next(iter(record), "") if len(record) == 1 else ""
    if name in _SPEAKERS:
        inner = object_at(record, name)
        content = [_block(each) for each in items_in(inner.get("content"))]
        facts = {"id": inner.get("id"), "role": _SPEAKERS[name], "content": content}
        return {**facts, "results": list(object_at(inner, "tool_results").values())}
    if name:
        return {"type": name}
    said = record.get("segments") or [{"type": "text", "text": record.get("text")}]
    calls = [{**each, "type": "tool_use"} for each in objects_at(record, "tool_uses")]
    content = [*items_in(said), *calls]
    return {"role": record.get("role"), "content": content, "results": record.get("tool_results")}


def _block(value: Any) -> Any:
    """A block with its type, and its text under one name."""
    block = object_in(value)
    if len(block) != 1:
        return value
    name, inner = next(iter(block.items()))
    return {**(object_in(inner) or {"text": inner}), "type": name}
