"""The list of a server's tools, bounded: what is offered to a model, and what is left out."""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from tui.domain.text.safe_text import make_visible_line, without_surrogates
from tui.domain.tool_servers import OfferedTool

MOST_TOOLS = 128
LONGEST_DESCRIPTION = 4096
"""In characters."""
LONGEST_SCHEMA = 64 * 1024
"""In bytes of JSON."""

_DEEPEST_SCHEMA = 40
_LONGEST_NAME = 256
_LONGEST_CALLED = 64
_HASH_DIGITS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_CUT = "… (cut)"
_NAMED = 3


class ToolList(msgspec.Struct, frozen=True):
    """The tools that are offered, and a sentence about the others."""

    tools: tuple[OfferedTool, ...] = ()
    notice: str = ""


def read_tools(
    server: str, identity: str, listed: Sequence[object], wanted: Sequence[str]
) -> ToolList:
    """Take the tools of a list that can be offered; ``wanted`` are their names, none for all.

    ``identity`` is the server's command or address.
    """
    reader = _Reader(server, identity, frozenset(wanted))
    for each in listed:
        reader.take(each)
    missing = [name for name in wanted if name not in reader.seen]
    return ToolList(tuple(reader.tools), _notice(missing, reader))


class _Reader:
    def __init__(self, server: str, identity: str, wanted: frozenset[str]) -> None:
        self.server = server
        self._identity = identity
        self._wanted = wanted
        self._called: set[str] = set()
        self.seen: set[str] = set()
        self.tools: list[OfferedTool] = []
        self.unusable: list[str] = []
        self.too_many = 0

    def take(self, listed: object) -> None:
        """Take a tool, unless it is not wanted or cannot be offered."""
        tool = cast("dict[str, Any]", listed) if isinstance(listed, dict) else {}
        name = tool.get("name")
        if self._wanted and name not in self._wanted:
            return
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            self.unusable.append("one without a usable name")
            return
        if len(self.tools) >= MOST_TOOLS:
            self.too_many += 1
            return
        self._add(name, tool)
        self.seen.add(name)

    def _add(self, name: str, tool: dict[str, Any]) -> None:
        schema = _schema(tool.get("inputSchema"))
        called = _called(self.server, name)
        if schema is None or called in self._called or _is_task(tool):
            self.unusable.append(name)
            return
        self._called.add(called)
        said = tool.get("description")
        description = without_surrogates(said) if isinstance(said, str) else ""
        identity = [self._identity, name, description, schema]
        self.tools.append(
            OfferedTool(
                server=self.server,
                name=name,
                called=called,
                description=_cut(description),
                parameters=schema,
                fingerprint=hashlib.sha256(_json(identity)).hexdigest(),
            )
        )


def _called(server: str, name: str) -> str:
    """The name for a model: safe, and as unique as the tool's own name is at its server."""
    safe = f"{server}__{_UNSAFE.sub('_', name)}"
    if safe == f"{server}__{name}" and len(safe) <= _LONGEST_CALLED:
        return safe
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_HASH_DIGITS]
    return f"{safe[: _LONGEST_CALLED - _HASH_DIGITS - 1]}_{digest}"


def _schema(said: object) -> dict[str, Any] | None:
    """The schema of the arguments; ``None`` if it is not one of an object, or beyond the limits."""
    if said is None:
        return {"type": "object", "properties": {}}
    if not isinstance(said, dict) or _is_deep(cast("dict[str, Any]", said)):
        return None
    schema = {"type": "object", **cast("dict[str, Any]", said)}
    if schema["type"] != "object":
        return None
    try:
        data = _json(schema)
    except ValueError:
        return None  # it has a number that is none, which no request can carry
    if len(data) > LONGEST_SCHEMA:
        return None
    return json.loads(without_surrogates(json.dumps(schema, ensure_ascii=False)))


def _is_task(tool: dict[str, Any]) -> bool:
    """True for a tool that runs in the background only, which this program has no way to call."""
    match tool:
        case {"execution": {"taskSupport": "required"}}:
            return True
        case _:
            return False


def _is_deep(value: object) -> bool:
    level: Iterable[object] = [value]
    for _ in range(_DEEPEST_SCHEMA):
        level = [inner for each in level for inner in _inner(each)]
        if not level:
            return False
    return True


def _inner(value: object) -> Iterable[object]:
    match value:
        case dict():
            return cast("dict[str, object]", value).values()
        case list():
            return cast("list[object]", value)
        case _:
            return ()


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, allow_nan=False).encode()


def _cut(text: str) -> str:
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return text[: LONGEST_DESCRIPTION - len(_CUT)] + _CUT


def _notice(missing: Sequence[str], reader: _Reader) -> str:
    said: list[str] = []
    if missing:
        said.append(f"It has no tool {_names(missing)}.")
    if reader.unusable:
        said.append(f"Left out, as a model cannot call them: {_names(reader.unusable)}.")
    if reader.too_many:
        said.append(
            f"Only the first {MOST_TOOLS} tools are offered, {reader.too_many:,} are left out."
            f" Choose with tools = […] in [mcp.{reader.server}]."
        )
    return " ".join(said)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(make_visible_line(name[:60]) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown
