"""Threads of Zed's agent: rows of a database, each with its thread as compressed JSON."""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from tui.domain.json_limits import LINE_BYTES
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, Unknown
from tui.importers.archives import decompressed
from tui.importers.contents import base64_size, joined, placeholder
from tui.importers.databases import DAMAGED, Row, found, opened
from tui.importers.formats import SPEAKERS, Database, Reading, Talk
from tui.importers.json_lines import items_in, object_in, objects_in, parse, text_in
from tui.importers.json_paths import object_at, objects_at, text_at
from tui.importers.message_blocks import CALL, MARK, TEXT, THINKING, as_json

_COLUMNS = (
    *("id", "summary", "created_at", "updated_at", "data_type", "data"),
    *("parent_id", "folder_paths"),
)
_SPEAKERS = {"User": "user", "Agent": "assistant"}


class Zed(Database):
    """Zed, whose messages and blocks are named by their only keys; older ones have types."""

    program, title = "zed", "Zed"
    known_by = {"threads": ("summary", "data_type", "data")}
    name = ("title", "summary")
    project = ("folder",)
    model = ("model.model",)
    version = ("version",)
    roles = SPEAKERS
    message_id = ("id",)
    time = ()
    one_model = True
    kinds = {
        "Text": TEXT,
        "Thinking": THINKING,
        "RedactedThinking": THINKING,
        "ToolUse": CALL,
        "Image": MARK,
    }

    def find(self, places: p.Places) -> Iterator[p.Source]:
        usual = places.app_support / "Zed" if places.is_mac else places.data / "zed"
        packed = places.named("FLATPAK_XDG_DATA_HOME", usual.parent) / usual.name
        return found(packed / "threads" / "threads.db")

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        with opened(source.path) as database:
            for row in database.rows("threads", _COLUMNS, ledger, order=["updated_at", "id"]):
                thread = _thread_in(row.get("data"), row.get("data_type"))
                if not thread:
                    ledger.skipped[DAMAGED] += 1
                    continue
                yield Talk(path=source.path, facts=_facts(row, thread), records=_records(thread))

    def left_out(self, facts: p.Json) -> str:
        return "sub-agent" if facts.get("parent_id") or facts.get("subagent_context") else ""

    def reason_without_role(self, record: p.Json) -> str:
        is_known = record.get("type") == "Resume"
        return "mark to continue" if is_known else super().reason_without_role(record)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        yield from super().pieces(record, whole, reading)
        for result in objects_in(record.get("results")):
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

    def mark(self, name: str, block: p.Json) -> str:
        return placeholder("image", base64_size(block.get("source")))


def _facts(row: Row, thread: p.Json) -> p.Json:
    trees = objects_at(thread, "initial_project_snapshot.worktree_snapshots")
    folder = text_in(row.get("folder_paths")).partition("\n")[0]
    folder = folder or next((text_at(tree, "worktree_path") for tree in trees), "")
    known = {key: row.get(key) for key in ("id", "created_at", "updated_at", "parent_id")}
    return {"summary": row.get("summary"), **thread, **known, "folder": folder}


def _records(thread: p.Json) -> Callable[[p.Ledger], Iterator[p.Json]]:
    return lambda _: (_message(each) for each in items_in(thread.get("messages")))


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
    return object_in(parse(data))


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
    calls = [{**each, "type": "tool_use"} for each in objects_in(record.get("tool_uses"))]
    content = [*items_in(said), *calls]
    return {"role": record.get("role"), "content": content, "results": record.get("tool_results")}


def _block(value: Any) -> Any:
    """A block with its type, and its text under one name."""
    block = object_in(value)
    if len(block) != 1:
        return value
    name, inner = next(iter(block.items()))
    return {**(object_in(inner) or {"text": inner}), "type": name}


READER = Zed().reader()
