"""Tool calls: the offer to the model, the approval by the user, and the result."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tui.config.loading import UserSettings
from tui.config.settings_schema import Config
from tui.domain.journal.message import ToolCall
from tui.domain.tool_servers import (
    Decision,
    OfferedTool,
    Question,
    ServerStatus,
    ToolApproval,
)
from tui.engine.turns.events import NoticeGiven, ToolStarted, TurnEvent
from tui.engine.turns.tool import InvalidArguments, Run, Save, Tool
from tui.engine.turns.tool_setup import ToolSetup
from tui.errors import StorageError
from tui.providers.protocol import ToolDefinition
from tui.storage import tool_approvals

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession
    from tui.tool_servers.server import McpServers

DENIED = "The user denied this call."
MOST_ARGUMENTS = 64 * 1024
"""The limit of arguments that a user can be asked to read, in characters."""
_CHANGED = "It has changed since you allowed it."

Ask = Callable[[Question], Awaitable[Decision]]
"""Puts a call to the user and waits for the answer; may be cancelled."""

Emit = Callable[[TurnEvent], Awaitable[None]]
"""Takes the events of a turn, one at a time."""

Standing = Literal["allowed", "changed", "unknown"]
"""``changed``: the user has allowed it as it was before."""

_WITHOUT = "this answer goes without its tools."


class ToolApprovals:
    """Keeps what is allowed until the program ends, and reads and writes what is for good.

    The file is read for each call: what another program has withdrawn is not allowed here either.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Without a ``file`` nothing is allowed for longer than this program runs."""
        self._file = file
        self._until_quit: set[ToolApproval] = set()

    @property
    def until_quit(self) -> frozenset[ToolApproval]:
        """The tools that are allowed until the program ends."""
        return frozenset(self._until_quit)

    async def kept(self) -> tuple[ToolApproval, ...]:
        """The tools that are allowed for good. Raises ``StorageError``."""
        if self._file is None:
            return ()
        return await asyncio.to_thread(tool_approvals.read, self._file)

    async def standing(self, tool: ToolApproval) -> Standing:
        """Look a tool up. Raises ``StorageError`` if that takes a file that cannot be trusted."""
        known = self._until_quit
        if tool not in known:
            known = {*await self.kept(), *known}
        if tool in known:
            return "allowed"
        return "changed" if any(map(tool.is_of, known)) else "unknown"

    async def allow(self, tool: ToolApproval, *, always: bool) -> None:
        """Allow a tool until the program ends, or for good.

        Raises ``StorageError`` if that cannot be kept, and then until the program ends.
        """
        self._until_quit.add(tool)
        if always and self._file is not None:
            await asyncio.to_thread(tool_approvals.allow, self._file, tool)
            # The file alone counts: another program may withdraw it.
            self._until_quit.discard(tool)

    async def withdraw(self, tools: Collection[ToolApproval]) -> None:
        """Allow some tools no more. Raises ``StorageError``; this program asks even then."""
        self._until_quit = {each for each in self._until_quit if not any(map(each.is_of, tools))}
        if self._file is not None:
            await asyncio.to_thread(tool_approvals.withdraw, self._file, tools)

    async def withdraw_all(self) -> None:
        """Allow no tool any more. Raises ``StorageError``."""
        self._until_quit.clear()
        if self._file is not None:
            await asyncio.to_thread(tool_approvals.withdraw_all, self._file)


def server_tools(servers: "McpServers") -> tuple[Tool, ...]:
    """The tools of the servers that are ready."""
    return tuple(
        Tool(
            ToolDefinition(offered.called, offered.description, offered.parameters),
            partial(_prepared, servers, offered),
            ToolApproval(offered.server, offered.name, offered.fingerprint),
        )
        for status in servers.statuses()
        if status.state == "ready"
        for offered in status.tools
    )


def _prepared(servers: "McpServers", offered: OfferedTool, arguments: Mapping[str, Any]) -> Run:
    async def run(_: "OpenSession", __: Save) -> str:
        # Its server says what is wrong with the arguments.
        return (await servers.call(offered, dict(arguments))).text

    return run


def trouble_words(status: ServerStatus) -> str:
    """Say why tools of a server are not offered; empty if they are."""
    match status.state:
        case "ready":
            return f"{status.name}: {status.notice}" if status.notice else ""
        case "starting" | "not started":
            return f'The server "{status.name}" is still starting; {_WITHOUT}'
        case "failed" | "stopped":
            reason = f": {status.reason.rstrip('.')}" if status.reason else ""
            return f'The server "{status.name}" failed{reason}; {_WITHOUT}'


async def _nobody(_: Question) -> Decision:
    return Decision("deny")


class Tools:
    """The tools that a model is offered, and the results of its calls.

    Nothing that asks is run unless the user has allowed it: the call, or the tool for longer.
    """

    def __init__(
        self,
        setup: ToolSetup | None = None,
        ask: Ask = _nobody,
        approvals: ToolApprovals | None = None,
    ) -> None:
        self.setup = setup or ToolSetup(UserSettings(Config(), None, Path(), {}))
        self.approvals = approvals or ToolApprovals()
        self._ask = ask

    def asking(self, ask: Ask) -> "Tools":
        """The same tools, their calls put to somebody else."""
        return Tools(self.setup, ask, self.approvals)

    @property
    def servers(self) -> "McpServers":
        """The servers that are set up now."""
        return self.setup.servers

    @property
    def waiting(self) -> tuple[str, ...]:
        """The servers that ``start`` would start."""
        known = self.servers.statuses()
        return tuple(each.name for each in known if each.state == "not started")

    async def start(self) -> Sequence[str]:
        """Start the servers that are not started; gives a sentence for each that is not ready."""
        return tuple(filter(None, map(trouble_words, await self.servers.start())))

    def definitions(self, off: Collection[str] = ()) -> tuple[ToolDefinition, ...]:
        """The tools that are there, without those that a session has ``off``."""
        return tuple(tool.definition for name, tool in self._offered().items() if name not in off)

    async def run(self, session: "OpenSession", call: ToolCall, save: Save, emit: Emit) -> str:
        """Carry a call out, if the user allows it; gives what the model is told.

        The model may ask for what it was never offered, and in whatever way: the user is asked
        only for what can be done.
        """
        tool = self._offered(session.header.project_path).get(call.name)
        if tool is None or call.name in session.session.settings.tools_off:
            return f"Tool {call.name} is not available."
        try:
            run = tool.prepare(_readable(call.arguments))
        except InvalidArguments as error:
            return f"Not run, the arguments are wrong: {error}"
        decision = await self._decision(session, call, tool, emit)
        if decision.choice == "deny":
            reason = decision.reason
            return f"{DENIED.removesuffix('.')}: {reason}" if reason else DENIED
        await emit(ToolStarted(tool.approval.title if tool.approval else call.name))
        return await run(session, save)

    def _offered(self, project: str = "") -> Mapping[str, Tool]:
        own = self.setup.own_in_use(project)
        offered: dict[str, Tool] = {tool.definition.name: tool for tool in own}
        for tool in server_tools(self.servers):
            # The program's own come first, whatever a server calls its tools.
            offered.setdefault(tool.definition.name, tool)
        return offered

    async def _decision(
        self, session: "OpenSession", call: ToolCall, tool: Tool, emit: Emit
    ) -> Decision:
        """Ask the user, unless the tool is allowed."""
        approval = tool.approval
        words = await self._doubt(approval) if approval else None
        if approval is None or words is None:
            return Decision("once")
        about = f"{tool.about}\n{words}".strip()
        decision = await self._ask(Question(session.id, call, about, approval))
        if decision.choice in ("until-quit", "always"):
            try:
                await self.approvals.allow(approval, always=decision.choice == "always")
            except StorageError as error:
                words = f"{approval.title} is allowed only until you quit: {error}"
                await emit(NoticeGiven(words))
        return decision

    async def _doubt(self, approval: ToolApproval) -> str | None:
        """The words of a question about earlier approvals; ``None`` if there is no question."""
        try:
            standing = await self.approvals.standing(approval)
        except StorageError as error:
            return f"Earlier approvals do not count: {error}"
        return {"allowed": None, "changed": _CHANGED, "unknown": ""}[standing]


def _readable(arguments: Any) -> Mapping[str, Any]:
    """Arguments that a user can be asked about. Raises ``InvalidArguments``."""
    if not isinstance(arguments, dict):
        raise InvalidArguments("expected a JSON object.")
    try:
        size = len(json.dumps(arguments, ensure_ascii=False, indent=2))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidArguments("they cannot be read.") from error
    if size > MOST_ARGUMENTS:
        raise InvalidArguments(f"longer than {MOST_ARGUMENTS} characters.")
    return arguments  # pyright: ignore[reportUnknownVariableType]
