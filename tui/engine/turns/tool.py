"""A tool: what a model is offered, and how a call is read and run."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from tui.domain.json_limits import converted
from tui.domain.tool_servers import ToolApproval
from tui.providers.protocol import ToolDefinition

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession

_Fields = TypeVar("_Fields")

Save = Callable[[], Awaitable[None]]
"""Writes what is pending in the session. Raises ``StorageError``."""

Run = Callable[["OpenSession", Save], Awaitable[str]]
"""Runs an approved call and gives the result for the model."""


class InvalidArguments(ValueError):
    """A call that cannot be carried out as it came; the model is told why."""


def fields_of(arguments: Mapping[str, Any], kind: type[_Fields]) -> _Fields:
    """Read the arguments of a call. Raises ``InvalidArguments``."""
    try:
        return converted({name: each for name, each in arguments.items() if each is not None}, kind)
    except ValueError as error:
        raise InvalidArguments(f"{error}.") from error


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of arguments, for structs without others in them."""
    schema = msgspec.json.schema_components((kind,))[1][kind.__name__]
    return {key: each for key, each in schema.items() if each and key != "title"}


class Tool(msgspec.Struct, frozen=True, eq=False):
    """Something that a model may ask this program to do."""

    definition: ToolDefinition
    """The definition that the model is offered."""
    prepare: Callable[[Mapping[str, Any]], Run]
    """Reads the arguments of a call; nothing is done yet. Raises ``InvalidArguments``."""
    approval: ToolApproval | None = None
    """The subject of the question before each call; ``None`` if there is no question."""
    about: str = ""
    """Lines beside its name for the user who is asked for approval; foreign text."""
