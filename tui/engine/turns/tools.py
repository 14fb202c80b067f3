"""Tool calls: the offer to the model, the approval by the user, and the result."""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tui.domain.journal.message import ToolCall
from tui.domain.tool_approval import ToolApproval
from tui.domain.tool_servers import ToolServers
from tui.domain.views.approval import Choice, Question
from tui.engine.turns.approvals import ToolApprovals
from tui.engine.turns.events import NoticeGiven, ToolStarted, TurnEvent
from tui.engine.turns.server_tools import NoToolServers, server_tools, trouble_words
from tui.engine.turns.tool import InvalidArguments, Save, Tool
from tui.errors import StorageError
from tui.providers.protocol import ToolDefinition

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession

DENIED = "The user denied this call."
MOST_ARGUMENTS = 64 * 1024
"""The limit of arguments that a user can be asked to read, in characters."""
_CHANGED = "It has changed since you allowed it."

Ask = Callable[[Question], Awaitable[Choice]]
"""Puts a call to the user and waits for the answer; may be cancelled."""

Emit = Callable[[TurnEvent], Awaitable[None]]
"""Takes the events of a turn, one at a time."""


async def _nobody(_: Question) -> Choice:
    return "deny"


class Tools:
    """The tools that a model is offered, and the results of its calls.

    Nothing that asks is run unless the user has allowed it: the call, or the tool for longer.
    """

    def __init__(
        self,
        built_in: Sequence[Tool] = (),
        ask: Ask = _nobody,
        servers: ToolServers | None = None,
        approvals: ToolApprovals | None = None,
    ) -> None:
        self.built_in = tuple(built_in)
        self.servers = servers or NoToolServers()
        self.approvals = approvals or ToolApprovals()
        self._ask = ask

    def asking(self, ask: Ask) -> "Tools":
        """The same tools, their calls put to somebody else."""
        return Tools(self.built_in, ask, self.servers, self.approvals)

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
        tool = self._offered().get(call.name)
        if tool is None or call.name in session.settings.tools_off:
            return f"Tool {call.name} is not available."
        try:
            run = tool.prepare(_readable(call.arguments))
        except InvalidArguments as error:
            return f"Not run, the arguments are wrong: {error}"
        if not await self._is_allowed(session, call, tool, emit):
            return DENIED
        await emit(ToolStarted(tool.approval.title if tool.approval else call.name))
        return await run(session, save)

    def _offered(self) -> Mapping[str, Tool]:
        offered: dict[str, Tool] = {tool.definition.name: tool for tool in self.built_in}
        for tool in server_tools(self.servers):
            # The program's own come first, whatever a server calls its tools.
            offered.setdefault(tool.definition.name, tool)
        return offered

    async def _is_allowed(
        self, session: "OpenSession", call: ToolCall, tool: Tool, emit: Emit
    ) -> bool:
        approval = tool.approval
        if approval is None:
            return True
        words = await self._doubt(approval)
        if words is None:
            return True
        about = f"{tool.about}\n{words}".rstrip()
        choice = await self._ask(Question(session.id, call, about, approval))
        await self._remember(choice, approval, emit)
        return choice != "deny"

    async def _doubt(self, approval: ToolApproval) -> str | None:
        """The words of a question about earlier approvals; ``None`` if there is no question."""
        try:
            standing = await self.approvals.standing(approval)
        except StorageError as error:
            return f"Earlier approvals do not count: {error}"
        match standing:
            case "allowed":
                return None
            case "changed":
                return _CHANGED
            case "unknown":
                return ""

    async def _remember(self, choice: Choice, approval: ToolApproval, emit: Emit) -> None:
        if choice == "until-quit":
            self.approvals.allow_until_quit(approval)
        if choice != "always":
            return
        try:
            await self.approvals.allow_always(approval)
        except StorageError as error:
            await emit(NoticeGiven(f"{approval.title} is allowed only until you quit: {error}"))


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
