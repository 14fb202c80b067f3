"""Tasks of Cline and its descendants: what was sent, in Anthropic's form, and what was shown.

The newest keep one file of messages with times and models instead.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tui.domain.journal.message import Role, ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.contents import base64_size, blocks, joined, placeholder, summary, title, usage
from tui.importers.json_file import records_or_rest
from tui.importers.json_lines import object_in, objects_in, text_in, whole_if_there
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc
from tui.importers.vscode import user_folders

API = "api_conversation_history.json"
_SCREEN = "ui_messages.json"
_FACTS = "history_item.json"
_NEWEST = ".messages.json"
_COMPACTED = ".compaction.json"
"""Ends the name of what the model is sent of a session that has become too long."""
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_INJECTED = re.compile(r"<environment_details>.*?</environment_details>\s*", re.DOTALL)
_MARKS = re.compile(r"</?(?:task|feedback|user_message|user_input|answer)(?: mode=\"\w+\")?>\n?")


def extension_tasks(places: p.Places, extension: str) -> Iterator[Path]:
    """Find the tasks of an extension, in all editors that have it."""
    for folder in user_folders(places):
        yield from places.glob(folder, f"globalStorage/{extension}/tasks/*")


def sources(folders: Iterator[Path]) -> Iterator[p.Source]:
    """The tasks that have messages."""
    for folder in folders:
        if (folder / API).is_file():
            yield p.Source.of(folder, *_parts(folder))


def newest_sources(places: p.Places, folder: Path) -> Iterator[p.Source]:
    """The sessions of a folder, each in a folder of its own."""
    for path in places.glob(folder, f"*/*{_NEWEST}"):
        yield p.Source.of(path, *_parts(path))


def _parts(path: Path) -> tuple[Path, ...]:
    if path.name.endswith(_NEWEST):
        return path, _beside(path)
    folder = path if path.is_dir() else path.parent
    return folder / API, folder / _SCREEN, folder / _FACTS


def _beside(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(_NEWEST) + ".json")


def recognises(path: Path, head: bytes) -> bool:
    if path.name.endswith(_NEWEST):
        return b'"messages"' in head or b'"agent"' in head
    return path.name == API or path.name.endswith(_COMPACTED) or (path / API).is_file()


class _Task(NamedTuple):
    """The messages of a task, and what is known of it."""

    heading: p.Heading
    records: list[p.Json]
    times: dict[int, str]
    """By the number of the message, of those that have none of their own."""


def read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    counts = p.Ledger()
    if source.path.name.endswith(_COMPACTED):
        ledger.skipped["duplicate"] += len(records_or_rest(source.path, "messages", ledger))
        return
    if source.path.name.endswith(_NEWEST):
        task = _newest(source.path, counts)
    else:
        folder = source.path if source.path.is_dir() else source.path.parent
        task = _task(folder, counts)
    yield p.Conversation(task.heading, partial(_items, task, counts), counts)


def _newest(path: Path, ledger: p.Ledger) -> _Task:
    records = records_or_rest(path, "messages", ledger)
    facts = object_in(whole_if_there(_beside(path)))
    folder = text_in(facts.get("cwd")) or text_in(facts.get("workspace_root"))
    times = [time for record in records if (time := utc(record.get("ts")))]
    heading = p.Heading(
        source_id=text_in(facts.get("session_id")) or path.name.removesuffix(_NEWEST),
        name=title(object_in(facts.get("metadata")).get("title")),
        project_path=folder if folder.startswith("/") else "",
        created_at=next(iter(times), None) or utc(facts.get("started_at")),
        updated_at=times[-1] if times else utc(facts.get("ended_at")),
        model=text_in(facts.get("model")),
    )
    return _Task(heading, records, {})


def _task(folder: Path, ledger: p.Ledger) -> _Task:
    records = records_or_rest(folder / API, "messages", ledger)
    screen = objects_in(whole_if_there(folder / _SCREEN))
    found = objects_in(whole_if_there(folder.parent.parent / "state" / "taskHistory.json"))
    facts = object_in(whole_if_there(folder / _FACTS)) or next(
        (each for each in found if each.get("id") == folder.name), object_in(None)
    )
    times = [time for record in [*records, *screen] if (time := utc(record.get("ts")))]
    project = text_in(facts.get("workspace")) or text_in(facts.get("cwdOnTaskInitialization"))
    heading = p.Heading(
        source_id=folder.name,
        name=_first_line(
            text_in(facts.get("task"))
            or next((text_in(each.get("text")) for each in screen if each.get("say") == "task"), "")
        ),
        project_path=project if project.startswith("/") else "",
        created_at=min(times, default=None) or utc(folder.name),
        updated_at=max(times, default=None),
        model=text_in(facts.get("modelId")),
    )
    return _Task(heading, records, _times(screen))


def _first_line(text: str) -> str:
    return title(text.strip().partition("\n")[0])


def _times(screen: list[p.Json]) -> dict[int, str]:
    """The times of messages: what the screen shows names the last message before it."""
    times: dict[int, str] = {}
    for each in screen:
        place, time = each.get("conversationHistoryIndex"), utc(each.get("ts"))
        if isinstance(place, int) and time:
            times.setdefault(place, time)
    first = next((time for each in screen if (time := utc(each.get("ts")))), None)
    return {0: first, **times} if first else times


def _items(task: _Task, ledger: p.Ledger) -> Iterator[p.Item]:
    ids = MadeIds(task.heading.source_id)
    last = ""
    ends: dict[str, str] = {}
    for number, record in enumerate(task.records):
        role = _ROLES.get(text_in(record.get("role")))
        if not role:
            ledger.skipped["unknown role"] += 1
            continue
        pieces = list(_pieces(record, role))
        if record.get("isSummary") is True:
            ledger.read += 1
            through = ends.get(text_in(record.get("condenseId")), last)
            text = joined(piece for piece in pieces if isinstance(piece, str))
            yield from summary(text, through, ids)
            continue
        made = messages(_whole(ids, record, role, task.times.get(number)), pieces)
        kinds = [text_in(each.get("type")) for each in blocks(record.get("content"))]
        thought = any("thinking" in kind for kind in kinds)
        ledger.count(made, "thinking" if thought else "injected text")
        for message in made:
            last = message.id
            yield message
        if made and (parent := text_in(record.get("condenseParent"))):
            ends[parent] = last


def _whole(ids: MadeIds, record: p.Json, role: Role, time: str | None) -> p.ForeignMessage:
    """The part that the messages of a record have in common."""
    known = text_in(record.get("id"))
    counts = object_in(record.get("metrics"))
    name = ids.within(known) if known else ids.make(role, record.get("content"))
    return p.ForeignMessage(
        id=name,
        role=role,
        content=None,
        timestamp=utc(record.get("ts")) or time,
        model=text_in(object_in(record.get("modelInfo")).get("id")) or None,
        usage=usage(counts.get("inputTokens"), counts.get("outputTokens")),
    )


def _pieces(record: p.Json, role: Role) -> Iterator[Piece]:
    for block in blocks(record.get("content")):
        match block.get("type"):
            case "text":
                text = text_in(block.get("text"))
                yield _typed(text) if role == "user" else text
            case "tool_use":
                name = text_in(block.get("name"))
                yield ToolCall(text_in(block.get("id")) or name, name, block.get("input"))
            case "tool_result":
                call = text_in(block.get("tool_use_id"))
                yield Result(call, _result(block.get("content")), text_in(block.get("name")))
            case "thinking" | "redacted_thinking" | "reasoning":
                pass
            case _:
                yield _mark(block)


def _typed(text: str) -> str:
    """The words of the user in a text that was sent."""
    return _MARKS.sub("", _INJECTED.sub("", text)).strip() if "<" in text else text


def _result(content: Any) -> str:
    """The text of a result, whose blocks may be any JSON."""
    parts = list(blocks(content))
    if any("type" not in part for part in parts):
        return json.dumps(content, ensure_ascii=False)
    return joined(
        text_in(part.get("text")) if part["type"] == "text" else _mark(part) for part in parts
    )


def _mark(block: p.Json) -> str:
    source = object_in(block.get("source"))
    name = Path(text_in(block.get("path"))).name
    kind = text_in(block.get("type")) or "block"
    return placeholder(kind, name, source.get("media_type"), base64_size(source.get("data")))


def reader(program: str, name: str, find: Any) -> p.Reader:
    """The reader of a program that keeps its tasks so."""
    return p.Reader(program, name, find, recognises, read, parts=_parts)
