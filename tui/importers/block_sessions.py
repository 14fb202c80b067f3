"""Sessions of Amp, Droid and Qwen Code: files whose messages are lists of blocks."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from msgspec.structs import replace

from tui.domain.journal.message import Role
from tui.importers import protocol as p
from tui.importers.contents import attachment, base64_size
from tui.importers.formats import SPEAKERS, JsonFile, LogFormat, Reading, Talk
from tui.importers.json_lines import object_if_there, object_in, objects_in
from tui.importers.json_paths import object_at, objects_at, text_at, value_at
from tui.importers.message_blocks import QWEN_CODE, Piece, Result, skipped
from tui.importers.vscode import user_folders


class Amp(JsonFile):
    """Amp, with a file of JSON for each thread; the results of tools are told by their runs."""

    program, title = "amp", "Amp"
    project = ("folder",)
    created = ("created",)
    updated = ("ended",)
    model = ()
    roles = SPEAKERS
    message_id = ("messageId",)
    time = ("meta.sentAt", "usage.timestamp")
    said_by = ("usage.model",)
    sent = ("usage.inputTokens",)
    received = ("usage.outputTokens",)
    cached = ("usage.cacheReadInputTokens",)
    cache_written = ("usage.cacheCreationInputTokens",)
    file_types = ("source.mediaType", "source.media_type")
    file_data = ("source.data",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        yield from places.sources(places.data / "amp", "threads/T-*.json")
        for folder in user_folders(places):
            yield from places.sources(folder, "globalStorage/sourcegraph.amp/threads3/T-*.json")

    def recognises(self, path: Path, head: bytes) -> bool:
        is_named = path.name.startswith("T-") and path.suffix == ".json"
        return is_named and b'"id"' in head and b'"T-' in head and b'"created"' in head

    def facts_of(self, path: Path, fields: p.Json) -> p.Json:
        tree = next(iter(objects_at(fields, "env.initial.trees")), p.Json())
        ends = [text_at(trace, "endTime") for trace in objects_at(fields, "meta.traces")]
        folder = unquote(text_at(tree, "uri").removeprefix("file://"))
        return {**fields, "folder": folder, "ended": max(ends, default=None)}

    def result(self, name: str, block: p.Json, ledger: p.Ledger) -> Result:
        run, call = object_at(block, "run"), text_at(block, "toolUseID")
        if not call:
            return super().result(name, block, ledger)
        value = run.get("result")
        shown = value_at(object_in(value), "output", "content", "diff")
        error = text_at(run, "error.message", "error") or text_at(run, "status")
        text = self.output(value if shown is None else shown, ledger)
        return Result(call, error if value is None else text)


_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_START = re.compile(rb'^\s*\{"type":\s*"session_start"')
_KNOWN = re.compile(r"session_start|session_settings|session_end|todo_state|agent_turn_outcome")
_TASK = "# Task Tool Invocation"
"""Begins the title of a sub-agent's session."""


class Droid(LogFormat):
    """Droid, whose lines are a tree, with the settings of a session in a file beside it."""

    program, title = "droid", "Droid"
    folders = (".factory",)
    patterns = ("sessions/**/*.jsonl",)
    name = ("sessionTitle", "title")
    project = ("cwd",)
    created = ("begun",)
    updated = ("ended",)
    version = ("version",)
    sub_agent = ("callingSessionId", "is_task")
    role = ("message.role",)
    roles = SPEAKERS
    message_id = ("id",)
    content = ("message.content",)
    time = ("timestamp",)
    todos = ("todos",)
    one_model = True
    parent = ("parentId",)
    without_words = "injected text"
    file_types = ("source.media_type",)
    file_data = ("source.data",)

    def parts(self, path: Path) -> Iterable[Path]:
        return path, path.with_suffix(".settings.json")

    def recognises(self, path: Path, head: bytes) -> bool:
        return path.suffix == ".jsonl" and _START.match(head) is not None

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        settings = object_if_there(source.path.with_suffix(".settings.json"))
        for talk in super().talks(source, ledger):
            yield replace(talk, facts={**talk.facts, "model": settings.get("model")})

    def facts_in(self, records: Iterable[p.Json]) -> p.Json:
        facts = p.Json()
        for record in records:
            match record.get("type"):
                case "session_start":
                    facts |= record
                    facts["is_task"] = text_at(record, "title").startswith(_TASK)
                case "todo_state":
                    facts["todos"] = objects_at(record, "todos.todos", "todos")
                case _:
                    pass
            if time := record.get("timestamp"):
                facts.setdefault("begun", time)
                facts["ended"] = time
        return facts

    def turn_before(self, record: p.Json, before: str, reading: Reading) -> str:
        """The message that one follows; older lines name none and follow each other."""
        known = reading.known
        if self.sums_up(record, reading):
            return text_at(record, "anchorMessage.id") or known.get("last", "")
        parent = text_at(record, "parentId") or ("" if "tree" in known else known.get("last", ""))
        if record.get("type") == "message":
            known["last"] = text_at(record, "id") or before
        if record.get("parentId"):
            known["tree"] = "yes"
        return parent

    def sums_up(self, record: p.Json, reading: Reading) -> bool:
        return record.get("type") == "compaction_state" and bool(record.get("summaryText"))

    def summary_in(self, record: p.Json, reading: Reading) -> str:
        return text_at(record, "summaryText")

    def reason_without_role(self, record: p.Json) -> str:
        kind = record.get("type")
        return super().reason_without_role(record) if kind == "message" else skipped(kind, _KNOWN)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        """What a record says; of the user's texts, without what was put beside them."""
        for piece in super().pieces(record, whole, reading):
            if isinstance(piece, str) and whole.role == "user":
                yield _REMINDER.sub("", piece).strip()
            else:
                yield piece


_MARK = re.compile(QWEN_CODE)
_INJECTED = {"notification", "goal_runtime"}
"""Kinds of messages in the user's name that the user has not written."""
_SYSTEM = re.compile(
    r"agent_\w+|at_command|attribution_snapshot|background_task_completed|branch_checkpoint"
    r"|custom_title|file_history_snapshot|goal_\w+|managed_session_\w+|omni_recall|parent_session"
    r"|rewind|session_\w+|slash_command|turn_(attempt|result)|ui_telemetry|user_text_elements"
)
_ERROR = "qwen-code.api_error"


class QwenCode(LogFormat):
    """Qwen Code, whose lines are a tree; the last one ends the branch that is shown."""

    program, title = "qwen-code", "Qwen Code"
    source_id = ("sessionId",)
    name = ("customTitle",)
    project = ("cwd",)
    created = ("begun",)
    updated = ("ended",)
    version = ("version",)
    sub_agent = ("isSidechain",)
    role = ("type",)
    roles = {"user": "user", "assistant": "assistant", "tool_result": "tool"}
    message_id = ("uuid",)
    content = ("message.parts",)
    time = ("timestamp",)
    sent = ("usageMetadata.promptTokenCount",)
    received = ("usageMetadata.candidatesTokenCount",)
    parent = ("parentUuid",)
    summary = ("subtype", "chat_compression")

    def find(self, places: p.Places) -> Iterator[p.Source]:
        home = places.named("QWEN_HOME", places.home / ".qwen")
        folder = places.named("QWEN_RUNTIME_DIR", home)
        return places.sources(folder, "projects/*/chats/**/*.jsonl")

    def recognises(self, path: Path, head: bytes) -> bool:
        # VS Code's messages have parts, too.
        is_line = path.suffix == ".jsonl" and b'"parentUuid"' in head
        return is_line and _MARK.search(head) is not None

    def facts_in(self, records: Iterable[p.Json]) -> p.Json:
        """The facts, and how answers ended: their requests may have failed or been cancelled."""
        facts: p.Json = {"ends": {}, "typed": {}}
        last, failed, typed = p.Json(), "", ""
        for record in records:
            for field in ("sessionId", "cwd", "isSidechain"):
                facts.setdefault(field, record.get(field))
            facts.setdefault("begun", record.get("timestamp"))
            facts["ended"] = max(facts.get("ended", ""), text_at(record, "timestamp"))
            for field in ("version", "model"):
                facts[field] = text_at(record, field) or facts.get(field)
            if record.get("type") != "system":
                if record.get("type") == "assistant":
                    # It was tried again.
                    facts["ends"].pop(failed, None)
                elif typed and record.get("type") == "user":
                    facts["typed"][text_at(record, "uuid")] = typed
                    typed = ""
                last, failed = record, ""
                continue
            typed = text_at(record, "systemPayload.userText") or typed
            if given := text_at(record, "systemPayload.customTitle"):
                facts["customTitle"] = given
            if end := _end_in(record):
                # Of several tries, the last one counts.
                facts["ends"].pop(failed, None)
                failed = "" if last.get("type") == "assistant" else text_at(record, "uuid")
                facts["ends"][failed or text_at(last, "uuid")] = end
        return facts

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        end = reading.talk.facts["ends"].get(name)
        if end and record.get("type") == "system":
            reading.ledger.read += 1
            return (replace(self.whole(record, name, "assistant", reading), content=""),)
        return super().said(record, name, reading)

    def whole(self, record: p.Json, name: str, role: Role, reading: Reading) -> p.ForeignMessage:
        whole = super().whole(record, name, role, reading)
        status, error = reading.talk.facts["ends"].get(name, (None, None))
        return replace(whole, status=status, error=error)

    def role_of(self, record: p.Json) -> Role | None:
        if record.get("isSidechain") is True or text_at(record, "subtype") in _INJECTED:
            return None
        return super().role_of(record)

    def reason_without_role(self, record: p.Json) -> str:
        if record.get("isSidechain") is True:
            return "sub-agent"
        if text_at(record, "subtype") in _INJECTED:
            return "injected text"
        if record.get("type") != "system":
            return super().reason_without_role(record)
        return skipped(record.get("subtype"), _SYSTEM)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        """What a record says; of a prompt that was expanded, what the user has typed."""
        typed = ""
        if record.get("type") == "user":
            given = reading.talk.facts["typed"].get(text_at(record, "uuid"), "")
            typed = text_at(record, "systemPayload.displayText") or given
        parts = objects_in(value_at(record, *self.content))
        if typed:
            yield typed
            parts = [each for each in parts if not isinstance(each.get("text"), str)]
        yield from self.pieces_in(parts, whole.id, reading.ledger)

    def mark(self, name: str, block: p.Json) -> str:
        size = base64_size(value_at(block, "inlineData.data"))
        kind = text_at(block, "inlineData.mimeType", "fileData.mimeType")
        return attachment(
            text_at(block, "inlineData.displayName", "fileData.displayName"), kind, size
        )

    def object_text(self, value: p.Json, ledger: p.Ledger) -> str:
        return text_at(value, "output") or super().object_text(value, ledger)

    def summary_in(self, record: p.Json, reading: Reading) -> str:
        first = next(iter(objects_at(record, "systemPayload.compressedHistory")), p.Json())
        return self.whole_text(first.get("parts"), reading.ledger)


def _end_in(record: p.Json) -> tuple[str, str | None] | None:
    """The status and the error that a record tells of an answer."""
    event = object_at(record, "systemPayload.uiEvent")
    if event.get("event.name") == _ERROR and not event.get("subagent_name"):
        if event.get("error_type") == "APIUserAbortError":
            return "interrupted", None
        return "failed", text_at(event, "error_message", "error_type", "error") or "failed"
    match text_at(record, "systemPayload.state"):
        case "cancelled":
            return "interrupted", None
        case "error":
            return "failed", text_at(record, "systemPayload.error.message") or "failed"
        case _:
            return None
