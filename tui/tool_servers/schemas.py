"""Schemas of arguments in the plain form that every model's server takes.

What is left out of one is only a restriction: the server of the tool checks the arguments anyway.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast
from urllib.parse import unquote

from tui.domain.text.safe_text import without_surrogates
from tui.files import size_words

LONGEST_SCHEMA = 64 * 1024
"""In bytes of JSON."""

Schema = dict[str, Any]

_DEEPEST = 40
_MOST_PARTS = 20_000
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_NAMED = frozenset({"$defs", "definitions"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLE = frozenset(
    {"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
)
# Vendors refuse them at the top of a schema.
_NOT_ON_TOP = frozenset(
    {
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
        *("enum", "const", "$ref", "dependentSchemas"),
    }
)
_NOTHING = object()


class UnusableSchema(ValueError):
    """A schema that no model can follow; the message is the reason, after a tool's name."""


def plain_schema(said: object, shown: Callable[[str], str] = str) -> Schema:
    """Flatten a schema of arguments; ``shown`` hides secrets in its words.

    References are replaced by what they name, unless that is too large, and alternatives on top by
    one object that allows each of them. Raises ``UnusableSchema``.
    """
    if said is None or said is True:
        return {"type": "object", "properties": {}}
    if not isinstance(said, dict):
        raise UnusableSchema("its schema is not one of an object")
    root = cast("Schema", said)
    if _is_deep(root):
        raise UnusableSchema("its schema is nested too deeply")
    try:
        return _bounded(_flat(_Plain(root, shown, inlines=True).schema(root)))
    except UnusableSchema:
        named = root.get("$ref")
        whole = {**_target(named, root), **root} if isinstance(named, str) else root
        return _bounded(_flat(_Plain(root, shown, inlines=False).schema(whole)))


def _bounded(schema: Schema) -> Schema:
    if _is_deep(schema):
        raise UnusableSchema("its schema is nested too deeply")
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise UnusableSchema("its schema has a number that is none") from None
    data = without_surrogates(text).encode()
    if len(data) > LONGEST_SCHEMA:
        limit = size_words(LONGEST_SCHEMA)
        raise UnusableSchema(f"its schema has {size_words(len(data))}, at most {limit} are sent")
    return json.loads(data)


class _Plain:
    """Copies a schema without what is no schema in it."""

    def __init__(self, root: Schema, shown: Callable[[str], str], *, inlines: bool) -> None:
        self._root = root
        self._shown = shown
        self._inlines = inlines
        self._trail: list[str] = []
        self._parts = 0

    def schema(self, said: object) -> Schema:
        """A part of the schema; the part ``true`` allows everything."""
        self._parts += 1
        if self._parts > _MOST_PARTS or len(self._trail) > _DEEPEST:
            raise UnusableSchema("its schema is too large")
        if not isinstance(said, dict):
            return {}
        part = cast("Schema", said)
        if self._inlines and isinstance(ref := part.get("$ref"), str):
            return self._named(ref, part)
        plain: Schema = {}
        for key, value in part.items():
            kept = _NOTHING if key in _NAMED and self._inlines else self._value(key, value)
            if kept is not _NOTHING:
                plain[key] = kept
        return {"items": {}, **plain} if plain.get("type") == "array" else plain

    def _named(self, ref: str, part: Schema) -> Schema:
        target = _target(ref, self._root)
        others = {key: each for key, each in part.items() if key != "$ref"}
        if ref in self._trail:
            # It contains itself: the inner one is of its type only.
            return self.schema({"type": target.get("type"), **others})
        self._trail.append(ref)
        try:
            return self.schema({**target, **others})
        finally:
            self._trail.pop()

    def _value(self, key: str, value: object) -> object:
        match key, value:
            case (("description" | "title"), str(words)):
                return self._shown(words)
            case "default", str(words) if self._shown(words) != words:
                return _NOTHING
            case "type", _:
                kinds = [each for each in _listed(value) if isinstance(each, str)]
                known = [each for each in kinds if each in _TYPES]
                return (known if isinstance(value, list) else known[0]) if known else _NOTHING
            case "required", _:
                names = [each for each in _listed(value) if isinstance(each, str)]
                return names if isinstance(value, list) else _NOTHING
            case _ if key in _MAPS:
                named = cast("Schema", value) if isinstance(value, dict) else {}
                allowed = {name: each for name, each in named.items() if each is not False}
                return {name: self.schema(each) for name, each in allowed.items()}
            case _ if key in _LISTS or (key == "items" and isinstance(value, list)):
                parts = cast("list[object]", value) if isinstance(value, list) else []
                return [self.schema(each) for each in parts if each is not False] or _NOTHING
            case _ if key in _SINGLE and isinstance(value, dict):
                return self.schema(cast("Schema", value))
            case _:
                return value


def _target(ref: str, root: Schema) -> Schema:
    """The part that a reference names; one that is elsewhere, or nowhere, allows everything."""
    if not ref.startswith("#"):
        return {}
    found: Any = root
    for step in ref.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(name) if isinstance(found, list) else name]
        except (LookupError, TypeError, ValueError):
            return {}
    return cast("Schema", found) if isinstance(found, dict) else {}


def _listed(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _flat(schema: Schema) -> Schema:
    """One object that allows each alternative: all properties, and what all of them require."""
    if not _may_be_object(schema):
        raise UnusableSchema("its schema is not one of an object")
    properties, required = _merged(schema)
    plain = {key: each for key, each in schema.items() if key not in _NOT_ON_TOP}
    if len(properties) > len(schema.get("properties", ())):
        plain.pop("additionalProperties", None)
    needed = {"required": required} if required else {}
    return {**plain, "type": "object", "properties": properties, **needed}


def _merged(schema: Schema) -> tuple[Schema, list[str]]:
    """The properties of a schema with those of its branches, and the required ones."""
    properties: Schema = dict(schema.get("properties", {}))
    required: list[str] = list(schema.get("required", ()))
    for branch in _branches(schema.get("allOf", [])):
        more, needed = _merged(branch)
        properties |= {name: {**properties.get(name, {}), **each} for name, each in more.items()}
        required += needed
    for key in ("anyOf", "oneOf"):
        if not isinstance(listed := schema.get(key), list):
            continue
        merged = [_merged(each) for each in _branches(cast("list[object]", listed))]
        if not merged:
            raise UnusableSchema("its schema is not one of an object")
        _add_alternatives(properties, [more for more, _ in merged])
        first, *others = (needed for _, needed in merged)
        required += [name for name in first if all(name in each for each in others)]
    conditional = _branches([schema.get("then"), schema.get("else")])
    _add_alternatives(properties, [_merged(each)[0] for each in conditional])
    required = list(dict.fromkeys(required))
    return {**properties, **{name: {} for name in required if name not in properties}}, required


def _branches(parts: Sequence[object]) -> Sequence[Schema]:
    tables = [cast("Schema", each) for each in parts if isinstance(each, dict)]
    return [each for each in tables if _may_be_object(each)]


def _may_be_object(schema: Schema) -> bool:
    return "object" in _listed(schema.get("type", "object"))


def _add_alternatives(properties: Schema, branches: Sequence[Schema]) -> None:
    """Add the properties of branches to those that hold for all of them."""
    for name in dict.fromkeys(name for more in branches for name in more):
        ways = [more[name] for more in branches if name in more]
        different = [each for place, each in enumerate(ways) if each not in ways[:place]]
        if not properties.get(name):
            properties[name] = different[0] if len(different) == 1 else _either(different)


def _either(ways: Sequence[Schema]) -> Schema:
    """One schema for several; values that tell alternatives apart become a list of values."""
    values = [[each["const"]] if "const" in each else each.get("enum") for each in ways]
    if all(isinstance(each, list) for each in values):
        kinds = [each.get("type") for each in ways]
        known = {"type": kinds[0]} if kinds[0] and kinds.count(kinds[0]) == len(kinds) else {}
        return {**known, "enum": [value for each in values for value in cast("list[Any]", each)]}
    return {"anyOf": list(ways)}


def _is_deep(value: object) -> bool:
    level: Iterable[object] = [value]
    for _ in range(_DEEPEST):
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
