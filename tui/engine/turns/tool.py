"""A tool, as the engine runs it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tui.domain.tool_approval import ToolApproval
from tui.providers.protocol import ToolDefinition

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession

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
        """Lines for the user who is asked for approval; foreign text."""
        ...

    @property
    def approval(self) -> ToolApproval | None:
        """The subject of the question before each call; ``None`` if there is no question."""
        ...

    def prepare(self, arguments: Mapping[str, Any]) -> Run:
        """Read the arguments of a call; nothing is done yet. Raises ``InvalidArguments``."""
        ...
