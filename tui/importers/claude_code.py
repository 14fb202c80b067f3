"""Claude Code: a file for each conversation, whose lines form a tree.

A file is read twice: all its lines, of which only places and links are kept
(``claude_code_lines``), then those with words, in the order of the tree. Sessions on the web are
exported as one object with the array of the lines. The history of prompts is all that is left of
the sessions that Claude Code has deleted.
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from tui.domain.imports import PROMPTS_ONLY
from tui.domain.journal.message import TEXT_BYTES, Role, ToolCall
from tui.files import read_bounded
from tui.importers import claude_code_lines as log
from tui.importers import contents
from tui.importers import protocol as p
from tui.importers.deletions import claude_code_days
from tui.importers.folders import matching
from tui.importers.formats import Format, Reading, Talk
from tui.importers.json_lines import UNREADABLE, decode, object_in, objects_in, raw_lines, text_in
from tui.importers.made_ids import made_id
from tui.importers.message_blocks import OTHERS, call_in
from tui.importers.times import utc
from tui.importers.two_passes import OBJECTS, Place, read_again

_PASTED = re.compile(r"\[(?:Pasted text|\.{3}Truncated text) #(\d+)(?: \+\d+ lines)?\.*\]")
_HASH = re.compile(r"[0-9a-f]{8,64}")
_ENDING = re.compile(
    r"\s*(?:/(?:clear|reset|new|resume|continue|exit|quit)(?:\s.*)?|exit|quit|:w?q!?)\s*", re.DOTALL
)
"""Commands after which another session begins."""
_COMMAND = re.compile(
    r"\s*/(?:[\w:.-]+|(?:add-dir|agents|bashes|branch|bug|color|compact|config|context|copy|cost"
    r"|doctor|effort|export|feedback|help|hooks|ide|login|logout|mcp|memory|model|output-style"
    r"|permissions|plugin|rename|rewind|sandbox|skills|stats|status|tag|tasks|theme|todos|usage"
    r"|vim|voice)\s.*)\s*",
    re.DOTALL,
)
"""Commands without words for a model: all without arguments, and the program's own."""
_NO_PROMPT = "command"
_PAUSE = 4 * 60 * 60 * 1000
"""Milliseconds after which a line that names no session begins another one."""


class _Group(msgspec.Struct):
    """The lines of one session."""

    facts: p.Json
    ledger: p.Ledger
    numbers: Any
    """Two of each line."""
    marks: set[int]
    """What tells lines that are there twice."""


class PromptLog(Format):
    """The prompts that Claude Code keeps when it deletes a session."""

    program, title = "claude-code", "Claude Code"
    source_id = ("sessionId",)
    name = content = ("display",)
    project = ("project",)
    created = time = ("timestamp",)
    updated = ("last",)
    made_of = ("timestamp", "display")

    def is_named(self, path: Path) -> bool:
        """Tell a history from the files of sessions, which have their ids as names."""
        return path.suffix == ".jsonl" and path.name.startswith("history")

    def recognises(self, path: Path, head: bytes) -> bool:
        return self.is_named(path) and head.startswith(b'{"display":')

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        there = {path.stem for path in matching(source.path.parent, "projects/*/*.jsonl", [])}
        for name, group in _groups(source.path, ledger).items():
            facts = {**group.facts, "sessionId": name, "there": name in there}
            lines = partial(_lines, source.path, group.numbers)
            yield Talk(source.path, facts, lines, ledger=group.ledger)

    def left_out(self, facts: p.Json) -> str:
        otherwise = "" if "display" in facts else _NO_PROMPT
        return p.IN_WHOLE_SESSION if facts["there"] else otherwise

    def heading(self, talk: Talk) -> p.Heading:
        heading = super().heading(talk)
        return replace(heading, name=f"{PROMPTS_ONLY}{heading.name}", prompts_only=True)

    def role_of(self, record: p.Json) -> Role | None:
        return None if _is_command(record["display"]) else "user"

    def reason_without_role(self, record: p.Json) -> str:
        return _NO_PROMPT

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[str]:
        """The words of a line, with what was pasted into them as far as that is there."""
        pasted = object_in(record.get("pastedContents"))
        cache = reading.talk.path.parent / "paste-cache"

        def content(mark: re.Match[str]) -> str:
            found = object_in(pasted.get(mark[1]))
            return text_in(found.get("content")) or _cached(cache, found) or mark[0]

        yield _PASTED.sub(content, record["display"])


def _groups(path: Path, ledger: p.Ledger) -> dict[str, _Group]:
    """The lines of each session; those that name none are one up to a pause in their project."""
    groups: dict[str, _Group] = {}
    unnamed: dict[str, tuple[str, float]] = {}
    for raw in raw_lines(path):
        line = decode(raw.data, OBJECTS) if raw.is_whole else None
        display = line.get("display") if line else None
        if line is None or not isinstance(display, str):
            ledger.skipped[raw.damage if line is None else UNREADABLE] += 1
            continue
        project, told = text_in(line.get("project")), line.get("timestamp")
        name, time = text_in(line.get("sessionId")), told if isinstance(told, int | float) else 0
        if not name:
            name, last = unnamed.get(project, ("", time))
            if not name or time - last > _PAUSE:
                name = made_id(project, time, display)
            unnamed[project] = "" if _ENDING.fullmatch(display) else name, max(time, last)
        if (group := groups.get(name)) is None:
            facts = {"project": project, "timestamp": told}
            group = groups[name] = _Group(facts, p.Ledger(), array("q"), set())
        if (mark := hash((time, display))) in group.marks:
            group.ledger.skipped["duplicate"] += 1
            continue
        group.marks.add(mark)
        group.numbers.extend((raw.offset, raw.length))
        group.facts["last"] = told
        if not _is_command(display):
            group.facts.setdefault("display", display[:200])
    return groups


def _lines(path: Path, places: Any, _: p.Ledger) -> Iterator[p.Json]:
    numbers = iter(places)
    with read_again(path, OBJECTS) as line_at:
        yield from map(line_at, map(Place, numbers, numbers))


def _is_command(display: str) -> bool:
    return bool(_COMMAND.fullmatch(display) or _ENDING.fullmatch(display))


def _cached(cache: Path, pasted: p.Json) -> str:
    """A long text that was pasted, from its file; ``""`` if Claude Code has deleted it."""
    name = text_in(pasted.get("contentHash"))
    with suppress(OSError):
        # A hash leads to no other folder.
        if _HASH.fullmatch(name):
            data = read_bounded(cache / f"{name}.txt", TEXT_BYTES, follow=True)
            return data.decode("utf-8", "replace")
    return ""


HISTORY = PromptLog()


_MARKS = re.compile(
    rb'"(parentUuid|leafUuid|toolUseResult|customTitle|aiTitle|isSidechain)"\s*:'
    rb'|"type"\s*:\s*"(file-history-snapshot|queue-operation|permission-mode|mode|last-prompt)"'
    rb'|"type"\s*:\s*"(user|assistant)"[^\n{}]{0,1000}"message"\s*:\s*\{'
    rb'|"sessionId"\s*:.*"message"\s*:\s*\{\s*"role"\s*:'
)
_OF_OTHERS = re.compile(OTHERS)
_EXPORT = re.compile(rb'^\s*\{[^{}\[\]]*"loglines"\s*:\s*\[')
_COUNTS = "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
_TRUNCATED = ("max_tokens", "model_context_window_exceeded")

_CREATED = re.compile(r"Task #(\w+) created")


class TodoLog:
    """The to-dos of the lines of a conversation; ``current`` is the list after the last of them."""

    def __init__(self) -> None:
        self.current: p.ForeignTodos | None = None
        self._tasks: dict[str, p.Json] = {}
        self._asked_for: dict[str, p.Json] = {}

    def add(self, parts: log.Parts) -> None:
        for call in parts.calls:
            self._add_call(call, object_in(call.get("input")))
        for result in parts.results:
            asked = self._asked_for.pop(text_in(result.get("tool_use_id")), None)
            created = _CREATED.search(log.result_text(result)) if asked is not None else None
            if created and asked is not None:
                self._tasks[created[1]] = {**asked, "content": asked.get("subject")}
                self._set(self._tasks.values())

    def _add_call(self, call: p.Json, given: p.Json) -> None:
        match call.get("name"):
            case "TodoWrite" if isinstance(listed := given.get("todos"), list):
                self._tasks.clear()
                self._set(objects_in(cast("Any", listed)))
            case "TaskCreate":
                self._asked_for[text_in(call.get("id"))] = given
            case "TaskUpdate" if (number := text_in(given.get("taskId"))) in self._tasks:
                task = self._tasks[number]
                changes = {key: given[key] for key in ("status", "activeForm") if given.get(key)}
                content = given.get("subject") or task.get("content")
                self._tasks[number] = {**task, **changes, "content": content}
                if given.get("status") == "deleted":
                    del self._tasks[number]
                self._set(self._tasks.values())
            case _:
                pass

    def _set(self, items: Iterable[p.Json]) -> None:
        self.current = contents.todos(items, active="activeForm")


def _find(places: p.Places) -> Iterator[p.Source]:
    roots = [places.named("CLAUDE_CONFIG_DIR", places.home / ".claude")]
    if not places.environment.get("CLAUDE_CONFIG_DIR", "").strip():
        roots.append(places.config / "claude")
    if places.is_mac:
        desktop = places.app_support / "Claude" / "local-agent-mode-sessions"
        roots += places.glob(desktop, "**/.claude")
    for root in roots:
        for each in places.sources(root, "projects/*/*.jsonl", wanted=Path.is_file):
            if not log.is_sub_agent(each.path):
                yield each
        yield from places.sources(root, "history.jsonl")


def _recognises(path: Path, head: bytes) -> bool:
    if HISTORY.recognises(path, head):
        return True
    if path.suffix == ".json":
        return bool(_EXPORT.match(head))
    return path.suffix == ".jsonl" and bool(_MARKS.search(head) and not _OF_OTHERS.search(head))


class _ClaudeCodeFile(log.LineTree):
    """Makes the messages of a file."""

    _todos: TodoLog

    def items(self) -> Iterator[p.Item]:
        self._todos = TodoLog()
        return super().items()

    def said(self, key: str, ending: str) -> Iterator[p.Item]:
        step = self.steps[key]
        lines = [self._said(place) for place in step.lines]
        yield from _messages(step, lines, ending)
        for place in step.summaries:
            if text := self._said(place).parts.text:
                yield p.ForeignSummary(text, "")
        for each in lines:
            self._todos.add(each.parts)

    def _said(self, place: Place) -> "_Said":
        line = self.at(place)
        parts = self.kept_parts.get(place.offset) or log.parts_of(line, p.Ledger())
        return _Said(log.id_of(line, place.number, self.facts.source_id), line, parts)

    def ending(self) -> Iterator[p.Item]:
        if self._todos.current:
            yield self._todos.current


class _Said(NamedTuple):
    id: str
    line: log.Line
    parts: log.Parts


def _messages(step: log.Step, lines: list[_Said], ending: str) -> Iterator[p.Item]:
    waiting: list[str] = []
    if answers := [each for each in lines if each.line.role == "assistant"]:
        answer = _answer(answers, ending, interrupted=step.interrupted)
        waiting = [call.id for call in answer.tool_calls]
        yield answer
    others = [each for each in lines if each.line.role == "user"]
    for name, line, parts in others:
        for number, result in enumerate(parts.results):
            own = f"{name}-{number}" if number else name
            call = text_in(result.get("tool_use_id")) or next(iter(waiting), f"{own}-call")
            if call in waiting:
                waiting.remove(call)
            text, time = log.result_text(result), utc(line.timestamp)
            yield p.ForeignMessage(own + ending, "tool", text, time, tool_call_id=call)
    for name, line, parts in others:
        time = utc(line.timestamp)
        if line.is_compact_summary is True:
            message, summary = contents.earlier(parts.text, name + ending)
            yield replace(message, timestamp=time)
            yield summary
        elif said := log.own_words(line, parts):
            own = f"{name}-{len(parts.results)}" if parts.results else name
            yield p.ForeignMessage(own + ending, "user", said, time)


def _answer(lines: list[_Said], ending: str, *, interrupted: bool) -> p.ForeignMessage:
    name, first, _ = lines[0]
    final = lines[-1].line
    texts = dict.fromkeys(text for each in lines for text in each.parts.texts)
    text = contents.joined(texts)
    calls: dict[str, ToolCall] = {}
    for number, block in enumerate((each for said in lines for each in said.parts.calls), 1):
        call = call_in(block, f"{name}-{number}")
        calls.setdefault(call.id, call)
    counts = (object_in(object_in(each.line.message).get("usage")) for each in reversed(lines))
    usages = (contents.usage_beside_cache(*map(each.get, _COUNTS)) for each in counts)
    failed = log.is_failure(final)
    if failed:
        status = "failed"
    elif interrupted or final.is_aborted_mid_stream is True:
        status = "interrupted"
    else:
        is_cut = object_in(final.message).get("stop_reason") in _TRUNCATED
        status = "truncated" if is_cut else None
    return p.ForeignMessage(
        name + ending,
        "assistant",
        None if failed or not text else text,
        utc(first.timestamp),
        tool_calls=tuple(calls.values()),
        status=status,
        error=text if failed else None,
        model=log.model_of(final) or None,
        usage=next(filter(None, usages), None),
    )


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    if HISTORY.is_named(source.path):
        yield from HISTORY.read(source, ledger)
    else:
        yield from _ClaudeCodeFile(source.path).read(ledger)


READER = p.Reader(
    "claude-code",
    "Claude Code",
    _find,
    _recognises,
    _read,
    revision=1,
    deletion=p.Deletion(claude_code_days, "projects/*/*.jsonl"),
    is_last=HISTORY.is_named,
)
