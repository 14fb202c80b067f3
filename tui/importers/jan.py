"""Jan's threads: a folder each, with its facts and a file of messages."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tui.domain.journal.message import ToolCall
from tui.importers import protocol as p
from tui.importers.answers import Piece, Result, messages
from tui.importers.contents import arguments, blocks, joined, title
from tui.importers.json_lines import object_in, objects, objects_in, text_in, whole_if_there
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc
from tui.importers.vendor_messages import link

_FACTS = "thread.json"
_MESSAGES = "messages.jsonl"
_STATUS = {"stopped": "interrupted", "error": "failed"}


def _find(places: p.Places) -> Iterator[p.Source]:
    data = [base / "Jan" / "data" for base in (places.config, places.data, places.app_support)]
    for folder in dict.fromkeys([*data, places.home / "jan"]):
        for path in places.glob(folder, f"threads/*/{_MESSAGES}"):
            if (path.parent / _FACTS).is_file():
                yield p.Source.of(path.parent, *_parts(path))


def _parts(path: Path) -> tuple[Path, ...]:
    folder = path if path.is_dir() else path.parent
    return folder / _MESSAGES, folder / _FACTS


def _recognises(path: Path, _: bytes) -> bool:
    folder = path.parent if path.name == _MESSAGES else path
    return (folder / _FACTS).is_file() and (folder / _MESSAGES).is_file()


def _read(source: p.Source, _: p.Ledger) -> Iterator[p.Conversation]:
    folder = source.path if source.path.is_dir() else source.path.parent
    facts = object_in(whole_if_there(folder / _FACTS))
    assistants = objects_in(facts.get("assistants"))
    used = [object_in(each.get("model")) for each in (facts, *assistants)]
    heading = p.Heading(
        source_id=text_in(facts.get("id")) or folder.name,
        name=title(facts.get("title")),
        created_at=utc(facts.get("created")),
        updated_at=utc(facts.get("updated")),
        model=next((model for each in used if (model := text_in(each.get("id")))), ""),
    )
    yield p.Conversation.of(heading, partial(_items, heading.source_id, folder / _MESSAGES))


def _items(thread: str, path: Path, ledger: p.Ledger) -> Iterator[p.Item]:
    ids = MadeIds(thread)
    for line in objects(path, ledger):
        said = _said(line.value, ids, ledger)
        if said:
            ledger.read += 1
        yield from said


def _said(record: p.Json, ids: MadeIds, ledger: p.Ledger) -> tuple[p.ForeignMessage, ...]:
    role = text_in(record.get("role"))
    if role not in ("user", "assistant", "tool"):
        ledger.skipped["system prompt" if role == "system" else "unknown role"] += 1
        return ()
    pieces = [*_pieces(record)]
    name = text_in(record.get("id"))
    known = ids.within(name) if name else ids.make(role, repr(pieces))
    whole_record = p.ForeignMessage(known, "assistant", None, utc(record.get("created_at")))
    if role == "tool":
        call = text_in(record.get("tool_call_id")) or whole_record.id
        text = joined(piece for piece in pieces if isinstance(piece, str))
        return (replace(whole_record, role="tool", content=text, tool_call_id=call),)
    status = _STATUS.get(text_in(record.get("status"))) if role == "assistant" else None
    said = messages(replace(whole_record, role=role, status=status), pieces)
    if not said:
        ledger.skipped["empty message"] += 1
    return said


def _pieces(record: p.Json) -> Iterator[Piece]:
    """The text, calls and results of a message, whose thinking is left out."""
    for block in blocks(record.get("content")):
        match block.get("type"):
            case "text":
                text = block.get("text")
                yield _spoken(text_in(text) or text_in(object_in(text).get("value")))
            case "image_url":
                yield link(text_in(object_in(block.get("image_url")).get("url")))
            case "tool_call":
                name = text_in(block.get("tool_call_id")) or "call"
                tool_name = text_in(block.get("tool_name"))
                yield ToolCall(name, tool_name, arguments(block.get("input")))
                if (output := block.get("output")) is not None:
                    yield Result(name, _result(output))
            case _:
                pass
    for call in objects_in(object_in(record.get("metadata")).get("tool_calls")):
        tool = object_in(call.get("tool"))
        function = object_in(tool.get("function"))
        name = text_in(tool.get("id")) or "call"
        yield ToolCall(name, text_in(function.get("name")), arguments(function.get("arguments")))
        if response := object_in(call.get("response")):
            yield Result(name, _result(response))


def _spoken(text: str) -> str:
    """A text without the thinking before it."""
    thought, end, rest = text.partition("</think>")
    return rest.lstrip() if end and thought.lstrip().startswith("<think>") else text


def _result(output: Any) -> str:
    if isinstance(output, str):
        return output
    value = object_in(output)
    parts = blocks(value.get("content") if "content" in value else output)
    return joined(text_in(part.get("text")) or text_in(part.get("error")) for part in parts)


READER = p.Reader("jan", "Jan", _find, _recognises, _read, parts=_parts)
