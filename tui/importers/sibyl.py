"""Sibyl's sessions: a directory each, whose ``session.lisp`` is one form of Common Lisp."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from tui.domain.journal.message import Role, ToolCall
from tui.files import read_bounded
from tui.importers import protocol as p
from tui.importers.contents import earlier, joined
from tui.importers.json_lines import FILE_BYTES, object_in, text_in
from tui.importers.lisp import Dialect, Symbol, as_json, as_object, listed, plist, read_session
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc_of_local

_FILE = "session.lisp"
_ROLES = {":user", ":assistant", ":tool"}
_SLUG = re.compile(r"session-[0-9]{8}-[0-9]{6}-[0-9]{6}-(.+)", re.DOTALL)

_Properties = dict[str, Any]


def _find(places: p.Places) -> Iterator[p.Source]:
    yield from places.sources(places.home, f".sibyl/sessions/*/{_FILE}")


def _recognises(_path: Path, head: bytes) -> bool:
    return head.lstrip().lower().startswith(b"(:repl-session")


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    text = read_bounded(source.path, FILE_BYTES, follow=True).decode("utf-8-sig", "replace")
    if not _recognises(source.path, text[:64].encode()):
        ledger.skipped["unknown format"] += 1
        return
    counts = p.Ledger()
    session = read_session(text, Dialect.COMMON, counts)
    name = text_in(session.properties.get(":id")) or source.path.parent.name
    heading = _heading(name, session.properties, session.messages)
    summary = text_in(session.properties.get(":summary"))
    yield p.Conversation(heading, partial(_items, name, summary, session.messages, counts), counts)


def _heading(name: str, properties: _Properties, messages: list[_Properties]) -> p.Heading:
    slug = _SLUG.fullmatch(name)
    version = plist(properties.get(":repl-session")).get(":session-version")
    times = [time for message in messages if (time := _time(message.get(":timestamp")))]
    return p.Heading(
        source_id=name,
        name=" ".join(slug[1].split()) if slug else "",
        created_at=_time(properties.get(":created-at")) or next(iter(times), None),
        updated_at=times[-1] if times else _time(properties.get(":last-modified")),
        version=str(version or ""),
    )


def _items(
    session: str, summary: str, messages: list[_Properties], ledger: p.Ledger
) -> Iterator[p.Item]:
    ids = MadeIds(session)
    if summary.strip():
        yield from earlier(summary, ids.make("summary"))
    for message in messages:
        value = message[":role"]
        role = value.name if isinstance(value, Symbol) else ""
        if role not in _ROLES:
            ledger.skipped["system prompt" if role == ":system" else "unknown role"] += 1
            continue
        ledger.read += 1
        yield _message(ids, cast("Role", role.removeprefix(":")), message)


def _message(ids: MadeIds, role: Role, message: _Properties) -> p.ForeignMessage:
    content = _text(message.get(":content"))
    result_of = text_in(message.get(":tool-call-id"))
    name = ids.make(role, message.get(":timestamp"), content, result_of)
    return p.ForeignMessage(
        id=name,
        role=role,
        content=content,
        timestamp=_time(message.get(":timestamp")),
        tool_calls=_calls(name, message.get(":tool-calls")) if role == "assistant" else (),
        tool_call_id=(result_of or name) if role == "tool" else None,
    )


def _text(content: Any) -> str | None:
    """The text of a message; that of blocks, which are association lists, joined."""
    if content is None or isinstance(content, str):
        return content
    blocks = [as_object(block) for block in listed(content)]
    return joined(text_in(object_in(block).get("text")) for block in blocks)


def _calls(message: str, value: Any) -> tuple[ToolCall, ...]:
    calls = [plist(call) for call in listed(value)]
    return tuple(
        ToolCall(
            id=text_in(call.get(":id")) or f"{message}-{number}",
            name=text_in(as_json(call.get(":name"))),
            arguments=as_object(call.get(":arguments")),
        )
        for number, call in enumerate(calls)
        if call
    )


def _time(value: Any) -> str | None:
    """Convert a time that is local, though it ends as UTC does."""
    return utc_of_local(value.removesuffix("Z")) if isinstance(value, str) else None


READER = p.Reader("sibyl", "Sibyl", _find, _recognises, _read)
