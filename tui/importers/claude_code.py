"""Claude Code: a file for each conversation, whose lines form a tree.

A file is read twice: all its lines, of which only places and links are kept (``claude_code_tree``),
then those with words, in the order of the tree. Sessions on the web are exported as one object with
the array of the lines.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from tui.domain.journal.message import Role, TokenUsage, ToolCall
from tui.importers import contents
from tui.importers import protocol as p
from tui.importers.claude_code_lines import (
    DECODER,
    Line,
    Parts,
    is_failure,
    model_of,
    own_words,
    parts_of,
    result_text,
)
from tui.importers.claude_code_tree import FileIndex, Step, Tree, id_of
from tui.importers.json_lines import object_in, objects_in, raw_lines, text_in
from tui.importers.kinds import QWEN_CODE
from tui.importers.message_blocks import call_in
from tui.importers.times import utc
from tui.importers.trees import AGAIN
from tui.importers.two_passes import Place, read_again

SUB_AGENT = "sub-agent"
_MARKS = re.compile(
    rb'"(parentUuid|leafUuid|toolUseResult|customTitle|aiTitle|isSidechain)"\s*:'
    rb'|"type"\s*:\s*"(file-history-snapshot|queue-operation|permission-mode|mode|last-prompt)"'
    rb'|"type"\s*:\s*"(user|assistant)"[^\n{}]{0,1000}"message"\s*:\s*\{'
    rb'|"sessionId"\s*:.*"message"\s*:\s*\{\s*"role"\s*:'
)
_OF_OTHERS = re.compile(rb'^\s*\{\s*"kind"\s*:|' + QWEN_CODE)
"""Marks of others that have some of these, too: VS Code and Qwen Code."""
_EXPORT = re.compile(rb'^\s*\{[^{}\[\]]*"loglines"\s*:\s*\[')
_COUNTS = (
    *("input_tokens", "output_tokens"),
    *("cache_read_input_tokens", "cache_creation_input_tokens"),
)
_TRUNCATED = ("max_tokens", "model_context_window_exceeded")

_CREATED = re.compile(r"Task #(\w+) created")


class TodoLog:
    """The to-dos of the lines of a conversation; ``current`` is the list after the last of them."""

    def __init__(self) -> None:
        self.current: p.ForeignTodos | None = None
        self._tasks: dict[str, p.Json] = {}
        self._asked_for: dict[str, p.Json] = {}

    def add(self, parts: Parts) -> None:
        for call in parts.calls:
            self._add_call(call, object_in(call.get("input")))
        for result in parts.results:
            asked = self._asked_for.pop(text_in(result.get("tool_use_id")), None)
            created = _CREATED.search(result_text(result)) if asked is not None else None
            if created and asked is not None:
                self._tasks[created[1]] = {**asked, "content": asked.get("subject")}
                self._set(list(self._tasks.values()))

    def _add_call(self, call: p.Json, given: p.Json) -> None:
        match call.get("name"):
            case "TodoWrite" if isinstance(listed := given.get("todos"), list):
                self._tasks.clear()
                self._set(objects_in(cast("Any", listed)))
            case "TaskCreate":
                self._asked_for[text_in(call.get("id"))] = given
            case "TaskUpdate":
                self._update(text_in(given.get("taskId")), given)
            case _:
                pass

    def _update(self, number: str, given: p.Json) -> None:
        task = self._tasks.get(number)
        if task is None:
            return
        if given.get("status") == "deleted":
            del self._tasks[number]
        else:
            changes = {key: given[key] for key in ("status", "activeForm") if given.get(key)}
            content = given.get("subject") or task.get("content")
            self._tasks[number] = {**task, **changes, "content": content}
        self._set(list(self._tasks.values()))

    def _set(self, items: list[p.Json]) -> None:
        self.current = contents.todos(
            (each.get("content"), each.get("status"), each.get("activeForm")) for each in items
        )


def _find(places: p.Places) -> Iterator[p.Source]:
    roots = [places.named("CLAUDE_CONFIG_DIR", places.home / ".claude")]
    if not places.environment.get("CLAUDE_CONFIG_DIR", "").strip():
        roots.append(places.config / "claude")
    if places.is_mac:
        desktop = places.app_support / "Claude" / "local-agent-mode-sessions"
        roots += places.glob(desktop, "**/.claude")
    for root in roots:
        for path in places.glob(root, "projects/*/*.jsonl"):
            if not _is_sub_agent(path) and path.is_file():
                yield p.Source.of(path)


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix == ".json":
        return bool(_EXPORT.match(head))
    return path.suffix == ".jsonl" and bool(_MARKS.search(head) and not _OF_OTHERS.search(head))


def _is_sub_agent(path: Path) -> bool:
    return path.name.startswith("agent-") or path.parent.name == "subagents"


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    if _is_sub_agent(source.path):
        ledger.skipped[SUB_AGENT] += sum(1 for _ in raw_lines(source.path))
        return
    index = Tree(source.path).index()
    if not index.steps:
        ledger.add(index.ledger)
        return
    yield p.Conversation(index.heading, lambda: _items(source.path, index), index.ledger)


def _items(path: Path, index: FileIndex) -> Iterator[p.Item]:
    file, unused = index.heading.source_id, p.Ledger()
    todos = TodoLog()
    last = {"": ""}
    with read_again(path, DECODER) as line_at:

        def placed(places: Iterable[Place]) -> Iterator[_Placed]:
            for place in places:
                line = line_at(place)
                parts = parts_of(line, unused)
                yield _Placed(id_of(line, place.number, file), line, parts)

        for node in index.order:
            step = index.steps[node.id.removesuffix(AGAIN)]
            writer = _StepWriter(step, last[node.parent], AGAIN if node.id.endswith(AGAIN) else "")
            lines = list(placed(step.lines))
            yield from writer.messages(lines)
            yield from writer.summaries(placed(step.summaries))
            # The same text once, for most.
            last[node.id] = node.id if writer.last == node.id else writer.last
            for each in lines:
                todos.add(each.parts)
    if todos.current:
        yield todos.current


class _Placed(NamedTuple):
    id: str
    line: Line
    parts: Parts


class _StepWriter:
    """Makes the messages of one step."""

    def __init__(self, step: Step, parent: str, ending: str) -> None:
        self.last = parent
        self._step = step
        self._ending = ending
        self._open: list[str] = []

    def messages(self, lines: list[_Placed]) -> Iterator[p.Item]:
        if answers := [each for each in lines if each.line.role == "assistant"]:
            yield self._answer(answers)
        others = [each for each in lines if each.line.role == "user"]
        for each in others:
            for number, result in enumerate(each.parts.results):
                yield self._result(each, number, result)
        for name, line, parts in others:
            if line.is_compact_summary is True:
                message, summary = contents.earlier(parts.text, name + self._ending)
                yield self._message(name, line, message.role, content=message.content)
                yield summary
            elif said := own_words(line, parts):
                yield self._message(_numbered(name, len(parts.results)), line, "user", content=said)

    def summaries(self, lines: Iterator[_Placed]) -> Iterator[p.ForeignSummary]:
        for each in lines:
            if each.parts.text and self.last:
                yield p.ForeignSummary(each.parts.text, self.last)

    def _answer(self, lines: list[_Placed]) -> p.ForeignMessage:
        name, first, _ = lines[0]
        final = lines[-1].line
        texts = dict.fromkeys(text for each in lines for text in each.parts.texts)
        text = contents.joined(texts)
        calls = _calls(name, (block for each in lines for block in each.parts.calls))
        failed = is_failure(final)
        self._open = [call.id for call in calls]
        return self._message(
            name,
            first,
            "assistant",
            content=None if failed or not text else text,
            tool_calls=calls,
            status=self._status(final),
            error=text if failed else None,
            model=model_of(final) or None,
            usage=_usage([each.line for each in lines]),
        )

    def _status(self, final: Line) -> str | None:
        if is_failure(final):
            return "failed"
        if self._step.interrupted or final.is_aborted_mid_stream is True:
            return "interrupted"
        return "truncated" if object_in(final.message).get("stop_reason") in _TRUNCATED else None

    def _result(self, placed: _Placed, number: int, block: p.Json) -> p.ForeignMessage:
        name = _numbered(placed.id, number)
        call = text_in(block.get("tool_use_id")) or next(iter(self._open), f"{name}-call")
        if call in self._open:
            self._open.remove(call)
        content = result_text(block)
        return self._message(name, placed.line, "tool", content=content, tool_call_id=call)

    def _message(self, name: str, line: Line, role: Role, **fields: Any) -> p.ForeignMessage:
        parent, self.last = self.last, name + self._ending
        return p.ForeignMessage(
            self.last, role, timestamp=utc(line.timestamp), parent=parent, **fields
        )


def _numbered(name: str, number: int) -> str:
    return f"{name}-{number}" if number else name


def _calls(name: str, found: Iterable[p.Json]) -> tuple[ToolCall, ...]:
    calls: dict[str, ToolCall] = {}
    for number, block in enumerate(found, 1):
        call = call_in(block, f"{name}-{number}")
        calls.setdefault(call.id, call)
    return tuple(calls.values())


def _usage(lines: list[Line]) -> TokenUsage | None:
    for line in reversed(lines):
        counts = object_in(object_in(line.message).get("usage"))
        if usage := contents.usage_beside_cache(counts, *_COUNTS):
            return usage
    return None


READER = p.Reader("claude-code", "Claude Code", _find, _recognises, _read, revision=1)
