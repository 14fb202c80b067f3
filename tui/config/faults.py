"""Messages about wrong values, for the author of the configuration.

msgspec validates; its messages are for programmers, and name no key inside ``[providers.NAME]``.
A text is never quoted, as it may be an API key in the wrong place.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from msgspec import inspect

from tui.domain.text.patterns import late_pattern

Fault = tuple[str, str]
"""A dotted key, and the description of the expected value."""

_LONGEST_NUMBER = 40
"""Digits of a number that are shown."""

_NAMES: dict[type, str] = {
    **dict.fromkeys((bool, inspect.BoolType), "true or false"),
    **dict.fromkeys((dict, inspect.StructType, inspect.DictType), "a table"),
    **dict.fromkeys((float, inspect.FloatType), "a number"),
    **dict.fromkeys((int, inspect.IntType), "a whole number"),
    **dict.fromkeys((list, inspect.VarTupleType), "a list"),
    str: "text",
}
"""By the type of a value, and by that of the schema."""

_BARE = late_pattern(r"[A-Za-z0-9_-]+")


def joined(key: str, name: str) -> str:
    """Append a name to a dotted key: ``models`` and ``a:b`` give ``models."a:b"``."""
    written = name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    return f"{key}.{written}" if key else written


def faults(value: object, kind: inspect.Type, key: str) -> Iterator[Fault]:
    """Find all parts of a value that its type does not allow, outermost first."""
    inner = _plain(kind)
    match inner, value:
        case inspect.StructType(), dict():
            fields = {field.name: field.type for field in inner.fields}
            for name, each in cast("dict[str, Any]", value).items():
                if name in fields:
                    yield from faults(each, fields[name], joined(key, name))
                else:
                    yield from _in_another_table(each, fields, joined(key, name))
                    yield joined(key, name), f"there is no such key; {_closest(name, fields, key)}"
        case inspect.DictType(), dict():
            for name, each in cast("dict[str, Any]", value).items():
                yield from faults(name, inner.key_type, joined(key, name))
                yield from faults(each, inner.value_type, joined(key, name))
        case inspect.VarTupleType(), list():
            for place, each in enumerate(cast("list[Any]", value), 1):
                yield from faults(each, inner.item_type, f"{key}[{place}]")
        case inspect.AnyType(), _:
            pass
        case _:
            if not _fits(value, inner):
                yield key, f"expected {expected(kind)}{_got(value, inner)}"


def expected(kind: inspect.Type) -> str:
    """Describe the permitted values, as the end of a sentence."""
    if isinstance(kind, inspect.Metadata):
        said = cast("dict[str, str]", kind.extra or {})  # pyright: ignore[reportUnknownMemberType]
        return said["expected"] if said else expected(kind.type)
    if isinstance(kind, inspect.UnionType):
        return expected(_not_none(kind))
    match kind:
        case inspect.IntType() | inspect.FloatType():
            return _name(kind) + _limits(kind)
        case inspect.LiteralType():
            *others, last = (f'"{value}"' for value in kind.values)
            return f"{', '.join(others)} or {last}"
        case inspect.VarTupleType():
            return f"a list of {_name(kind.item_type)}s"
        case _:
            return _name(kind)


def _plain(kind: inspect.Type) -> inspect.Type:
    """Unwrap a type: without its metadata, and without ``None``, which TOML does not have."""
    if isinstance(kind, inspect.Metadata):
        return _plain(kind.type)
    if isinstance(kind, inspect.UnionType):
        return _plain(_not_none(kind))
    return kind


def _not_none(kind: inspect.UnionType) -> inspect.Type:
    return next(each for each in kind.types if not isinstance(each, inspect.NoneType))


def _in_another_table(
    value: object, fields: Mapping[str, inspect.Type], key: str
) -> Iterator[Fault]:
    """Find keys of an unknown table that are in one of the known: other programs name it so."""
    if not isinstance(value, dict):
        return
    here = {
        inner.name: joined(name, inner.name)
        for name, kind in fields.items()
        if isinstance(table := _plain(kind), inspect.StructType)
        for inner in table.fields
    }
    for name in cast("dict[str, Any]", value):
        if name in here:
            yield joined(key, name), f"there is no such key; here it is {here[name]}"


def _closest(name: str, fields: Mapping[str, object], key: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, fields, n=1, cutoff=0.4)
    if close:
        return f"the closest is {joined(key, close[0])}"
    return f"the keys are {', '.join(fields)}"


def _fits(value: object, kind: inspect.Type) -> bool:
    match kind:
        case inspect.StrType():
            import re

            is_text = isinstance(value, str)
            return is_text and (kind.pattern is None or bool(re.search(kind.pattern, value)))
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.LiteralType():
            return value in kind.values
        case inspect.IntType():
            return isinstance(value, int) and _is_within(value, kind)
        case inspect.FloatType():
            return isinstance(value, int | float) and _is_within(value, kind)
        case _:
            return False


def _is_within(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    # Comparisons with nan are false: it is out of bounds.
    return (
        not isinstance(value, bool)
        and (kind.ge is None or value >= kind.ge)
        and (kind.gt is None or value > kind.gt)
        and (kind.le is None or value <= kind.le)
    )


def _limits(kind: inspect.IntType | inspect.FloatType) -> str:
    """Describe the range; every number of the schema has both limits, or none."""
    if kind.le is None:
        return ""
    low = f"from {kind.ge:.9g}" if kind.gt is None else f"above {kind.gt:.9g} and up"
    return f" {low} to {kind.le:.9g}"


def _got(value: object, kind: inspect.Type) -> str:
    """Describe the actual value: its type, or the number that is out of bounds."""
    name = _NAMES.get(type(value), "a date or time")
    if isinstance(kind, inspect.LiteralType):
        return "" if isinstance(value, str) else f", got {name}"
    if isinstance(value, int | float) and _name(kind) in {name, _NAMES[float]}:
        return f", got {_shown(value)}"
    return "" if name == _name(kind) else f", got {name}"


def _shown(value: float) -> str:
    # Python refuses to print integers of thousands of digits; TOML has them in hexadecimal.
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER * 4:
        return "a longer one"
    return str(value)[:_LONGEST_NUMBER]


def _name(kind: inspect.Type) -> str:
    return _NAMES.get(type(kind), _NAMES[str])
