"""The view model of the list of tools."""

from collections.abc import Collection, Sequence

import msgspec

from tui.domain.text.labels import plural
from tui.domain.text.safe_text import make_visible_name
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
