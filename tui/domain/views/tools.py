"""View models of tools: the rows of their list, and a call as lines to read."""

import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

from tui.domain.text import make_visible, make_visible_name, plural
from tui.domain.tool_servers import ServerStatus, ToolApproval

_LONG = 1_000
_ON, _OFF = "●", "○"


class ListedTool(msgspec.Struct, frozen=True):
    """A tool of the program's own, or of a server; its words are foreign text."""

    called: str
    """The name that a model is offered."""
    name: str
    description: str
    approval: ToolApproval | None
    """The subject of the question before each call; ``None`` if there is no question."""
    is_on: bool = True
    """False for a tool of the program's own that is switched off in all sessions."""


class Allowed(msgspec.Struct, frozen=True):
    """The tools that the user has allowed for longer than one call."""

    always: Collection[ToolApproval] = ()
    until_quit: Collection[ToolApproval] = ()

    def words(self, tool: ToolApproval) -> str:
        """Tell whether a tool is allowed; empty if each call asks."""
        if tool in self.always:
            return "always allowed"
        if tool in self.until_quit:
            return "allowed until you quit"
        return "changed since you allowed it" if any(map(tool.is_of, self.all)) else ""

    @property
    def all(self) -> tuple[ToolApproval, ...]:
        return (*self.always, *(each for each in self.until_quit if each not in self.always))


class ToolRow(msgspec.Struct, frozen=True):
    """A line of the list: a server, a tool, or an approval of one that is not there now."""

    id: str
    text: str
    note: str = ""
    mark: str = ""
    detail: str = ""
    """The whole description, or the reason of a failure."""
    tool: str = ""
    """The name by which a tool is switched; empty for anything else."""
    is_on: bool = False
    """True for a tool that models are offered in this session."""
    is_own: bool = False
    """True for a tool of the program's own."""
    server: str = ""
    """The name of a server; empty for anything else."""
    approval: ToolApproval | None = None
    """The approval that can be withdrawn here."""


def tool_rows(
    built_in: Sequence[ListedTool],
    statuses: Sequence[ServerStatus],
    off: Collection[str],
    allowed: Allowed,
) -> tuple[ToolRow, ...]:
    """List the tools of the program, the servers with theirs, and approvals of tools not there."""
    rows = [_tool_row(tool, off, allowed, "") for tool in built_in]
    for status in statuses:
        rows.append(_server_row(status))
        for tool in status.tools:
            approval = ToolApproval(tool.server, tool.name, tool.fingerprint)
            offered = ListedTool(tool.called, tool.name, tool.description, approval)
            rows.append(_tool_row(offered, off, allowed, "  "))
    listed = [each for row in rows if (each := row.approval)]
    for approval in allowed.all:
        if not any(map(approval.is_of, listed)):
            words, there = allowed.words(approval), make_visible_name(approval.project)
            words += f" in {there}" if there else ", not offered now"
            rows.append(
                ToolRow(
                    id=f"approval:{approval.server}:{approval.tool}:{approval.project}",
                    text=approval.title,
                    note=words,
                    detail=f"{approval.title}: {words}.",
                    approval=approval,
                )
            )
    return tuple(rows)


def _tool_row(tool: ListedTool, off: Collection[str], allowed: Allowed, margin: str) -> ToolRow:
    is_off = tool.called in off or not tool.is_on
    said = allowed.words(tool.approval) if tool.approval else "asks nothing"
    description = " ".join(tool.description[:_LONG].split())
    asks = f"{said[:1].upper()}{said[1:]}: w forgets that." if said else "Each call asks you first."
    return ToolRow(
        id=f"tool:{tool.called}",
        text=f"{margin}{tool.name}",
        note=" · ".join(filter(None, ("off" if is_off else "", said, description))),
        mark=_OFF if is_off else _ON,
        detail=f"{description} {asks}" if tool.approval else description,
        tool=tool.called,
        is_on=not is_off,
        is_own=not margin,
        approval=tool.approval,
    )


def _server_row(status: ServerStatus) -> ToolRow:
    words: str = status.state
    if status.state == "ready":
        words = f"ready, {plural(len(status.tools), 'tool')}"
    elif status.reason:
        words = f"{status.state}: {status.reason}"
    return ToolRow(
        id=f"server:{status.name}",
        text=status.name,
        note=words,
        detail=f"Server {status.name}: {words.rstrip('.')}. {status.notice}".rstrip(),
        server=status.name,
    )


_COMMANDS = frozenset({"command", "cmd"})
_CHANGES = (("old", "new"), ("before", "after"))
"""In names of fields, such as ``oldText`` and ``newText``: a text, and the one in its place."""

_SHORT = 60
"""The longest list or object, in characters, that stands on one line."""
_STEP = "  "
_DEEP = 16
"""Values with so many blanks before them stand on one line, however long."""
_MOST_COMPARED = 40_000
"""The most lines of a text, times those of the other: comparing takes a tenth of a second."""
_TAB = 4
_LINE_BREAK = "\\n"
"""In JSON."""

LineKind = Literal["field", "text", "command", "same", "removed", "added"]


class CallLine(msgspec.Struct, frozen=True):
    """A line of a call, sanitised; what is in its ``lead`` keeps texts from looking like fields."""

    kind: LineKind
    lead: str
    text: str

    @property
    def hang(self) -> str:
        """What is before the rows after the first where the line is wrapped."""
        return self.lead if self.kind == "text" else " " * (len(self.lead) + 4)


def call_lines(about: str, arguments: Any) -> Iterator[CallLine]:
    """Format the whole call, below foreign lines ``about`` the tool."""
    for line in make_visible(about).split("\n") if about else ():
        yield CallLine("text", "", line)
    if isinstance(arguments, dict):
        yield from _fields(cast("Mapping[str, Any]", arguments), "")
    elif arguments is not None:
        yield _line("field", "", _json(arguments))


def _fields(fields: Mapping[str, Any], margin: str) -> Iterator[CallLine]:
    changes = _changes(fields)
    for name, value in fields.items():
        if name in changes.values():
            continue
        if after := changes.get(name):
            yield _line("field", margin, f"{_name(name)} → {_name(after)}:")
            yield from _difference(value, fields[after], margin + _STEP)
        elif name in _COMMANDS and (command := _command(value)):
            for place, line in enumerate(command.split("\n")):
                yield _line("command", margin + ("> " if place else "$ "), line)
        else:
            yield from _value(_name(name), value, margin)


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


def _value(name: str, value: Any, margin: str) -> Iterator[CallLine]:
    line = _json(value)
    has_lines = "\n" in value if isinstance(value, str) else _LINE_BREAK in line
    is_long = isinstance(value, dict | list) and len(line) > _SHORT
    if not (has_lines or is_long) or len(margin) >= _DEEP:
        yield _line("field", margin, f"{name}: {line}")
        return
    yield _line("field", margin, f"{name}:")
    margin += _STEP
    if isinstance(value, str):
        for each in value.removesuffix("\n").split("\n"):
            yield _line("text", margin + "│ ", each)
    elif isinstance(value, dict):
        yield from _fields(cast("Mapping[str, Any]", value), margin)
    else:
        for number, each in enumerate(cast("Sequence[Any]", value), 1):
            yield from _value(str(number), each, margin)


def _difference(before: str, after: str, margin: str) -> Iterator[CallLine]:
    if all(not each or each.endswith("\n") for each in (before, after)):
        before, after = before[:-1], after[:-1]
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    steps: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(old), 0, len(new))]
    if len(old) * len(new) <= _MOST_COMPARED:
        from difflib import SequenceMatcher

        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for step, a, b, c, d in steps:
        is_same = step == "equal"
        for line in old[a:b]:
            yield (
                _line("same", margin + _STEP, line)
                if is_same
                else _line("removed", margin + "- ", line)
            )
        for line in () if is_same else new[c:d]:
            yield _line("added", margin + "+ ", line)


def _line(kind: LineKind, lead: str, text: str) -> CallLine:
    return CallLine(kind, lead, make_visible_name(text.expandtabs(_TAB)))


def _name(name: str) -> str:
    return name if name.replace("-", "_").isidentifier() else _json(name)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
