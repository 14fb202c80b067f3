"""Sessions of Kimi: the contexts that Kimi CLI keeps, and the logs of Kimi Code.

Kimi Code takes over what Kimi CLI has: such a session has the same ids in both, and is one.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import md5
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from tui.importers import protocol as p
from tui.importers.contents import blocks, earlier, joined
from tui.importers.formats import Reading, Talk, line_values
from tui.importers.json_lines import object_if_there
from tui.importers.json_paths import object_at, objects_at, text_at, time_at, value_at
from tui.importers.made_ids import made_id
from tui.importers.message_blocks import skipped
from tui.importers.trees import TreeTurn
from tui.importers.vendor_sessions import VendorFormat

_CONTEXT, _WIRE, _STATE = "context.jsonl", "wire.jsonl", "state.json"
_MARKS = {"_system_prompt": "system prompt", "_checkpoint": "checkpoint", "_usage": "token count"}
_MARK = re.compile(rb'"role":\s*"_(?:system_prompt|checkpoint|usage)"')
_NUMBERED = re.compile(r"context_(\d+)\.jsonl")
_SUMMARY = re.compile(r"<system>Previous context has been compacted\..*?</system>\s*", re.DOTALL)
_INJECTED = re.compile(r"\s*<(?:system>|system-reminder>|notification )")
_TYPED = {"", "user", "shell_command"}
"""Origins of what the user has written."""
_KNOWN = re.compile(
    r"metadata|forked|(config|cron|full_compaction|goal|interaction|interruptionReminder|llm|mcp"
    r"|micro_compaction|permission|plan|plan_mode|plugin|profile|prompt|runtime|staleGuard"
    r"|swarm_mode|task|token_counting|tools|tower_mode|turn|usage)\.\w+"
    r"|context\.(update_token_count|clear|undo)|step\.end"
)
_FACTS = 50
"""Lines at the beginning of a log that may name its folder and its model."""


class _Link(NamedTuple):
    """A turn of the conversation that is shown."""

    name: str
    is_said: bool
    is_prompt: bool


class Kimi(VendorFormat):
    """Kimi CLI and Kimi Code."""

    program, title = "kimi", "Kimi"
    source_id = ("custom.kimi_cli_session_id",)
    name = ("custom_title", "title")
    project = ("folder", "workDir", "cwd")
    created = ("createdAt", "begun")
    updated = ("updatedAt", "ended")
    model = ()
    sub_agent = ("is_sub_agent",)
    time = ("time",)
    said_by = ("model",)
    finish = ("status",)
    statuses = {"interrupted": "interrupted", "truncated": "truncated"}
    failure = ("error",)
    sent = ("usage.inputOther",)
    received = ("usage.output",)
    cached = ("usage.inputCacheRead",)
    cache_written = ("usage.inputCacheCreation",)
    todos = ("todos",)
    todo_fields = ("title",)
    parent = ("before",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        old = places.named("KIMI_SHARE_DIR", places.home / ".kimi")
        for path in places.glob(old, "sessions/*/*"):
            if (path / _CONTEXT).is_file() or (path.suffix == ".jsonl" and path.is_file()):
                yield p.Source.of(path, *self.parts(path))
        new = places.named("KIMI_CODE_HOME", places.home / ".kimi-code")
        yield from places.sources(new, f"sessions/*/*/agents/main/{_WIRE}", parts=self.parts)

    def parts(self, path: Path) -> Iterable[Path]:
        if path.name == _WIRE:
            return path, path.parents[2] / _STATE
        folder = path.parent if path.name == _CONTEXT else path
        if not folder.is_dir():
            return (path,)
        return *_contexts(folder), folder / _WIRE, folder / _STATE

    def recognises(self, path: Path, head: bytes) -> bool:
        if not head:
            return (path / _CONTEXT).is_file()
        if path.name == _WIRE:
            return b'"protocol_version"' in head and b'"created_at"' in head
        return path.suffix == ".jsonl" and _MARK.search(head) is not None

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path = source.path
        if path.name == _WIRE:
            yield _logged(path)
        else:
            yield _kept(path.parent if path.name == _CONTEXT else path)

    def turns(self, reading: Reading) -> Iterator[TreeTurn]:
        chain: list[_Link] = []
        for number, record in enumerate(reading.talk.records(reading.ledger)):
            name = str(number)
            if isinstance(length := record.get("cut"), int):
                del chain[length:]
            elif isinstance(count := record.get("undone"), int):
                prompts = [place for place, link in enumerate(chain) if link.is_prompt]
                del chain[prompts[-count] if 0 < count <= len(prompts) else len(chain) :]
            elif text := text_at(record, "summary"):
                reading.ledger.read += 1
                before = chain[: len(chain) - record.get("kept", 0)]
                through = next((link.name for link in reversed(before) if link.is_said), "")
                if through:
                    yield TreeTurn(name, through, (p.ForeignSummary(text, ""),))
                else:
                    yield TreeTurn(name, "", earlier(text, reading.ids.make("summary", text)))
                    chain.append(_Link(name, is_said=True, is_prompt=False))
            else:
                said = self.said(record, "", reading)
                yield TreeTurn(name, chain[-1].name if chain else "", said)
                link = _Link(name, bool(said), bool(said) and record.get("role") == "user")
                # What is in no context has no place of its own there.
                if record.get("beside") and chain:
                    chain[-1] = link
                else:
                    chain.append(link)
        reading.known["leaf"] = chain[-1].name if chain else ""

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        return reading.known["leaf"]

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        origin = object_at(record, "origin")
        kind, trigger = text_at(origin, "kind"), text_at(origin, "trigger")
        by_program = kind not in _TYPED and trigger != "user-slash"
        is_injected = by_program or _INJECTED.match(_first_text(record.get("content")))
        if record.get("role") == "user" and is_injected:
            return reading.skip("injected text")
        return super().said(record, name, reading)


def _first_text(content: Any) -> str:
    return next((text for each in blocks(content) if (text := text_at(each, "text"))), "")


# Kimi CLI: its context is begun again by a compaction or when it goes back; the old one is kept.


def _contexts(folder: Path) -> list[Path]:
    numbers = {
        path: int(found[1])
        for path in folder.iterdir()
        if (found := _NUMBERED.fullmatch(path.name))
    }
    return [*sorted(numbers, key=numbers.__getitem__), folder / _CONTEXT]


def _kept(path: Path) -> Talk:
    """The conversation of a folder, or of a context alone."""
    wire = _Wire(path / _WIRE)
    state = object_if_there(path / _STATE)
    old = object_if_there(path / "metadata.json")
    known = object_if_there(path.parents[2] / "kimi.json")
    folders = [text_at(each, "path") for each in objects_at(known, "work_dirs")]
    hashes = {
        md5(each.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(): each
        for each in folders
    }
    facts = {
        "custom_title": state.get("custom_title"),
        "title": old.get("title"),
        "todos": state.get("todos"),
        "folder": next((each for mark, each in hashes.items() if mark in path.parent.name), ""),
        "begun": wire.begun,
        "ended": wire.ended,
        "is_sub_agent": path.parent.name == "subagents",
    }
    name = path.name.removesuffix(".jsonl")
    return Talk(path, facts, partial(_records, path), name)


def _records(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    """The messages of contexts, without those that one has taken over from the one before it."""
    wire = _Wire(path / _WIRE)
    before: list[str] = []
    begin = length = 0
    """Where the context and what follows it have their places in the conversation."""
    for file in _contexts(path) if path.is_dir() else [path]:
        found = list(_messages(file, ledger)) if file.is_file() else []
        ids = [made_id(*map(each.get, ("role", "content", "tool_calls"))) for each in found]
        same = takewhile(lambda pair: pair[0] == pair[1], zip(ids, before, strict=False))
        kept = sum(1 for _ in same)
        first = _first_text(found[0].get("content")) if found else ""
        if not kept and _SUMMARY.match(first):
            most = min(len(ids) - 1, len(before))
            kept = next((n for n in range(most, 0, -1) if ids[1 : n + 1] == before[-n:]), 0)
            texts = (text_at(each, "text") for each in blocks(found[0].get("content")))
            yield {"summary": _SUMMARY.sub("", joined(texts), count=1), "kept": kept}
            begin = length - kept - 1 if length else 0
            length, found = max(length, 1), found[1:]
        elif kept:
            length = begin + kept
            yield {"cut": length}
        else:
            begin = length
        if kept:
            ledger.skipped["duplicate"] += kept
        for record in found[kept:]:
            yield from wire.timed(record)
        length += len(found) - kept
        before = ids
    yield from wire.left()


def _messages(path: Path, ledger: p.Ledger) -> Iterator[p.Json]:
    for record in line_values(path, ledger):
        if reason := _MARKS.get(text_at(record, "role")):
            ledger.skipped[reason] += 1
        else:
            yield record


class _Wire:
    """What a session's events know beside its contexts: times, and answers that were stopped."""

    def __init__(self, path: Path) -> None:
        self.begun: str | None = None
        self.ended: str | None = None
        self._times: dict[str, list[str]] = {}
        self._stopped: list[tuple[str, str]] = []
        said: list[str] = []
        for record in line_values(path, p.Ledger()) if path.is_file() else ():
            time, payload = time_at(record, "timestamp"), object_at(record, "message.payload")
            if time is None:
                continue
            self.begun, self.ended = self.begun or time, time
            match text_at(record, "message.type"):
                case "TurnBegin" | "SteerInput":
                    self._add(_first_text(payload.get("user_input")), time)
                    said = []
                case "ContentPart" if text := text_at(payload, "text"):
                    self._add(text, time)
                    said.append(text)
                case "ToolCall":
                    self._add(f"call {payload.get('id')}", time)
                case "ToolResult":
                    self._add(f"result {payload.get('tool_call_id')}", time)
                case "StepBegin":
                    said = []
                case "StepInterrupted" if said:
                    self._stopped.append((time, joined(said)))
                case _:
                    pass

    def _add(self, key: str, time: str) -> None:
        self._times.setdefault(made_id(key), []).append(time)

    def timed(self, record: p.Json) -> Iterator[p.Json]:
        """A message with its time, behind the answers that were stopped before it."""
        calls = objects_at(record, "tool_calls")
        keys = [f"call {call.get('id')}" for call in calls]
        if answered := record.get("tool_call_id"):
            keys.append(f"result {answered}")
        elif text := _first_text(record.get("content")):
            keys.append(text)
        found = [times.pop(0) for key in keys if (times := self._times.get(made_id(key)))]
        time = found[0] if found else None
        while time and self._stopped and self._stopped[0][0] < time:
            yield _stopped(*self._stopped.pop(0))
        yield {**record, "time": time}

    def left(self) -> Iterator[p.Json]:
        return (_stopped(*each) for each in self._stopped)


def _stopped(time: str, text: str) -> p.Json:
    answer = {"role": "assistant", "content": text, "status": "interrupted"}
    return {**answer, "time": time, "beside": True}


# Kimi Code: a log of all that happened, in which an answer is told part by part.


def _logged(path: Path) -> Talk:
    folder = path.parents[2]
    begun = list(islice(line_values(path, p.Ledger()), _FACTS))
    named = (text_at(each, "cwd", "environmentDisclosure.cwd") for each in begun)
    facts = {
        **object_if_there(folder / _STATE),
        "folder": next(filter(None, named), ""),
        "begun": next((each.get("created_at") for each in begun), None),
        "model": next(filter(None, (text_at(each, "model", "modelAlias") for each in begun)), ""),
        "is_sub_agent": path.parent.name != "main" and path.parent.parent.name == "agents",
    }
    log = partial(_Log, facts)
    return Talk(path, facts, lambda ledger: log(ledger).read(path), folder.name)


class _Log:
    """The messages of a log while it is read."""

    def __init__(self, facts: p.Json, ledger: p.Ledger) -> None:
        self._facts = facts
        self._ledger = ledger
        self._model: str = facts["model"]
        self._answer: p.Json | None = None
        self._results: list[p.Json] = []

    def read(self, path: Path) -> Iterator[p.Json]:
        for record in line_values(path, self._ledger):
            self._model = text_at(record, "model", "modelAlias") or self._model
            match text_at(record, "type"):
                case "context.append_message":
                    yield from self._ended()
                    yield {**object_at(record, "message"), "time": record.get("time")}
                case "context.append_loop_event":
                    yield from self._event(object_at(record, "event"), record.get("time"))
                case "context.apply_compaction":
                    yield from self._ended()
                    message = value_at(record, "summary.content")
                    text = text_at(record, "summary", "contextSummary") or _first_text(message)
                    yield {"summary": text}
                case kind:
                    self._ledger.skipped[skipped(kind, _KNOWN)] += 1
                    yield from self._control(kind, record)
        yield from self._ended()

    def _control(self, kind: str, record: p.Json) -> Iterator[p.Json]:
        """What a record does that says nothing."""
        match kind:
            case "context.undo":
                yield from self._ended()
                yield {"undone": record.get("count")}
            case "turn.ended" if record.get("reason") == "failed":
                error = text_at(record, "error.message") or "failed"
                failed = {"status": "failed", "error": error}
                self._answer = self._answer or self._begun(record.get("time"))
                yield from self._ended(**failed)
            case "turn.ended" | "turn.cancel":
                yield from self._ended()
            case "tools.update_store" if record.get("key") == "todo":
                self._facts["todos"] = record.get("value")
            case _:
                pass

    def _begun(self, time: Any) -> p.Json:
        return {"role": "assistant", "content": [], "tool_calls": [], "time": time}

    def _event(self, event: p.Json, time: Any) -> Iterator[p.Json]:
        kind, part = text_at(event, "type"), object_at(event, "part")
        if kind == "step.begin" or (kind in ("content.part", "tool.call") and not self._answer):
            yield from self._ended()
            self._answer = self._begun(time)
        answer = self._answer or p.Json()
        match kind:
            case "step.begin":
                pass
            case "content.part" if part.get("type") == "think":
                self._ledger.skipped["thinking"] += 1
                answer["thinking"] = True
            case "content.part":
                self._ledger.read += 1
                parts = objects_at(answer, "content")
                if (text := text_at(part, "text")) and parts and text_at(parts[-1], "text"):
                    parts[-1]["text"] += text
                else:
                    answer["content"].append(part)
            case "tool.call":
                self._ledger.read += 1
                call = {"id": event.get("toolCallId"), "name": event.get("name")}
                answer["tool_calls"].append({**call, "arguments": event.get("args")})
            case "tool.result":
                output = value_at(event, "result.output", "result.message")
                result = {"role": "tool", "tool_call_id": event.get("toolCallId")}
                self._results.append({**result, "content": output, "time": time})
                if not self._answer:
                    yield from self._ended()
            case _:
                self._ledger.skipped[skipped(kind, _KNOWN)] += 1
                if kind == "step.end":
                    answer["usage"] = event.get("usage")
                    cut = event.get("finishReason") == "max_tokens"
                    yield from self._ended("truncated" if cut else None)

    def _ended(
        self, status: str | None = "interrupted", error: str | None = None
    ) -> Iterator[p.Json]:
        """The answer that was begun, and the results of its calls."""
        answer, results = self._answer, self._results
        self._answer, self._results = None, []
        if answer and (
            error or any(answer.get(key) for key in ("content", "tool_calls", "thinking"))
        ):
            yield {**answer, "status": status, "error": error, "model": self._model}
        elif answer:
            self._ledger.skipped["empty message"] += 1
        yield from results
