"""The list of a server's tools, bounded: what is offered to a model, and what is left out."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, cast
from urllib.parse import unquote

import msgspec

from tui.domain.text import make_visible_line, without_surrogates
from tui.domain.tool_servers import OfferedTool
from tui.files import size_words

LONGEST_SCHEMA = 64 * 1024
"""In bytes of JSON."""

Schema = dict[str, Any]

_DEEPEST = 40
_MOST_PARTS = 20_000
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_TABLES_OF_PARTS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS_OF_PARTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_PARTS = frozenset({"additionalProperties", "else", "if", "items", "not", "propertyNames", "then"})
_NAMED = frozenset({"$defs", "definitions"})
# Vendors refuse them at the top of a schema.
_NOT_ON_TOP = frozenset(
    {*("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const")}
    | {"dependentSchemas", "additionalProperties"}
)
_NO_OBJECT = "its schema is not one of an object"


class UnusableSchema(ValueError):
    """A schema that no model can follow; the message is the reason, after a tool's name."""


def plain_schema(said: object, shown: Callable[[str], str] = str) -> Schema:
    """Flatten a schema of arguments; ``shown`` hides secrets in its words.

    References are replaced by what they name, and alternatives on top by one object that allows
    each of them. Raises ``UnusableSchema``.
    """
    if (said is not None and not isinstance(said, dict | bool)) or said is False:
        raise UnusableSchema(_NO_OBJECT)
    root = cast("Schema", said) if isinstance(said, dict) else {}
    _check_depth(root)
    schema = _flat(_Plain(root, shown).part(root))
    _check_depth(schema)
    try:
        text = without_surrogates(json.dumps(schema, ensure_ascii=False, allow_nan=False))
    except ValueError:
        raise UnusableSchema("its schema has a number that is none") from None
    if (size := len(text.encode())) > LONGEST_SCHEMA:
        raise UnusableSchema(f"its schema has {size_words(size)}, more than can be sent")
    return json.loads(text)


class _Plain:
    """Copies a schema without what is no schema in it."""

    def __init__(self, root: Schema, shown: Callable[[str], str]) -> None:
        self._root = root
        self._shown = shown
        self._trail: tuple[str, ...] = ()
        self._parts = 0

    def part(self, said: object) -> Schema:
        """A part of the schema; the part ``true`` allows everything."""
        self._parts += 1
        if self._parts > _MOST_PARTS or len(self._trail) > _DEEPEST:
            raise UnusableSchema("its schema is too large")
        if not isinstance(said, dict):
            return {}
        part = cast("Schema", said)
        if isinstance(ref := part.get("$ref"), str):
            return self._named(ref, {key: each for key, each in part.items() if key != "$ref"})
        values = {key: self._value(key, value) for key, value in part.items()}
        plain = {key: value for key, value in values.items() if value is not None}
        return {"items": {}, **plain} if plain.get("type") == "array" else plain

    def _named(self, ref: str, others: Schema) -> Schema:
        target: Any = self._root if ref.startswith("#") else None
        for step in ref.split("/")[1:]:
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            try:
                target = target[int(name) if isinstance(target, list) else name]
            except (LookupError, TypeError, ValueError):
                target = None
        # A reference to nowhere, or out of the schema, allows everything.
        found = cast("Schema", target) if isinstance(target, dict) else {}
        if ref in self._trail:
            # It contains itself: the inner one is of its type only.
            return self.part({"type": found.get("type"), **others})
        self._trail += (ref,)
        plain = self.part({**found, **others})
        self._trail = self._trail[:-1]
        return plain

    def _value(self, key: str, value: Any) -> Any:
        match key, value:
            case (("description" | "title"), str()):
                return self._shown(value)
            case "default", str() if self._shown(value) != value:
                return None
            case (("type" | "required"), list()):
                texts = [each for each in cast("list[object]", value) if isinstance(each, str)]
                return texts if key == "required" else [e for e in texts if e in _TYPES] or None
            case "required", _:
                return None
            case "type", _:
                return value if value in _TYPES else None
            case _, list() if key in _LISTS_OF_PARTS or key == "items":
                parts = cast("list[object]", value)
                return [self.part(each) for each in parts if each is not False]
            case _, dict() if key in _TABLES_OF_PARTS:
                named = cast("Schema", value).items()
                return {name: self.part(each) for name, each in named if each is not False}
            case _, dict() if key in _PARTS:
                return self.part(cast("Schema", value))
            case _:
                return None if key in _TABLES_OF_PARTS | _LISTS_OF_PARTS | _NAMED else value


def _flat(schema: Schema) -> Schema:
    """One object that allows each alternative: all properties, and what all of them require."""
    if not _may_be_object(schema):
        raise UnusableSchema(_NO_OBJECT)
    properties, required = _merged(schema)
    is_same = properties.keys() == schema.get("properties", {}).keys()
    unwanted = _NOT_ON_TOP - {"additionalProperties"} if is_same else _NOT_ON_TOP
    plain = {key: each for key, each in schema.items() if key not in unwanted}
    needed = {"required": required} if required else {}
    return {**plain, "type": "object", "properties": properties, **needed}


def _merged(schema: Schema) -> tuple[Schema, list[str]]:
    """The properties of a schema with those of its branches, and the required ones."""
    properties: Schema = dict(schema.get("properties", {}))
    required: list[str] = list(schema.get("required", ()))
    for more, needed in _branches(schema.get("allOf", ())):
        properties |= {name: {**properties.get(name, {}), **each} for name, each in more.items()}
        required += needed
    for alternatives in (schema[key] for key in ("anyOf", "oneOf") if key in schema):
        branches = _branches(alternatives)
        if not branches:
            raise UnusableSchema(_NO_OBJECT)
        _add_alternatives(properties, [more for more, _ in branches])
        first, *others = (needed for _, needed in branches)
        required += [name for name in first if all(name in each for each in others)]
    conditional = _branches([schema[key] for key in ("then", "else") if key in schema])
    _add_alternatives(properties, [more for more, _ in conditional])
    undescribed: Schema = {name: {} for name in required if name not in properties}
    return {**properties, **undescribed}, list(dict.fromkeys(required))


def _branches(parts: Sequence[object]) -> list[tuple[Schema, list[str]]]:
    tables = [cast("Schema", each) for each in parts if isinstance(each, dict)]
    return [_merged(each) for each in tables if _may_be_object(each)]


def _may_be_object(schema: Schema) -> bool:
    kinds = schema.get("type", "object")
    return kinds == "object" or (isinstance(kinds, list) and "object" in kinds)


def _add_alternatives(properties: Schema, branches: Sequence[Schema]) -> None:
    """Add the properties of branches to those that hold for all of them."""
    for name in dict.fromkeys(name for more in branches for name in more):
        ways = [more[name] for more in branches if name in more]
        if not properties.get(name):
            properties[name] = ways[0] if ways.count(ways[0]) == len(ways) else {"anyOf": ways}


def _check_depth(schema: Schema) -> None:
    level: list[object] = [schema]
    for _ in range(_DEEPEST):
        tables = [cast("Schema", each).values() for each in level if isinstance(each, dict)]
        lists = [cast("list[object]", each) for each in level if isinstance(each, list)]
        level = list(chain(*tables, *lists))
    if level:
        raise UnusableSchema("its schema is nested too deeply")


MOST_TOOLS = 128
LONGEST_DESCRIPTION = 4096
"""In characters."""

_LONGEST_NAME = 256
_LONGEST_CALLED = 64
_HASH_DIGITS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_CUT = "… (cut)"
_MOST_NAMED = 3


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
    reader = _ToolReader(server, identity, frozenset(wanted), shown)
    for each in listed:
        reader.take(each)
    said = [notice] if notice else []
    if missing := [_short(name) for name in wanted if name not in reader.seen]:
        said.append(f"It has no tool {_names(missing)}.")
    if reader.nameless:
        said.append(f"Left out: {reader.nameless:,} without a usable name.")
    if reader.unusable:
        said.append(f"Left out: {_names(reader.unusable)}.")
    if reader.too_many:
        said.append(
            f"Only the first {MOST_TOOLS} tools are offered, {reader.too_many:,} are left out."
            f" Choose with tools = […] in [mcp.{server}]."
        )
    return ToolList(tuple(reader.tools.values()), " ".join(said))


class _ToolReader(msgspec.Struct, eq=False):
    server: str
    _identity: str
    _wanted: frozenset[str]
    _shown: Callable[[str], str]
    seen: set[str] = set()
    tools: dict[str, OfferedTool] = {}
    unusable: list[str] = []
    nameless: int = 0
    too_many: int = 0

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
        text = json.dumps(identity, sort_keys=True)
        fingerprint = hashlib.sha256(text.encode()).hexdigest()
        called = _called(self.server, name)
        if called in self.tools:
            if self.tools[called].fingerprint != fingerprint:
                raise UnusableSchema("another tool of this name is offered")
            return
        shown = self._shown(description)
        if len(shown) > LONGEST_DESCRIPTION:
            shown = shown[: LONGEST_DESCRIPTION - len(_CUT)] + _CUT
        self.tools[called] = OfferedTool(
            server=self.server,
            name=name,
            called=called,
            description=shown,
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


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def _short(name: str) -> str:
    return make_visible_line(name[:60])
