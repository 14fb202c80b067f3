"""Sessions of Qwen Code: a file of lines each, whose messages have Google's parts."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from tui.domain.journal.message import Role
from tui.importers import protocol as p
from tui.importers.answers import Piece
from tui.importers.contents import attachment, base64_size
from tui.importers.formats import Log, Reading
from tui.importers.json_lines import objects_in, text_in
from tui.importers.json_paths import object_at, objects_at, text_at, value_at
from tui.importers.kinds import QWEN_CODE, skipped

_SUB_AGENT = "sub-agent"
_MARK = re.compile(QWEN_CODE)
_INJECTED = {"notification", "goal_runtime"}
"""Kinds of messages in the user's name that the user has not written."""
_SYSTEM = re.compile(
    r"agent_\w+|at_command|attribution_snapshot|background_task_completed|branch_checkpoint"
    r"|custom_title|file_history_snapshot|goal_\w+|managed_session_\w+|omni_recall|parent_session"
    r"|rewind|session_\w+|slash_command|turn_(attempt|result)|ui_telemetry|user_text_elements"
)
_ERROR = "qwen-code.api_error"


class QwenCode(Log):
    """Qwen Code, whose lines are a tree; the last one ends the branch that is shown."""

    program, title = "qwen-code", "Qwen Code"
    source_id = ("sessionId",)
    name = ("customTitle",)
    project = ("cwd",)
    created = ("begun",)
    updated = ("ended",)
    version = ("version",)
    role = ("type",)
    roles = {"user": "user", "assistant": "assistant", "tool_result": "tool"}
    message_id = ("uuid",)
    content = ("message.parts",)
    time = ("timestamp",)
    sent = ("usageMetadata.promptTokenCount",)
    received = ("usageMetadata.candidatesTokenCount",)
    parent = ("parentUuid",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        home = places.named("QWEN_HOME", places.home / ".qwen")
        folder = places.named("QWEN_RUNTIME_DIR", home)
        return places.sources(folder, "projects/*/chats/**/*.jsonl")

    def recognises(self, path: Path, head: bytes) -> bool:
        # VS Code's messages have parts, too.
        is_line = path.suffix == ".jsonl" and b'"parentUuid"' in head
        return is_line and _MARK.search(head) is not None

    def left_out(self, facts: p.Json) -> str:
        return _SUB_AGENT if facts.get("isSidechain") is True else ""

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
                    facts["typed"][text_in(record.get("uuid"))] = typed
                    typed = ""
                last, failed = record, ""
                continue
            typed = text_at(record, "systemPayload.userText") or typed
            if given := text_at(record, "systemPayload.customTitle"):
                facts["customTitle"] = given
            if end := _end_in(record):
                # Of several tries, the last one counts.
                facts["ends"].pop(failed, None)
                failed = "" if last.get("type") == "assistant" else text_in(record.get("uuid"))
                facts["ends"][failed or text_in(last.get("uuid"))] = end
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
        if record.get("isSidechain") is True or text_in(record.get("subtype")) in _INJECTED:
            return None
        return super().role_of(record)

    def reason_without_role(self, record: p.Json) -> str:
        if record.get("isSidechain") is True:
            return _SUB_AGENT
        if text_in(record.get("subtype")) in _INJECTED:
            return "injected text"
        if record.get("type") != "system":
            return super().reason_without_role(record)
        return skipped(record.get("subtype"), _SYSTEM)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        """What a record says; of a prompt that was expanded, what the user has typed."""
        typed = ""
        if record.get("type") == "user":
            given = reading.talk.facts["typed"].get(text_in(record.get("uuid")), "")
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

    def sums_up(self, record: p.Json, reading: Reading) -> bool:
        return record.get("subtype") == "chat_compression"

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


READER = QwenCode().reader()
