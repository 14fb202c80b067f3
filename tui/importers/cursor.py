"""Chats of Cursor: its editor's database of values, and the sessions of its command line."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.contents import blocks, joined, placeholder
from tui.importers.databases import OpenDatabase, beginnings_in, found, is_database, opened
from tui.importers.formats import WITHOUT_MESSAGES, Database, Reading, Talk, line_values
from tui.importers.json_lines import UNREADABLE, object_of, objects_in
from tui.importers.json_paths import object_at, objects_at, text_at, value_at
from tui.importers.message_blocks import Piece, Result
from tui.importers.vscode import folder_of, user_folders

_TABLE = "cursorDiskKV"
_CHAT, _BUBBLE = "composerData:", "bubbleId:"
_PARENT = "subagentInfo.parentComposerId"
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
    sub_agent = (_PARENT, f"listed.{_PARENT}", "listed.isSubagent", "is_task")
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
            if "composerHeaders" not in database.schema:
                listed = {**_in_windows(source.path.parent.parent), **listed}
            for row in database.rows(_TABLE, ["key", "value"], ledger, beginning={"key": _CHAT}):
                chat = object_of(row.get("value"))
                name = text_at(row, "key").removeprefix(_CHAT)
                own = {"composerId": name, "is_task": name.startswith("task-")}
                facts = {**chat, **own, "listed": listed.get(name, {})}
                headers = objects_at(chat, "fullConversationHeadersOnly", "conversation")
                if not chat:
                    ledger.skipped[UNREADABLE] += 1
                elif not headers:
                    ledger.skipped[WITHOUT_MESSAGES] += 1
                else:
                    read = partial(_bubbles, database, name, headers)
                    yield Talk(source.path, facts, read, name)

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        error = object_at(record, "errorDetails")
        details = object_of(error.get("error"))
        told = (text_at(details, "details.title"), text_at(details, "details.detail"))
        words = ": ".join(filter(None, (text_at(error, "message"), *told)))
        return ("failed", words or "failed") if error else (None, None)

    def reason_without_words(self, record: p.Json) -> str:
        is_notice = "serviceStatusUpdate" in record
        return "status notice" if is_notice else super().reason_without_words(record)

    def mark(self, name: str, block: p.Json) -> str:
        path = text_at(block, "path").replace("\\", "/")
        return placeholder("image", path.rpartition("/")[2])


def _databases(places: p.Places) -> list[Path]:
    folders = (folder for folder in user_folders(places) if folder.parent.name == "Cursor")
    return [folder / "globalStorage" / "state.vscdb" for folder in folders]


def _listed(database: OpenDatabase, ledger: p.Ledger) -> dict[str, p.Json]:
    """What lists of all chats say of them: their folders, and which are those of sub-agents."""
    found: dict[str, p.Json] = {}
    key = {"key": "composer.composerHeaders"}
    for row in database.rows("ItemTable", ["value"], ledger, equal=key):
        for each in objects_in(object_of(row.get("value")).get("allComposers")):
            found[text_at(each, "composerId")] = each
    for row in database.rows("composerHeaders", ["composerId", "isSubagent", "value"], ledger):
        name = text_at(row, "composerId")
        facts = {**found.get(name, {}), **object_of(row.get("value"))}
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
                for each in objects_in(object_of(row.get("value")).get("allComposers")):
                    found[text_at(each, "composerId")] = {"folder": folder}
    return found


def _bubbles(
    database: OpenDatabase, chat: str, headers: list[p.Json], ledger: p.Ledger
) -> Iterator[p.Json]:
    """The records of the bubbles that a chat names, in its order; of others none is shown."""
    named: set[str] = set()
    for header in headers:
        key = f"{_BUBBLE}{chat}:{text_at(header, 'bubbleId')}"
        named.add(key)
        stored = next(database.rows(_TABLE, ["value"], ledger, equal={"key": key}), None)
        bubble = header if stored is None else object_of(stored.get("value"))
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


def _record(bubble: p.Json) -> p.Json:
    """A bubble with its role, and with what it says as blocks."""
    kind = bubble.get("type")
    role = "user" if kind == 1 else "assistant" if kind == 2 else ""
    blocks: list[p.Json] = [{"type": "text", "text": text_at(bubble, "text")}]
    if "thinking" in bubble:
        blocks.append({"type": "thinking"})
    blocks += [{**each, "type": "image"} for each in objects_at(bubble, "images")]
    if not text_at(bubble, "text").strip():
        codes = [text_at(each, "content") for each in objects_at(bubble, "codeBlocks")]
        blocks += [{"type": "text", "text": f"```\n{code}\n```"} for code in codes if code]
    tool = object_at(bubble, "toolFormerData")
    if name := text_at(tool, "name"):
        result, status = tool.get("result"), text_at(tool, "additionalData.status")
        said = text_at(object_of(result), *_RETURNED)
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


_TRANSCRIPT = re.compile(rb'\s*\{\s*"role"\s*:\s*"\w+"\s*,\s*"message"\s*:\s*\{')
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
# Tags of one word may be the user's own, such as those of HTML.
_INJECTED = re.compile(r"\s*<[a-z]+_[a-z_]+>.*</[a-z]+_[a-z_]+>\s*", re.DOTALL)
_REFERENCE = re.compile(rb"(?=\x20(.{32}))", re.DOTALL)
"""A field of 32 bytes: its length, and what may be the id of another blob."""

_TURNS = 8
_AGENT_TURN = 1
_PROMPT, _STEP = 1, 2
_TEXT = 1
_STEPS = {2: "tool call", 3: "thinking"}
"""Kinds of steps whose contents are not known."""
_FIXED = {1: 8, 5: 4}
"""Bytes of a value by its wire type."""


def turns(root: str, read: Callable[[str], bytes], ledger: p.Ledger) -> Iterator[p.Json]:
    """Read the prompts and answers below a root, as messages with ``role`` and ``content``."""
    for turn in _all(read(root), _TURNS):
        for agent_turn in _all(read(turn.hex()), _AGENT_TURN):
            for prompt in _all(agent_turn, _PROMPT):
                yield {"role": "user", "content": _text(read(prompt.hex()))}
            for step in _all(agent_turn, _STEP):
                for number, value in _fields(read(step.hex())):
                    if number == _TEXT:
                        yield {"role": "assistant", "content": _text(value)}
                    else:
                        ledger.skipped[_STEPS.get(number, "unknown record")] += 1


def _text(data: bytes) -> str:
    return b"".join(_all(data, _TEXT)).decode("utf-8", "replace")


def _all(data: bytes, wanted: int) -> list[bytes]:
    return [value for number, value in _fields(data) if number == wanted]


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that are bytes, with their numbers; of damaged data, those before the damage."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            _, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            yield number, data[at : at + length]
            at += length
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends; at most the ten bytes that 64 bits take."""
    value = 0
    for shift, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value, at + shift + 1
    return 0, len(data)


class CursorCli(Database):
    """Cursor's command line."""

    program, title = "cursor-cli", "Cursor CLI"
    revision = 2
    several = False
    sub_agents = "subagents"
    known_by = {"blobs": ("id", "data"), "meta": ("key", "value")}
    source_id = ("agentId",)
    name = ("name",)
    project = ("workspacePath",)
    created = ("createdAt",)
    updated = ()
    model = ("lastUsedModel",)
    time = said_by = ()
    one_model = True
    reasons = {"turn_ended": "end of a turn"}
    file_names = ("filename",)
    file_types = ("mimeType",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        named = places.environment.get("CURSOR_CONFIG_DIR", "").strip()
        usual = [places.home / ".cursor", places.config / "cursor"]
        for folder in [Path(named).expanduser()] if named else usual:
            stored = places.glob(folder, "chats/*/*/store.db")
            yield from found(*stored)
            copies = places.glob(folder, "projects/*/agent-transcripts/**/*.jsonl")
            known = {path.parent.name for path in stored}
            # Those that the editor keeps are left to it.
            beginnings = {f"{_BUBBLE}{path.stem}:": path.stem for path in copies}
            for path in _databases(places):
                kept = beginnings_in(path, _TABLE, "key", beginnings)
                known |= {beginnings[each] for each in kept}
            for path in copies:
                if path.stem not in known and self.sub_agents not in path.parts:
                    yield p.Source.of(path)

    def recognises(self, path: Path, head: bytes) -> bool:
        return super().recognises(path, head) or bool(_TRANSCRIPT.match(head))

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path = source.path
        if not is_database(path):
            yield Talk(path, {}, partial(_lines, path), path.stem)
            return
        with opened(path) as database:
            facts: p.Json = {}
            for row in database.rows("meta", ["value"], ledger, equal={"key": "0"}):
                with suppress(ValueError):
                    facts = object_of(bytes.fromhex(text_at(row, "value")))
            read = partial(_blobs, database, text_at(facts, "latestRootBlobId"))
            yield Talk(path, facts, read, path.parent.name)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        """What a record says; a result is that of the first call that waits, if it names none."""
        waiting = reading.known
        for piece in self.pieces_in(record.get("content"), whole.id, reading.ledger):
            if isinstance(piece, ToolCall):
                waiting[piece.id] = piece.id
            if isinstance(piece, Result):
                call = piece.call if piece.call in waiting else next(iter(waiting), piece.call)
                waiting.pop(call, None)
                yield piece._replace(call=call)
            elif isinstance(piece, str) and whole.role == "user":
                yield _asked(piece)
            elif not isinstance(piece, str) or piece.strip() != "[REDACTED]":
                yield piece

    def reason_without_words(self, record: p.Json) -> str:
        content = record.get("content")
        if self.thinks(content):
            return "thinking"
        has_text = any(text_at(block, "text").strip() for block in blocks(content))
        return "injected text" if record["role"] == "user" and has_text else "empty message"


def _lines(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    for line in line_values(path, ledger):
        yield {**object_at(line, "message"), "role": line.get("role"), "type": line.get("type")}


def _blobs(database: OpenDatabase, root: str, ledger: p.Ledger) -> Iterator[p.Json]:
    """The messages that the last state refers to, in its order; of a state unknown here, all.

    Some states refer to no prompt and no answer: their turns have the words.
    """
    ids = [text_at(row, "id") for row in database.rows("blobs", ["id"], ledger, order=["rowid"])]

    def read(name: str) -> bytes:
        rows = database.rows("blobs", ["data"], ledger, equal={"id": name})
        data = next(rows, p.Json()).get("data")
        data = data.encode("utf-8", "replace") if isinstance(data, str) else data
        return data if isinstance(data, bytes) else b""

    shown = list(_referred(root, set(ids), read))
    roles = (object_of(read(name)).get("role") for name in shown)
    has_words = any(role in ("user", "assistant") for role in roles)
    said = [] if has_words else list(turns(root, read, ledger))
    yield from said
    is_known = bool(shown or said)
    for name in shown if is_known else ids:
        data = read(name)
        if data.startswith(b"{"):
            yield object_of(data)
    for name in set(ids) - set(shown) if is_known else ():
        if read(name).startswith(b"{"):
            ledger.skipped["message of an earlier state"] += 1


def _referred(root: str, ids: set[str], read: Callable[[str], bytes]) -> Iterator[str]:
    """The messages below a blob; one that was said twice is referred to twice."""
    seen: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in ids or name in seen:
            continue
        data = read(name)
        if data.startswith(b"{"):
            yield name
            continue
        seen.add(name)
        names = (match[1].hex() for match in _REFERENCE.finditer(data))
        waiting.extend(reversed([each for each in names if each in ids]))


def _asked(text: str) -> str:
    """The words of the user, which stand in a tag; what stands in other tags is injected."""
    found = _QUERY.findall(text)
    if found:
        return joined(found)
    return "" if _INJECTED.fullmatch(text) else text
