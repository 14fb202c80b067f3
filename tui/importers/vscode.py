"""VS Code's chats: a file each, of one JSON object or, since version 1.109, of its changes."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.branches import TreeTurn, linked
from tui.importers.contents import arguments, joined, placeholder, title, todos
from tui.importers.json_file import content
from tui.importers.json_lines import (
    UNREADABLE,
    items_in,
    object_in,
    objects,
    objects_in,
    text_in,
    whole_if_there,
)
from tui.importers.times import utc

_CANCELLED, _FAILED = 2, 3
_ATTACHED = {"directory", "file", "image", "paste"}
_TOOL = "toolInvocationSerialized"
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


def last_state(path: Path, ledger: p.Ledger) -> p.Json:
    """Make the object as it was last; a change that fits nowhere is counted. Raises ``OSError``."""
    state: p.Json = {}
    for line in objects(path, ledger):
        change = line.value
        if change.get("kind") == _SNAPSHOT and isinstance(change.get("v"), dict):
            state = object_in(change["v"])
        elif not _change(state, change):
            ledger.skipped[UNREADABLE] += 1
    return state


def _change(state: p.Json, change: p.Json) -> bool:
    """Make a change, if it fits."""
    path = change.get("k")
    if not isinstance(path, list) or not 0 < len(cast("list[Any]", path)) <= _DEEPEST:
        return False
    *way, last = cast("list[Any]", path)
    place: Any = state
    for step in way:
        place = _at(place, step)
    kind = change.get("kind")
    if kind == _PUSH:
        return _push(place, last, change)
    value = change.get("v") if kind == _SET else None
    return kind in (_SET, _DELETE) and _put(place, last, value)


def _at(place: Any, step: Any) -> Any:
    if not _leads(place, step):
        return None
    return cast("p.Json", place).get(step) if isinstance(place, dict) else place[step]


def _put(place: Any, step: Any, value: Any) -> bool:
    fits = _leads(place, step)
    if fits:
        place[step] = value
    return fits


def _push(place: Any, step: Any, change: p.Json) -> bool:
    array = _at(place, step)
    if not isinstance(array, list):
        array = []
        if not _put(place, step, array):
            return False
    known, start = cast("list[Any]", array), change.get("i")
    if isinstance(start, int) and start >= 0:
        del known[start:]
    added = change.get("v")
    known.extend(cast("list[Any]", added) if isinstance(added, list) else [])
    return True


def _leads(place: Any, step: Any) -> bool:
    """Tell whether a step is a key of an object, or one of the places of an array."""
    if isinstance(place, dict):
        return isinstance(step, str)
    is_number = isinstance(step, int) and not isinstance(step, bool)
    return isinstance(place, list) and is_number and 0 <= step < len(cast("list[Any]", place))


def _find(places: p.Places) -> Iterator[p.Source]:
    for folder in user_folders(places):
        for pattern in ("workspaceStorage/*/chatSessions/*", "globalStorage/emptyWindow*/*"):
            for path in places.glob(folder, pattern):
                if path.suffix in (".json", ".jsonl") and path.is_file():
                    yield p.Source.of(path)


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix == ".jsonl":
        return bool(_LOG.match(head)) and b'"version"' in head
    return path.suffix == ".json" and b'"responderUsername"' in head


def _read(source: p.Source, _: p.Ledger) -> Iterator[p.Conversation]:
    counts = p.Ledger()
    fields, requests = _content(source.path, counts)
    # Of an export, which has no id and is mostly called chat.json.
    first = next((text_in(each.get("requestId")) for each in requests), "")
    heading = p.Heading(
        source_id=text_in(fields.get("sessionId")) or first or source.path.stem,
        name=title(fields.get("customTitle")) or title(fields.get("computedTitle")),
        project_path=_project(source.path),
        created_at=utc(fields.get("creationDate")),
        updated_at=utc(fields.get("lastMessageDate")),
        model=next((model for each in reversed(requests) if (model := _model(each))), ""),
    )
    yield p.Conversation(heading, partial(_items, heading.source_id, requests, counts), counts)


def _content(path: Path, ledger: p.Ledger) -> tuple[p.Json, list[p.Json]]:
    if path.suffix == ".json":
        return content(path, "requests", ledger)
    fields = last_state(path, ledger)
    requests = objects_in(fields.get("requests"))
    if others := len(items_in(fields.get("requests"))) - len(requests):
        ledger.skipped[UNREADABLE] += others
    return fields, requests


def _project(path: Path) -> str:
    """The folder of the window that the chat was in; a window may have none, or several."""
    facts = object_in(whole_if_there(path.parent.with_name("workspace.json")))
    address = text_in(facts.get("folder"))
    return unquote(urlsplit(address).path) if address.startswith("file:///") else ""


def _model(request: p.Json) -> str:
    return text_in(request.get("modelId")).removeprefix("copilot/")


def _items(session: str, requests: list[p.Json], ledger: p.Ledger) -> Iterator[p.Item]:
    turns: list[TreeTurn] = []
    leaf = ""
    for number, request in enumerate(requests):
        name = text_in(request.get("requestId")) or f"{session}-{number}"
        turn = TreeTurn(name, turns[-1].id if turns else "", _turn(name, request))
        ledger.count(turn.messages, "empty request")
        turns.append(turn)
        if not request.get("shouldBeRemovedOnSend") and request.get("isHidden") is not True:
            leaf = name
    yield from linked(turns, leaf)
    parts = (part for each in reversed(requests) for part in reversed(_response(each)))
    lists = (objects_in(object_in(part.get("toolSpecificData")).get("todoList")) for part in parts)
    if last := next(filter(None, lists), None):
        yield todos(
            (item.get("title"), text_in(item.get("status")).replace("-", "_"), "") for item in last
        )


def _turn(name: str, request: p.Json) -> tuple[p.ForeignMessage, ...]:
    asked = p.ForeignMessage(name, "user", None, utc(request.get("timestamp")))
    ended = object_in(request.get("modelState")).get("completedAt")
    # The time at which an answer was whole, or else the one of its request.
    answered = p.ForeignMessage(
        id=f"{name}-answer",
        role="assistant",
        content=None,
        timestamp=utc(ended) or utc(request.get("timestamp")),
        status=_status(request),
        error=_error(request) or None,
        model=_model(request) or None,
    )
    said = messages(answered, _pieces(name, _response(request)))
    if not said and answered.error:
        said = (answered,)
    return *messages(asked, [_prompt(request)]), *said


def _response(request: p.Json) -> list[p.Json]:
    """The parts of an answer, but for what sub-agents did."""
    marks = ("subAgentInvocationId", "fromSubAgent")
    parts = objects_in(request.get("response"))
    return [part for part in parts if not any(part.get(mark) for mark in marks)]


def _prompt(request: p.Json) -> str:
    message = request.get("message")
    text = text_in(message) or text_in(object_in(message).get("text"))
    variables = objects_in(object_in(request.get("variableData")).get("variables"))
    files = (
        placeholder("image" if each["kind"] == "image" else "file", each.get("name"))
        for each in variables
        if text_in(each.get("kind")) in _ATTACHED
    )
    return joined(chain([text], files))


def _status(request: p.Json) -> str | None:
    state = object_in(request.get("modelState")).get("value")
    if state == _FAILED or _error(request):
        return "failed"
    return "interrupted" if state == _CANCELLED or request.get("isCanceled") is True else None


def _error(request: p.Json) -> str:
    details = object_in(object_in(request.get("result")).get("errorDetails"))
    return text_in(details.get("message"))


def _pieces(name: str, parts: list[p.Json]) -> Iterator[Piece]:
    """The texts of an answer, each until the next call, and the calls with what came of them."""
    numbered = enumerate(parts)
    for is_tool, group in groupby(numbered, lambda each: each[1].get("kind") == _TOOL):
        if is_tool:
            yield from chain.from_iterable(_call(f"{name}-{n}", part) for n, part in group)
        else:
            yield "".join(_text(part) for _, part in group)


def _text(part: p.Json) -> str:
    match part.get("kind"):
        case None | "markdownContent" | "markdownVuln":
            return _words(part) or _words(part.get("content"))
        case "inlineReference":
            target = object_in(part.get("inlineReference"))
            path = text_in((object_in(target.get("uri")) or target).get("path"))
            name = text_in(part.get("name")) or text_in(target.get("name"))
            return f"`{name or path.rpartition('/')[2]}`"
        case "warning" | "confirmation":
            return f"\n\n{_words(part.get('content')) or _words(part.get('message'))}\n\n"
        case _:
            return ""


def _words(value: Any) -> str:
    """Text, also in an object of Markdown."""
    return text_in(value) or text_in(object_in(value).get("value"))


def _call(name: str, part: p.Json) -> Iterator[Piece]:
    details = object_in(part.get("resultDetails"))
    known = text_in(part.get("toolCallId")) or name
    told = _words(part.get("pastTenseMessage")) or _words(part.get("invocationMessage"))
    tool = text_in(part.get("toolId")).removeprefix("copilot_") or "tool"
    yield ToolCall(known, tool, _given(part, details))
    output = details.get("output")
    ended = object_in(object_in(part.get("toolSpecificData")).get("terminalCommandOutput"))
    shown = (_words(each) for each in objects_in(output) if each.get("isText") is not False)
    yield Result(known, text_in(output) or joined(shown) or text_in(ended.get("text")) or told)


def _given(part: p.Json, details: p.Json) -> Any:
    """What a tool was called with, as far as it is shown: the model's own words are not kept."""
    data = object_in(part.get("toolSpecificData"))
    line = data.get("commandLine") or data.get("command")
    if command := text_in(line) or text_in(object_in(line).get("original")):
        return {"command": command}
    if "rawInput" in data:
        return data["rawInput"]
    if details.get("input"):
        return arguments(details["input"])
    return {"shown as": _words(part.get("invocationMessage"))}


READER = p.Reader("vscode", "VS Code", _find, _recognises, _read)
