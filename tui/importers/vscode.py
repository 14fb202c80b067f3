"""VS Code's chats: a file each, of one JSON object or, since version 1.109, of its changes."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.contents import arguments, joined, placeholder, todos
from tui.importers.formats import JsonFile, Reading, Talk, line_values
from tui.importers.json_lines import UNREADABLE, counted_objects, items_in, object_if_there, text_in
from tui.importers.json_paths import object_at, objects_at, text_at, time_at, value_at
from tui.importers.message_blocks import Piece, Result, messages, unknown, unknown_block
from tui.importers.trees import TreeTurn

_CANCELLED, _FAILED = 2, 3
_ATTACHED = {"directory", "file", "image", "paste"}
_TOLD = ("pastTenseMessage", "pastTenseMessage.value")
_TOOL = "toolInvocationSerialized"
_WITHOUT_WORDS = {
    *("progressMessage", "progressTask", "progressTaskSerialized", "undoStop", "codeblockUri"),
    *("textEdit", "textEditGroup", "notebookEdit", "notebookEditGroup", "workspaceEdit", "command"),
    *("prepareToolInvocation", "toolInvocation", "mcpServersStarting", "treeData", "codeCitation"),
    *("references", "reference", "contentReferences", "usedContext", "agentDetection", "thinking"),
    *("extensions", "pullRequest", "multiDiffData", "elicitation", "elicitation2", "move", "hook"),
    *("elicitationSerialized", "autoModeResolution", "externalEdit", "disabledClaudeHooks"),
}
"""Kinds of parts that say nothing of the answer."""
_LOG = re.compile(rb'\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')

_SNAPSHOT, _SET, _PUSH, _DELETE = range(4)
_DEEPEST = 32

_EDITORS = (
    *("Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf"),
    *(".vscode-server/data", ".cursor-server/data"),
)


def user_folders(places: p.Places) -> Iterator[Path]:
    """Name the folder of each editor, whether it is there or not."""
    applications = places.app_support if places.is_mac else places.config
    for editor in _EDITORS:
        yield (places.home if editor.startswith(".") else applications) / editor / "User"


def folder_of(window: Path) -> str:
    """The folder that a window has open, by what its editor keeps of it."""
    address = text_at(object_if_there(window / "workspace.json"), "folder")
    return unquote(urlsplit(address).path) if address.startswith("file:///") else ""


def last_state(path: Path, ledger: p.Ledger) -> p.Json:
    """Make the object as it was last; a change that fits nowhere is counted. Raises ``OSError``."""
    state: p.Json = {}
    for change in line_values(path, ledger):
        if change.get("kind") == _SNAPSHOT and isinstance(change.get("v"), dict):
            state = change["v"]
        elif not _change(state, change):
            ledger.skipped[UNREADABLE] += 1
    return state


def _change(state: p.Json, change: p.Json) -> bool:
    """Make a change, if it fits."""
    path, kind = items_in(change.get("k")), change.get("kind")
    if not 0 < len(path) <= _DEEPEST or kind not in (_SET, _PUSH, _DELETE):
        return False
    place: Any = state
    try:
        for step in path[:-1]:
            place = place[_checked(place, step)]
        last = _checked(place, path[-1])
        if kind != _PUSH:
            place[last] = change.get("v") if kind == _SET else None
            return True
        is_new = isinstance(place, dict) and last not in place
        array = items_in(None if is_new else place[last])
        start = change.get("i")
        kept = array[:start] if isinstance(start, int) and start >= 0 else array
        place[last] = [*kept, *items_in(change.get("v"))]
    except LookupError:
        return False
    return True


def _checked(place: Any, step: Any) -> Any:
    """A step that leads from a place: a key of an object, or a number in an array."""
    is_key = isinstance(place, dict) and isinstance(step, str)
    is_number = isinstance(step, int) and not isinstance(step, bool) and step >= 0
    if is_key or (isinstance(place, list) and is_number):
        return step
    raise LookupError


class VsCode(JsonFile):
    """VS Code, whose requests are a prompt and its answer each."""

    program, title = "vscode", "VS Code"
    revision = 1
    records_key = "requests"
    # An export has no id, and is mostly called chat.json.
    source_id = ("sessionId", "first")
    name = ("customTitle", "computedTitle")
    project = ("folder",)
    created = ("creationDate",)
    updated = ("lastMessageDate",)
    model = ("last_model",)
    message_id = ("requestId",)
    time = ("timestamp",)
    parent = ("before",)
    follows_on = True

    def find(self, places: p.Places) -> Iterator[p.Source]:
        for folder in user_folders(places):
            for each in ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindow*"):
                files = f"{each}/*.json", f"{each}/*.jsonl"
                yield from places.sources(folder, *files, wanted=Path.is_file)

    def recognises(self, path: Path, head: bytes) -> bool:
        if path.suffix == ".jsonl":
            return bool(_LOG.match(head)) and b'"version"' in head
        return path.suffix == ".json" and b'"responderUsername"' in head

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        path, counts = source.path, p.Ledger()
        if path.suffix == ".json":
            yield from super().talks(source, ledger)
            return
        fields = last_state(path, counts)
        requests = counted_objects(fields.get("requests"), counts)
        yield Talk(path, fields, lambda _: requests, path.stem, counts)

    def heading(self, talk: Talk) -> p.Heading:
        requests = list(talk.records(p.Ledger()))
        # The folder of the window that the chat was in; a window may have none, or several.
        models = filter(None, map(self.model_of, reversed(requests)))
        facts = {
            **talk.facts,
            "first": next((text_at(each, "requestId") for each in requests), ""),
            "folder": folder_of(talk.path.parent.parent),
            "last_model": next(models, ""),
        }
        return super().heading(replace(talk, facts=facts))

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        """The last request that was not undone."""
        requests = reading.talk.records(p.Ledger())
        shown = (
            turn.id
            for turn, each in zip(reversed(turns), reversed(list(requests)), strict=True)
            if not each.get("shouldBeRemovedOnSend") and each.get("isHidden") is not True
        )
        return next(shown, "")

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        asked = p.ForeignMessage(name, "user", None, time_at(record, "timestamp"))
        status, error = self.end(record)
        # The time at which an answer was whole, or else the one of its request.
        answered = p.ForeignMessage(
            id=f"{name}-answer",
            role="assistant",
            content=None,
            timestamp=time_at(record, "modelState.completedAt", "timestamp"),
            status=status,
            error=error,
            model=self.model_of(record) or None,
        )
        answers = messages(answered, _pieces(name, _response(record), reading.ledger))
        if not answers and answered.error:
            answers = (answered,)
        said = (*messages(asked, [_prompt(record)]), *answers)
        reading.ledger.count(said, "empty request")
        return said

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        state = value_at(record, "modelState.value")
        error = text_at(record, "result.errorDetails.message")
        if state == _FAILED or error:
            return "failed", error or None
        stopped = state == _CANCELLED or record.get("isCanceled") is True
        return "interrupted" if stopped else None, None

    def model_of(self, record: p.Json) -> str:
        return text_at(record, "modelId").removeprefix("copilot/")

    def ending(self, reading: Reading) -> Iterator[p.Item]:
        requests = reversed(list(reading.talk.records(p.Ledger())))
        parts = (part for each in requests for part in reversed(_response(each)))
        lists = (objects_at(part, "toolSpecificData.todoList") for part in parts)
        if last := next(filter(None, lists), None):
            yield todos(last, "title")


def _response(request: p.Json) -> list[p.Json]:
    """The parts of an answer, but for what sub-agents did."""
    marks = ("subAgentInvocationId", "fromSubAgent")
    parts = objects_at(request, "response")
    return [part for part in parts if not any(part.get(mark) for mark in marks)]


def _prompt(request: p.Json) -> str:
    variables = objects_at(request, "variableData.variables")
    files = (
        placeholder("image" if each["kind"] == "image" else "file", each.get("name"))
        for each in variables
        if text_at(each, "kind") in _ATTACHED
    )
    return joined([text_at(request, "message", "message.text"), *files])


def _pieces(name: str, parts: list[p.Json], ledger: p.Ledger) -> Iterator[Piece]:
    """The texts of an answer, each until the next call, and the calls with what came of them."""
    numbered = enumerate(parts)
    for is_tool, group in groupby(numbered, lambda each: each[1].get("kind") == _TOOL):
        if is_tool:
            for number, part in group:
                yield from _call(f"{name}-{number}", part)
        else:
            yield "".join(_text(part, ledger) for _, part in group)


def _text(part: p.Json, ledger: p.Ledger) -> str:
    match part.get("kind"):
        case None | "markdownContent" | "markdownVuln":
            return text_at(part, "value", "content", "content.value")
        case "inlineReference":
            target = object_at(part, "inlineReference")
            path = text_at(object_at(target, "uri") or target, "path")
            name = text_at(part, "name") or text_at(target, "name")
            return f"`{name or path.rpartition('/')[2]}`"
        case "warning" | "confirmation":
            words = text_at(part, "content", "content.value", "message", "message.value")
            return f"\n\n{words}\n\n"
        case str() as kind if kind in _WITHOUT_WORDS:
            return ""
        case kind:
            ledger.skipped[unknown("block", kind)] += 1
            found = unknown_block(text_in(kind), part)
            return f"\n\n{found}\n\n" if found.words else ""


def _call(name: str, part: p.Json) -> Iterator[Piece]:
    known = text_at(part, "toolCallId") or name
    told = text_at(part, *_TOLD, "invocationMessage", "invocationMessage.value")
    tool = text_at(part, "toolId").removeprefix("copilot_") or "tool"
    yield ToolCall(known, tool, _given(part))
    output = objects_at(part, "resultDetails.output")
    shown = (text_at(each, "value") for each in output if each.get("isText") is not False)
    ended = text_at(part, "toolSpecificData.terminalCommandOutput.text")
    yield Result(known, text_at(part, "resultDetails.output") or joined(shown) or ended or told)


def _given(part: p.Json) -> Any:
    """What a tool was called with, as far as it is shown: the model's own words are not kept."""
    data = object_at(part, "toolSpecificData")
    if command := text_at(data, "commandLine", "command", "commandLine.original"):
        return {"command": command}
    if "rawInput" in data:
        return data["rawInput"]
    if given := value_at(part, "resultDetails.input"):
        return arguments(given)
    return {"shown as": text_at(part, "invocationMessage", "invocationMessage.value")}
