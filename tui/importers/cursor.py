"""Chats of Cursor's editor: its database of values, one for each chat and each of its bubbles."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tui.importers import protocol as p
from tui.importers.contents import placeholder
from tui.importers.databases import DatabaseCopy, beginnings_in, found, opened
from tui.importers.formats import WITHOUT_MESSAGES, Database, Talk
from tui.importers.json_lines import UNREADABLE, object_in, objects_in, parse, parse_text, text_in
from tui.importers.json_paths import object_at, objects_at, text_at, value_at
from tui.importers.vscode import folder_of, user_folders

_TABLE = "cursorDiskKV"
_CHAT, _BUBBLE = "composerData:", "bubbleId:"
_PARENT = "subagentInfo.parentComposerId"
_SUB_AGENT = (_PARENT, f"listed.{_PARENT}", "listed.isSubagent")
_FAILED = ("error", "cancelled", "rejected")
_RETURNED = ("output", "contents", "content", "text")


class Cursor(Database):
    """Cursor, whose chats name their bubbles in order; older ones have them within."""

    program, title = "cursor", "Cursor"
    known_by = {_TABLE: ("key", "value")}
    source_id = ("composerId",)
    name = ("name", "listed.name")
    project = (
        "workspaceIdentifier.uri.fsPath",
        "listed.workspaceIdentifier.uri.fsPath",
        "listed.folder",
    )
    created = ("createdAt",)
    updated = ("lastUpdatedAt",)
    model = ("modelConfig.modelName",)
    role = ("role",)
    message_id = ("bubbleId",)
    content = ("blocks",)
    time = ("createdAt",)
    said_by = ("modelInfo.modelName",)
    one_model = True
    sent = ("tokenCount.inputTokens",)
    received = ("tokenCount.outputTokens",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        return found(*_databases(places))

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        with opened(source.path) as database:
            listed = _listed(database, ledger)
            if not database.has("composerHeaders"):
                listed = {**_in_windows(source.path.parent.parent), **listed}
            for row in database.rows(_TABLE, ["key", "value"], ledger, beginning={"key": _CHAT}):
                chat, name = _value(row.get("value")), text_in(row.get("key")).removeprefix(_CHAT)
                facts = {**chat, "composerId": name, "listed": listed.get(name, {})}
                headers = objects_at(chat, "fullConversationHeadersOnly", "conversation")
                if not chat:
                    ledger.skipped[UNREADABLE] += 1
                elif not headers:
                    ledger.skipped[WITHOUT_MESSAGES] += 1
                else:
                    read = partial(_bubbles, database, name, headers)
                    yield Talk(path=source.path, facts=facts, records=read, name=name)

    def left_out(self, facts: p.Json) -> str:
        is_task = text_at(facts, "composerId").startswith("task-")
        return "sub-agent" if is_task or value_at(facts, *_SUB_AGENT) else ""

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        error = object_at(record, "errorDetails")
        details = object_in(parse_text(error.get("error")))
        told = (text_at(details, "details.title"), text_at(details, "details.detail"))
        words = ": ".join(filter(None, (text_at(error, "message"), *told)))
        return ("failed", words or "failed") if error else (None, None)

    def reason_without_words(self, record: p.Json) -> str:
        is_notice = "serviceStatusUpdate" in record
        return "status notice" if is_notice else super().reason_without_words(record)

    def mark(self, name: str, block: p.Json) -> str:
        path = text_at(block, "path").replace("\\", "/")
        return placeholder("image", path.rpartition("/")[2])


def chats_in(places: p.Places, names: Iterable[str]) -> set[str]:
    """Those of some chats that the editor keeps."""
    beginnings = {f"{_BUBBLE}{name}:": name for name in names}
    kept = (beginnings_in(path, _TABLE, "key", beginnings) for path in _databases(places))
    return {beginnings[each] for found in kept for each in found}


def _databases(places: p.Places) -> list[Path]:
    folders = (folder for folder in user_folders(places) if folder.parent.name == "Cursor")
    return [folder / "globalStorage" / "state.vscdb" for folder in folders]


def _listed(database: DatabaseCopy, ledger: p.Ledger) -> dict[str, p.Json]:
    """What lists of all chats say of them: their folders, and which are those of sub-agents."""
    found: dict[str, p.Json] = {}
    key = {"key": "composer.composerHeaders"}
    for row in database.rows("ItemTable", ["value"], ledger, equal=key):
        for each in objects_in(_value(row.get("value")).get("allComposers")):
            found[text_at(each, "composerId")] = each
    for row in database.rows("composerHeaders", ["composerId", "isSubagent", "value"], ledger):
        name = text_in(row.get("composerId"))
        facts = {**found.get(name, {}), **_value(row.get("value"))}
        found[name] = {**facts, "isSubagent": row.get("isSubagent")}
    return found


def _in_windows(user: Path) -> dict[str, p.Json]:
    """The folders of chats by the databases of windows, where there is no list of all chats."""
    found: dict[str, p.Json] = {}
    for path in sorted(user.glob("workspaceStorage/*/state.vscdb")):
        folder, unused = folder_of(path.parent), p.Ledger()
        with suppress(OSError), opened(path) as database:
            key = {"key": "composer.composerData"}
            for row in database.rows("ItemTable", ["value"], unused, equal=key):
                for each in objects_in(_value(row.get("value")).get("allComposers")):
                    found[text_at(each, "composerId")] = {"folder": folder}
    return found


def _bubbles(
    database: DatabaseCopy, chat: str, headers: list[p.Json], ledger: p.Ledger
) -> Iterator[p.Json]:
    """The records of the bubbles that a chat names, in its order; of others none is shown."""
    named: set[str] = set()
    for header in headers:
        key = f"{_BUBBLE}{chat}:{text_at(header, 'bubbleId')}"
        named.add(key)
        stored = next(database.rows(_TABLE, ["value"], ledger, equal={"key": key}), None)
        bubble = header if stored is None else _value(stored.get("value"))
        if stored is None and "text" not in header:
            ledger.skipped["message that is not there"] += 1
        elif bubble:
            yield _record({**header, **bubble})
        else:
            ledger.skipped[UNREADABLE] += 1
    prefix = f"{_BUBBLE}{chat}:"
    for row in database.rows(_TABLE, ["key"], ledger, beginning={"key": prefix}):
        if row["key"] not in named:
            ledger.skipped["message of an earlier state"] += 1


def _value(value: Any) -> p.Json:
    return object_in(parse(value) if isinstance(value, bytes) else parse_text(value))


def _record(bubble: p.Json) -> p.Json:
    """A bubble with its role, and with what it says as blocks."""
    kind = bubble.get("type")
    role = "user" if kind == 1 else "assistant" if kind == 2 else ""
    blocks: list[p.Json] = [{"type": "text", "text": text_at(bubble, "text")}]
    if "thinking" in bubble:
        blocks.append({"type": "thinking"})
    blocks += [{**each, "type": "image"} for each in objects_in(bubble.get("images"))]
    if not text_at(bubble, "text").strip():
        codes = [text_at(each, "content") for each in objects_in(bubble.get("codeBlocks"))]
        blocks += [{"type": "text", "text": f"```\n{code}\n```"} for code in codes if code]
    tool = object_at(bubble, "toolFormerData")
    if name := text_at(tool, "name"):
        result, status = tool.get("result"), text_at(tool, "additionalData.status")
        said = text_at(object_in(parse_text(result)), *_RETURNED)
        blocks.append(
            {
                "type": "tool_call",
                "id": text_at(tool, "toolCallId"),
                "name": name,
                "arguments": value_at(tool, "rawArgs", "params"),
                "output": said or result or (status if status in _FAILED else None),
            }
        )
    return {**bubble, "role": role, "blocks": blocks}


READER = Cursor().reader()
