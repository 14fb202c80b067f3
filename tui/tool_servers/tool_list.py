"""The list of a server's tools, bounded: what is offered to a model, and what is left out."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from tui.domain.text.safe_text import make_visible_line, without_surrogates
from tui.domain.tool_servers import OfferedTool
from tui.tool_servers.schemas import UnusableSchema, plain_schema

MOST_TOOLS = 128
LONGEST_DESCRIPTION = 4096
"""In characters."""

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
    server: str,
    identity: str,
    listed: Sequence[object],
    wanted: Sequence[str],
    shown: Callable[[str], str] = str,
    notice: str = "",
) -> ToolList:
    """Take the tools of a list that can be offered; ``wanted`` are their names, none for all.

    ``identity`` is the server's command or address; ``shown`` hides secrets in its words, and
    ``notice`` is a sentence about the list.
    """
    reader = _Reader(server, identity, frozenset(wanted), shown)
    for each in listed:
        reader.take(each)
    missing = [name for name in wanted if name not in reader.seen]
    said = _notice(missing, reader)
    return ToolList(tuple(reader.tools.values()), f"{notice} {said}".strip())


class _Reader:
    def __init__(
        self, server: str, identity: str, wanted: frozenset[str], shown: Callable[[str], str]
    ) -> None:
        self.server = server
        self._identity = identity
        self._wanted = wanted
        self._shown = shown
        self.seen: set[str] = set()
        self.tools: dict[str, OfferedTool] = {}
        self.unusable: list[str] = []
        self.nameless = 0
        self.too_many = 0

    def take(self, listed: object) -> None:
        """Take a tool, unless it is not wanted or cannot be offered."""
        tool = cast("dict[str, Any]", listed) if isinstance(listed, dict) else {}
        name = tool.get("name")
        if self._wanted and name not in self._wanted:
            return
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            self.nameless += 1
            return
        self.seen.add(name)
        if len(self.tools) >= MOST_TOOLS and _called(self.server, name) not in self.tools:
            self.too_many += 1
            return
        try:
            self._add(name, tool)
        except UnusableSchema as error:
            self.unusable.append(f"{_short(name)} ({error})")

    def _add(self, name: str, tool: dict[str, Any]) -> None:
        match tool:
            case {"execution": {"taskSupport": "required"}}:
                raise UnusableSchema("it runs in the background only, which this program cannot do")
            case {"inputSchema": said} | {"input_schema": said} | {"parameters": said}:
                pass
            case _:
                said = None
        schema = plain_schema(said, self._shown)
        words = tool.get("description")
        description = without_surrogates(words) if isinstance(words, str) else ""
        whole = {"type": "object", **cast("dict[str, Any]", said)} if isinstance(said, dict) else {}
        identity = [self._identity, name, description, whole or schema]
        fingerprint = hashlib.sha256(_json(identity)).hexdigest()
        called = _called(self.server, name)
        if called in self.tools:
            if self.tools[called].fingerprint != fingerprint:
                raise UnusableSchema("another tool of this name is offered")
            return
        self.tools[called] = OfferedTool(
            server=self.server,
            name=name,
            called=called,
            description=_cut(self._shown(description)),
            parameters=schema,
            fingerprint=fingerprint,
        )


def _called(server: str, name: str) -> str:
    """The name for a model: safe, and as unique as the tool's own name is at its server."""
    safe = f"{server}__{_UNSAFE.sub('_', name)}"
    if safe == f"{server}__{name}" and len(safe) <= _LONGEST_CALLED:
        return safe
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_HASH_DIGITS]
    return f"{safe[: _LONGEST_CALLED - _HASH_DIGITS - 1]}_{digest}"


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _cut(text: str) -> str:
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return text[: LONGEST_DESCRIPTION - len(_CUT)] + _CUT


def _notice(missing: Sequence[str], reader: _Reader) -> str:
    said: list[str] = []
    if missing:
        said.append(f"It has no tool {_names([*map(_short, missing)])}.")
    if reader.nameless:
        said.append(f"Left out: {reader.nameless:,} without a usable name.")
    if reader.unusable:
        said.append(f"Left out: {_names(reader.unusable)}.")
    if reader.too_many:
        said.append(
            f"Only the first {MOST_TOOLS} tools are offered, {reader.too_many:,} are left out."
            f" Choose with tools = […] in [mcp.{reader.server}]."
        )
    return " ".join(said)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def _short(name: str) -> str:
    return make_visible_line(name[:60])
