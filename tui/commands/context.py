"""What a command works with."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from tui.commands.effects import Effect
from tui.engine.conversation import Conversation
from tui.engine.workspace import Workspace
from tui.providers.protocol import Model


class Models(Protocol):
    """The models that there are to choose from."""

    def names(self) -> Sequence[str]:
        """What the user's settings know."""
        ...

    def named(self, name: str) -> Model:
        """A model by its name. Raises ``ModelUnavailable``."""
        ...


class CommandContext(msgspec.Struct, frozen=True):
    """The workspace, the models, and how an answer is stopped.

    ``stop`` ends the answer that is being made in a session and waits until all of it is saved;
    false if there is none.
    """

    workspace: Workspace
    models: Models
    stop: Callable[[Conversation], Awaitable[bool]]


CommandFunction = Callable[[CommandContext, str], Awaitable[Sequence[Effect]]]
"""Does what a command is there for; gets what was said with it."""
