"""Agent-Q's sessions: forms that Emacs Lisp has written at first, and Common Lisp since.

A header comment tells one from the other; their names do not.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from tui.domain.journal.message import Role, ToolCall
from tui.files import read_bounded
from tui.importers import protocol as p
from tui.importers.contents import title
from tui.importers.json_lines import FILE_BYTES, text_in
from tui.importers.lisp import (
    Dialect,
    Dotted,
    Symbol,
    as_json,
    as_object,
    listed,
    plist,
    read_session,
)
from tui.importers.made_ids import MadeIds
from tui.importers.times import utc

_HEADER = re.compile(r";+ *Agent-Q Session( v2)?")
_VERSION_2 = re.compile(r"\(\s*:version\s+2\b", re.IGNORECASE)
_HEAD = 4096
_ROLES = {"user", "assistant", "tool"}
_DROPPED = {"system": "system prompt", "debug": "debug message"}
_EPOCH = 2_208_988_800
"""1970 in seconds since 1900, which Common Lisp counts from."""
_UNIVERSAL_FROM = 3_000_000_000

_Properties = dict[str, Any]


def _find(places: p.Places) -> Iterator[p.Source]:
    folder = places.home / ".emacs.d" / "agent-q-sessions"
    yield from places.sources(folder, "session-*.el", "session-*.lisp")


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix not in {".el", ".lisp"}:
        return False
    in_place = path.parent.name == "agent-q-sessions" and path.name.startswith("session-")
    return in_place or _HEADER.search(head.decode("utf-8", "replace")) is not None


def _read(source: p.Source, ledger: p.Ledger) -> Iterator[p.Conversation]:
    text = read_bounded(source.path, FILE_BYTES, follow=True).decode("utf-8-sig", "replace")
    counts = p.Ledger()
    header = _HEADER.search(text, 0, _HEAD)
    is_second = header[1] if header else _VERSION_2.search(text, 0, _HEAD)
    session = read_session(text, Dialect.COMMON if is_second else Dialect.EMACS, counts)
    if not session.messages and ":id" not in session.properties:
        ledger.skipped["unknown format"] += 1
        return
    name = text_in(session.properties.get(":id")) or source.path.stem
    times = [time for message in session.messages if (time := _time(message.get(":timestamp")))]
    heading = p.Heading(
        source_id=name,
        name=title(session.properties.get(":name")),
        created_at=_time(session.properties.get(":created-at")) or next(iter(times), None),
        updated_at=times[-1] if times else _time(session.properties.get(":updated-at")),
        model=text_in(as_json(session.properties.get(":model"))),
        version=str(session.properties.get(":version") or ""),
    )
    yield p.Conversation(heading, partial(_items, name, session.messages, counts), counts)


def _items(session: str, messages: list[_Properties], ledger: p.Ledger) -> Iterator[p.Item]:
    ids = MadeIds(session)
    for message in messages:
        value = message[":role"]
        role = value.name.removeprefix(":") if isinstance(value, Symbol) else text_in(value)
        if role not in _ROLES:
            ledger.skipped[_DROPPED.get(role, "unknown role")] += 1
            continue
        ledger.read += 1
        yield from _messages(ids, cast("Role", role), message)


def _messages(ids: MadeIds, role: Role, message: _Properties) -> Iterator[p.ForeignMessage]:
    """A message, and the results of its calls: they have no ids, and are in its metadata."""
    content, time = text_in(message.get(":content")), _time(message.get(":timestamp"))
    known = text_in(message.get(":id"))
    name = ids.within(known) if known else ids.make(role, time, content)
    metadata = plist(message.get(":metadata"))
    calls = [plist(call) for call in listed(metadata.get(":tool-calls"))]
    yield p.ForeignMessage(
        id=name,
        role=role,
        content=content,
        timestamp=time,
        tool_calls=tuple(_call(f"{name}-{n}", call) for n, call in enumerate(calls)),
        tool_call_id=name if role == "tool" else None,
        model=text_in(as_json(metadata.get(":model"))) or None,
    )
    for number, call in enumerate(calls):
        if isinstance(result := call.get(":result"), str):
            call_id = f"{name}-{number}"
            result_id = ids.within(f"{call_id}-result")
            yield p.ForeignMessage(result_id, "tool", result, time, tool_call_id=call_id)


def _call(name: str, call: _Properties) -> ToolCall:
    arguments = as_object(call.get(":arguments", call.get(":args")))
    return ToolCall(name, text_in(as_json(call.get(":name"))), arguments)


def _time(value: Any) -> str | None:
    """Convert a time of Common Lisp or Emacs."""
    try:
        return utc(_seconds(value))
    except OverflowError:
        return None


def _seconds(value: Any) -> Any:
    """Seconds since 1970, of those since 1900 or 1970, ``(HIGH LOW …)`` or ``(TICKS . HZ)``."""
    match value:
        case int() | float():
            return value - _EPOCH if value >= _UNIVERSAL_FROM else value
        case Dotted(items=(int() as ticks,), tail=int() as per_second) if per_second > 0:
            return ticks / per_second
        case [int() as high, int() as low, *rest]:
            micro = rest[0] if rest and isinstance(rest[0], int) else 0
            return high * 65536 + low + micro / 1e6
        case _:
            return value


READER = p.Reader("agent-q", "Agent-Q", _find, _recognises, _read)
