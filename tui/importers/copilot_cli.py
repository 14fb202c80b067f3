"""GitHub's Copilot CLI: a file of events for each conversation."""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tui.domain.journal.message import Role, ToolCall
from tui.files import read_bounded
from tui.importers import contents
from tui.importers import protocol as p
from tui.importers.block_yaml import Unfit, load
from tui.importers.json_lines import RawLine, object_in, text_in, whole
from tui.importers.json_paths import object_at, objects_at, text_at, time_at
from tui.importers.made_ids import MadeIds
from tui.importers.message_blocks import Blocks, call_in, skipped
from tui.importers.times import utc
from tui.importers.two_passes import Log

_MARK = re.compile(
    rb'"type"\s*:\s*"(session\.(start|resume)|user\.message|assistant\.(message|turn_start))"'
    rb'|"chatMessages"\s*:'
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SKIPPED = re.compile(
    r"session\.((auto_)?mode_(changed|resolved)|(plan|context|workspace_file|background_tasks)_changed"
    r"|remote_steerable_changed|idle|info|warning|handoff|truncation|snapshot_rewind|shutdown"
    r"|usage_(info|checkpoint)|compaction_start|task_complete|binary_asset|tools_updated"
    r"|(skills|extensions|mcp_servers)_loaded|custom_agents_updated|mcp_server_status_changed"
    r"|custom_notification|schedule_\w+)"
    r"|assistant\.(turn_(start|end)|intent|usage|thinking|\w+_delta)|pending_messages\.modified"
    r"|tool\.(execution_(partial_result|progress)|user_requested)|system\.notification"
    r"|(capabilities|commands)\.changed|auto_mode_switch\.\w+"
    r"|(hook|permission|subagent|skill|user_input|elicitation|sampling|external_tool|command|mcp"
    r"|exit_plan_mode)\.\w+"
)
_REASONS = {
    "assistant.reasoning": "thinking",
    "tool.execution_start": "duplicate",
    "system.message": "system prompt",
}
_ASSET = b'"type":"session.binary_asset"'
_FACTS = ("session.start", "session.resume", "session.model_change", "session.title_changed")
_COUNTS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_WORKSPACE_BYTES = 1024 * 1024


def _history_items(messages: list[p.Json], source_id: str, ledger: p.Ledger) -> Iterator[p.Item]:
    """The messages of one of the oldest files."""
    ids = MadeIds(source_id)
    for message in messages:
        name, role = ids.make(message), message.get("role")
        is_said = role in ("user", "assistant", "tool")
        ledger.count(is_said, "system prompt")
        if is_said:
            text = _BLOCKS.whole_text(message.get("content"), ledger)
            calls = objects_at(message, "tool_calls") if role == "assistant" else []
            result_of = text_at(message, "tool_call_id") or f"{name}-call"
            yield p.ForeignMessage(
                name,
                role,
                (text or None) if role == "assistant" else text,
                tool_calls=_calls(calls),
                tool_call_id=result_of if role == "tool" else None,
            )


class _Event(msgspec.Struct, rename="camel", gc=False):
    type: Any = None
    data: Any = None
    id: Any = None
    timestamp: Any = None
    agent_id: Any = None

    @property
    def fields(self) -> p.Json:
        return object_in(self.data)

    @property
    def is_of_sub_agent(self) -> bool:
        return bool(self.agent_id or self.fields.get("parentToolCallId"))


_DECODER = msgspec.json.Decoder(_Event)
_BLOCKS = Blocks()


def _find(places: p.Places) -> Iterator[p.Source]:
    root = places.named("COPILOT_HOME", places.home / ".copilot")
    files = "session-state/*/events.jsonl", "session-state/*.jsonl", "history-session-state/*.json"
    return places.sources(root, *files, wanted=Path.is_file)


def _recognises(path: Path, head: bytes) -> bool:
    return path.suffix in (".jsonl", ".json") and bool(_MARK.search(head))


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    if source.path.suffix != ".json":
        yield from _EventLog(source.path).read(ledger)
        return
    value = object_in(whole(source.path))
    if messages := objects_at(value, "chatMessages"):
        source_id = text_at(value, "sessionId") or source.path.stem
        heading = p.Heading(source_id, created_at=time_at(value, "startTime"))
        counts = p.Ledger()
        yield p.Conversation(heading, partial(_history_items, messages, source_id, counts), counts)
    else:
        ledger.skipped["unreadable file"] += 1


class _EventLog(Log[_Event]):
    def __init__(self, path: Path) -> None:
        super().__init__(path, _DECODER)
        self._workspace = _workspace(path)
        found = self.facts
        found.source_id = path.parent.name if path.name == "events.jsonl" else path.stem
        found.project_path = text_at(self._workspace, "cwd")
        found.created_at = self._workspace.get("created_at")

    def is_wanted(self, start: bytes) -> bool:
        return _ASSET not in start[:256]

    def damage(self, raw: RawLine) -> str:
        is_asset = not raw.is_whole and not self.is_wanted(raw.data)
        return "session binary asset" if is_asset else raw.damage

    def add(self, line: _Event, raw: RawLine) -> str:
        fields, found = line.fields, self.facts
        self.add_time(line.timestamp)
        match line.type:
            case "session.start" | "session.resume":
                found.source_id = text_at(fields, "sessionId") or found.source_id
                found.project_path = found.project_path or text_at(fields, "context.cwd")
                found.version = text_at(fields, "copilotVersion") or found.version
                found.model = text_at(fields, "selectedModel") or found.model
            case "session.model_change":
                found.model = text_at(fields, "newModel") or found.model
            case "session.title_changed":
                found.name = text_at(fields, "title") or found.name
            case "assistant.message" if not line.is_of_sub_agent:
                found.model = text_at(fields, "model") or found.model
            case _:
                pass
        return ""

    def heading(self) -> p.Heading:
        given = text_at(self._workspace, "name")
        is_own = self._workspace.get("user_named") is True
        self.facts.name = ("" if is_own else contents.title(self.facts.name)) or given
        return super().heading()

    def said(self, lines: Iterator[_Event]) -> Iterator[p.Item]:
        talk = _Talk(self.facts.source_id, self.ledger)
        for line in lines:
            yield from talk.add(line)
        yield from talk.end()


def _workspace(path: Path) -> p.Json:
    """The fields of the file beside the events, without those that cannot be read."""
    found = p.Json()
    if path.name != "events.jsonl":
        return found
    with suppress(OSError):
        data = read_bounded(path.with_name("workspace.yaml"), _WORKSPACE_BYTES, follow=True)
        for field in re.split(r"\n(?=\w)", data.decode("utf-8", "replace")):
            with suppress(Unfit):
                found |= object_in(load(field).value)
    return found


class _Talk(msgspec.Struct, eq=False):
    """Makes messages of events, one after the other."""

    _source_id: str
    _ledger: p.Ledger
    _number: int = 0
    _seen: set[str] = set()
    _model: str = ""
    _parent: str = ""
    _answer: p.ForeignMessage | None = None
    _part_of: str = ""
    _results: list[p.ForeignMessage] = []
    _counts: dict[str, p.Json] = {}

    def add(self, event: _Event) -> Iterator[p.Item]:
        self._number += 1
        if event.is_of_sub_agent:
            self._ledger.skipped["sub-agent"] += 1
            return
        match event.type:
            case "user.message":
                yield from self._prompt(event)
            case "assistant.message":
                yield from self._said(event)
            case "tool.execution_complete":
                made = self._message(event, "tool", _result_text(event.fields))
                if made is not None:
                    call = text_at(event.fields, "toolCallId") or f"{made.id}-call"
                    self._results.append(replace(made, tool_call_id=call))
            case "session.compaction_complete":
                yield from self._compacted(event)
            case "abort":
                self._ledger.read += 1
                if self._answer:
                    self._answer = replace(self._answer, status="interrupted")
            case "session.error":
                error = text_at(event.fields, "message") or "error"
                yield from self.end()
                if failed := self._message(event, "assistant", None):
                    self._answer = replace(failed, status="failed", error=error)
                yield from self.end()
            case "session.usage_record":
                self._ledger.read += 1
                counts = object_at(event.fields, "usage")
                self._counts = {text_at(counts, "apiCallId"): counts}
            case kind if kind in _FACTS:
                self._ledger.read += 1
                model = event.fields.get("newModel") or event.fields.get("selectedModel")
                self._model = text_in(model) or self._model
            case kind:
                self._ledger.skipped[_REASONS.get(text_in(kind)) or skipped(kind, _SKIPPED)] += 1

    def end(self) -> Iterator[p.Item]:
        held = [*([self._answer] if self._answer else []), *self._results]
        self._answer, self._results, self._part_of = None, [], ""
        for message in held:
            yield replace(message, parent=self._parent)
            self._parent = message.id

    def _prompt(self, event: _Event) -> Iterator[p.Item]:
        said = _BLOCKS.whole_text(event.fields.get("content"), self._ledger)
        attached = map(_attachment, objects_at(event.fields, "attachments"))
        text = contents.joined([said, *attached])
        if not text:
            self._ledger.skipped["empty message"] += 1
            return
        yield from self.end()
        self._answer = self._message(event, "user", text)
        yield from self.end()

    def _said(self, event: _Event) -> Iterator[p.Item]:
        text = _BLOCKS.whole_text(event.fields.get("content"), self._ledger)
        calls = _calls(objects_at(event.fields, "toolRequests"))
        if not text.strip() and not calls:
            reason = "thinking" if event.fields.get("reasoningText") else "empty message"
            self._ledger.skipped[reason] += 1
            return
        part_of = text_at(event.fields, "messageId")
        answer = self._answer
        if answer and part_of and part_of == self._part_of and not self._results:
            self._ledger.read += 1
            self._answer = replace(
                answer,
                content=(answer.content or "") + text or None,
                tool_calls=(*answer.tool_calls, *calls),
            )
            return
        yield from self.end()
        model = text_at(event.fields, "model") or self._model
        made = self._message(event, "assistant", text or None)
        if made is not None:
            # The token counts of the request are told before the answer.
            counts = self._counts.pop(text_at(event.fields, "apiCallId"), p.Json())
            usage = contents.usage(*map(counts.get, _COUNTS))
            self._part_of = part_of
            self._answer = replace(made, tool_calls=calls, model=model or None, usage=usage)

    def _compacted(self, event: _Event) -> Iterator[p.Item]:
        text = text_at(event.fields, "summaryContent")
        yield from self.end()
        if not text.strip() or not self._parent:
            self._ledger.skipped["summary without text or messages"] += 1
            return
        self._ledger.read += 1
        yield p.ForeignSummary(text, self._parent)

    def _message(self, event: _Event, role: Role, text: str | None) -> p.ForeignMessage | None:
        """A message that is counted; ``None`` if it was there before."""
        name = text_in(event.id) or f"~{self._number}"
        name = name if _UUID.fullmatch(name) else f"{self._source_id}:{name}"
        if name in self._seen:
            self._ledger.skipped["duplicate"] += 1
            return None
        self._seen.add(name)
        self._ledger.read += 1
        return p.ForeignMessage(name, role, text, utc(event.timestamp))


def _attachment(attached: p.Json) -> str:
    name = text_at(attached, "displayName", "path")
    size = attached.get("byteLength")
    return contents.attachment(name, text_at(attached, "mimeType"), size and f"{size} bytes")


def _calls(found: list[p.Json]) -> tuple[ToolCall, ...]:
    return tuple(call_in(call, f"call-{number}") for number, call in enumerate(found, 1))


def _result_text(fields: p.Json) -> str:
    text = text_at(fields, "result.content", "result.detailedContent")
    told = text_at(fields, "error", "error.message")
    pictures = [
        contents.placeholder(
            "image", text_at(block, "mimeType"), contents.base64_size(block.get("data"))
        )
        for block in objects_at(fields, "result.contents")
        if block.get("type") == "image"
    ]
    return contents.joined([text or told, *pictures])


READER = p.Reader("copilot-cli", "GitHub Copilot CLI", _find, _recognises, _read, revision=1)
