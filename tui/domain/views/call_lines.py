"""A tool call as lines to read: text as blocks, changes as diffs, commands as in a shell."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

from tui.domain.text.safe_text import make_visible, make_visible_name

_COMMANDS = frozenset({"command", "cmd"})
_CHANGES = (("old", "new"), ("before", "after"))
"""In names of fields, such as ``oldText`` and ``newText``: a text, and the one in its place."""

_SHORT = 60
"""The longest list or object, in characters, that stands on one line."""
_DEEP = 8
"""Values at this depth stand on one line, however long."""
_MOST_COMPARED = 40_000
"""The most lines of a text, times those of the other: comparing takes a tenth of a second."""
_TAB = 4
_LINE_BREAK = "\\n"
"""In JSON."""

LineKind = Literal["field", "text", "command", "same", "removed", "added"]


class CallLine(msgspec.Struct, frozen=True):
    """A line of a call, sanitised; where it is wrapped, ``hang`` is before all rows but the first.

    No text can look like a field: what is before its rows says what they belong to.
    """

    kind: LineKind
    lead: str
    text: str
    hang: str


def call_lines(about: str, arguments: Any) -> Iterator[CallLine]:
    """Format the whole call, below foreign lines ``about`` the tool."""
    for line in make_visible(about).split("\n") if about else ():
        yield CallLine("text", "", line, "")
    if isinstance(arguments, dict):
        yield from _fields(cast("Mapping[str, Any]", arguments), 0)
    elif arguments is not None:
        yield _line("field", "", _json(arguments), "  ")


def _fields(fields: Mapping[str, Any], depth: int) -> Iterator[CallLine]:
    changes = _changes(fields)
    for name, value in fields.items():
        if name in changes.values():
            continue
        if after := changes.get(name):
            yield from _named(f"{_name(name)} → {_name(after)}", depth)
            yield from _difference(value, fields[after], "  " * (depth + 1))
        elif name in _COMMANDS and (command := _command(value)):
            yield from _block("command", command, "  " * depth, ("$ ", "> "))
        else:
            yield from _value(_name(name), value, depth)


def _changes(fields: Mapping[str, Any]) -> Mapping[str, str]:
    """Map each field with a text to the one with what is to replace that; no field is in two."""
    found: dict[str, str] = {}
    for name in fields:
        for old, new in _CHANGES:
            after = name.replace(old, new, 1)
            known = {*found, *found.values()}
            both = isinstance(fields[name], str) and isinstance(fields.get(after), str)
            if both and after != name and known.isdisjoint((name, after)):
                found[name] = after
    return found


def _command(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in cast("list[Any]", value)):
        return shlex.join(cast("list[str]", value))
    return value if isinstance(value, str) else ""


def _value(name: str, value: Any, depth: int) -> Iterator[CallLine]:
    margin = "  " * depth
    if isinstance(value, str) and "\n" in value:
        yield from _named(name, depth)
        yield from _block("text", value.removesuffix("\n"), margin + "  ", ("│ ", "│ "))
        return
    line = _json(value)
    is_short = len(line) <= _SHORT and _LINE_BREAK not in line
    if is_short or depth >= _DEEP or not isinstance(value, dict | list):
        yield _line("field", margin, f"{name}: {line}", margin + "    ")
        return
    yield from _named(name, depth)
    if isinstance(value, dict):
        yield from _fields(cast("Mapping[str, Any]", value), depth + 1)
        return
    for number, each in enumerate(cast("list[Any]", value), 1):
        yield from _value(str(number), each, depth + 1)


def _named(name: str, depth: int) -> Iterator[CallLine]:
    margin = "  " * depth
    yield _line("field", margin, f"{name}:", margin + "    ")


def _block(kind: LineKind, text: str, margin: str, marks: tuple[str, str]) -> Iterator[CallLine]:
    """The lines of a text, with a mark before the first, and one before each other."""
    for place, line in enumerate(text.split("\n")):
        hang = margin + ("    " if kind == "command" else marks[1])
        yield _line(kind, margin + marks[place > 0], line, hang)


def _difference(before: str, after: str, margin: str) -> Iterator[CallLine]:
    if all(not each or each.endswith("\n") for each in (before, after)):
        before, after = before[:-1], after[:-1]
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    steps: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(old), 0, len(new))]
    if len(old) * len(new) <= _MOST_COMPARED:
        from difflib import SequenceMatcher

        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for step, a, b, c, d in steps:
        if step == "equal":
            yield from (_line("same", margin + "  ", each, margin + "  ") for each in old[a:b])
            continue
        yield from (_line("removed", margin + "- ", each, margin + "  ") for each in old[a:b])
        yield from (_line("added", margin + "+ ", each, margin + "  ") for each in new[c:d])


def _line(kind: LineKind, lead: str, text: str, hang: str) -> CallLine:
    return CallLine(kind, lead, make_visible_name(text.expandtabs(_TAB)), hang)


def _name(name: str) -> str:
    return name if name.replace("-", "_").isidentifier() else _json(name)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
