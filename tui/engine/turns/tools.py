"""Tool calls: the offer to the model, the approval by the user, and the result."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tui.domain.journal.message import ToolCall
from tui.domain.views.approval import Choice, Question
from tui.providers.protocol import ToolDefinition

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession

DENIED = "The user denied this call."
MOST_ARGUMENTS = 64 * 1024
"""The limit of arguments that a user can be asked to read, in characters."""

Ask = Callable[[Question], Awaitable[Choice]]
"""Puts a call to the user and waits for the answer; may be cancelled."""

Save = Callable[[], Awaitable[None]]
"""Writes what is pending in the session. Raises ``StorageError``."""

Run = Callable[["OpenSession", Save], Awaitable[str]]
"""Runs an approved call and gives the result for the model."""


class InvalidArguments(ValueError):
    """A call that cannot be carried out as it came; the model is told why."""


class Tool(Protocol):
    """Something that a model may ask this program to do."""

    @property
    def definition(self) -> ToolDefinition:
        """The definition that the model is offered."""
        ...

    @property
    def about(self) -> str:
        """A description for the user who is asked for approval."""
        ...

    def prepare(self, arguments: Mapping[str, Any]) -> Run:
        """Read the arguments of a call; nothing is done yet. Raises ``InvalidArguments``."""
        ...


async def _nobody(_: Question) -> Choice:
    return "deny"


class Tools:
    """The tools that a model is offered, and the results of its calls.

    Nothing is run that the user has not allowed: each call, or a tool for as long as this
    program runs.
    """

    def __init__(self, tools: Sequence[Tool] = (), ask: Ask = _nobody) -> None:
        self._tools = {tool.definition.name: tool for tool in tools}
        self._ask = ask
        self._allowed: set[str] = set()

    def asking(self, ask: Ask) -> "Tools":
        """The same tools, their calls put to somebody else."""
        return Tools(tuple(self._tools.values()), ask)

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools that are switched on."""
        return tuple(tool.definition for tool in self._tools.values())

    async def run(self, session: "OpenSession", call: ToolCall, save: Save) -> str:
        """Carry a call out, if the user allows it; gives what the model is told.

        The model may ask for what it was never offered, and in whatever way: the user is asked
        only for what can be done.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            return f"Tool {call.name} is not available."
        try:
            run = tool.prepare(_readable(call.arguments))
        except InvalidArguments as error:
            return f"Not run, the arguments are wrong: {error}"
        if not await self._is_allowed(Question(session.id, call, tool.about)):
            return DENIED
        return await run(session, save)

    async def _is_allowed(self, question: Question) -> bool:
        name = question.call.name
        if name in self._allowed:
            return True
        choice = await self._ask(question)
        if choice == "always":
            self._allowed.add(name)
        return choice != "deny"


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
