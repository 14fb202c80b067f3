"""aichat's sessions: a file of YAML each, named by the user or by the time of its beginning."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from tui.domain.journal.message import ToolCall
from tui.files import read_bounded
from tui.importers import protocol as p
from tui.importers.block_yaml import Unfit, load
from tui.importers.contents import arguments, title
from tui.importers.json_elements import DAMAGED
from tui.importers.json_lines import (
    FILE_BYTES,
    UNREADABLE,
    items_in,
    object_in,
    objects_in,
    text_in,
)
from tui.importers.made_ids import MadeIds, first_ids
from tui.importers.message_blocks import Piece, Result, messages
from tui.importers.times import utc, utc_of_local
from tui.importers.vendor_messages import said

_DATED = re.compile(r"(\d{8}T\d{6})(?:-(.*))?", re.DOTALL)
_FORM = "%Y%m%dT%H%M%S"


def _find(places: p.Places) -> Iterator[p.Source]:
    home = (places.app_support if places.is_mac else places.config) / "aichat"
    sessions = places.named("AICHAT_SESSIONS_DIR", home / "sessions")
    yield from places.sources(sessions, "*.yaml", "_/*.yaml")
    yield from places.sources(home, "agents/*/sessions/**/*.yaml")


def _recognises(path: Path, head: bytes) -> bool:
    has_messages = re.search(rb"(?m)^(compressed_)?messages:", head) is not None
    return path.suffix in {".yaml", ".yml"} and has_messages and b"model:" in head


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    text = read_bounded(source.path, FILE_BYTES, follow=True).decode("utf-8-sig", "replace")
    try:
        document = load(text)
    except Unfit:
        ledger.skipped[DAMAGED] += 1
        return
    counts = p.Ledger()
    if document.skipped:
        counts.skipped[UNREADABLE] += document.skipped
    fields = object_in(document.value)
    heading = _heading(source, text_in(fields.get("model")))
    # Its name is the file's, and other conversations may have it later.
    beginning = first_ids(_items(heading.source_id, fields, p.Ledger()))
    heading = msgspec.structs.replace(heading, beginning=beginning)
    yield p.Conversation(heading, partial(_items, heading.source_id, fields, counts), counts)


def _heading(source: p.Source, model: str) -> p.Heading:
    """The facts that the path has: names are unique within their folder only."""
    path = source.path
    dated = _DATED.fullmatch(path.stem) if path.parent.name == "_" else None
    folder = path.parent.parent if dated else path.parent
    agent = folder.parent.name if folder.parent.parent.name == "agents" else ""
    return p.Heading(
        source_id="/".join(filter(None, (agent, "_" if dated else "", path.stem))),
        name=title(dated[2] if dated else "" if path.stem == "temp" else path.stem),
        created_at=_began(dated[1]) if dated else None,
        updated_at=utc(source.changed),
        model=model,
    )


def _began(text: str) -> str | None:
    try:
        return utc_of_local(datetime.strptime(text, _FORM).isoformat())  # noqa: DTZ007
    except ValueError:
        return None


def _items(session: str, fields: p.Json, ledger: p.Ledger) -> Iterator[p.Item]:
    """The messages, and behind those that were compressed their summary: the next one's text."""
    ids = MadeIds(session)
    through = ""
    for message in _messages(items_in(fields.get("compressed_messages")), ids, ledger):
        yield message
        through = message.id
    live = items_in(fields.get("messages"))
    first = object_in(live[0]) if live else {}
    if through and first.get("role") == "system" and text_in(first.get("content")):
        ledger.read += 1
        yield p.ForeignSummary(text_in(first.get("content")), through)
        live = live[1:]
    yield from _messages(live, ids, ledger)


def _messages(records: list[Any], ids: MadeIds, ledger: p.Ledger) -> Iterator[p.ForeignMessage]:
    for record in records:
        facts = object_in(record)
        if not facts:
            ledger.skipped[UNREADABLE] += 1
        elif results := objects_in(object_in(facts.get("content")).get("tool_results")):
            ledger.read += 1
            yield from _round(object_in(facts.get("content")), results, ids)
        elif message := said(_with_text(facts), ids, ledger):
            yield message


def _with_text(facts: p.Json) -> p.Json:
    """A record whose text looked like a number or a constant, with the text again."""
    value = facts.get("content")
    if isinstance(value, str | list):
        return facts
    return facts | {"content": "" if value is None else json.dumps(value, ensure_ascii=False)}


def _round(content: p.Json, results: list[p.Json], ids: MadeIds) -> tuple[p.ForeignMessage, ...]:
    """The calls of an answer with their results, which are one record."""
    text = text_in(content.get("text"))
    name = ids.make("calls", text, results)
    pieces: list[Piece] = [text]
    answers: list[Piece] = []
    for number, result in enumerate(results):
        call = object_in(result.get("call"))
        call_id = text_in(call.get("id")) or f"{name}-call-{number}"
        tool = text_in(call.get("name"))
        pieces.append(ToolCall(call_id, tool, arguments(call.get("arguments"))))
        output = result.get("output")
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        answers.append(Result(call_id, text, tool))
    return messages(p.ForeignMessage(name, "assistant", None), [*pieces, *answers])


READER = p.Reader("aichat", "aichat", _find, _recognises, _read)
