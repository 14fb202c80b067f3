"""What a command works with."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from tui.commands.effects import Effect
from tui.domain.views.usage import Filled, Spent
from tui.engine.library.retention import Retention
from tui.engine.library.session_moves import SessionMoves
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.providers.protocol import Model


class Models(Protocol):
    """The models that there are to choose from."""

    def names(self) -> Sequence[str]:
        """What the user's settings know."""
        ...

    def named(self, name: str) -> Model:
        """A model by its name. Raises ``ModelUnavailable``."""
        ...


class Themes(Protocol):
    """The themes that there are to choose from."""

    @property
    def current(self) -> str: ...

    def names(self) -> Sequence[str]:
        """All of them, in order."""
        ...

    def choose(self, name: str) -> None:
        """Show another one, now and after the next start. Raises ``UsageError``."""
        ...


class Measures(Protocol):
    """What answers took that were made since the program was started."""

    def filled(self, conversation: LoadedSession) -> Filled | None:
        """How full the window of a session's model is; ``None`` if that is not known."""
        ...

    def spent(self, session_id: str) -> Spent | None:
        """What the answers of a session took; ``None`` if nothing was counted."""
        ...


MOST_ROWS = 100
"""How many sessions a list in a conversation shows."""


class CommandContext(msgspec.Struct, frozen=True):
    """The workspace, models and themes, what is set aside, and how an answer is stopped.

    ``lists`` are the ids that the numbers of a command mean since it last printed them, by the
    command's name; what a search prints are numbers of ``sessions``, too. ``exclusive_projects``
    says that a project is open in one session only.
    ``rescue`` puts what a session that is given up has unsaved into a file and says where; raises
    ``StorageError``. ``stop`` ends the answer that is being made in a session and waits until all
    of it is saved; false if there is none.
    """

    workspace: Workspace
    models: Models
    themes: Themes
    retention: Retention
    rescue: Callable[[LoadedSession], Sequence[str]]
    stop: Callable[[LoadedSession], Awaitable[bool]]
    shelf: SessionMoves
    exclusive_projects: bool = False
    measures: Measures | None = None
    lists: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])


CommandFunction = Callable[[CommandContext, str], Awaitable[Sequence[Effect]]]
"""Does what a command is there for; gets what was said with it."""
