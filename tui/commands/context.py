"""The dependencies of commands."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from tui.commands.effects import Effect
from tui.domain.journal.records import Settings
from tui.domain.model_settings import ModelSettings
from tui.engine.library.retention import Retention
from tui.engine.library.session_moves import SessionMoves
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.engine.usage import UsageTotals
from tui.providers.protocol import Model


class Models(Protocol):
    """The available models."""

    def names(self) -> Sequence[str]:
        """The names of all usable models."""
        ...

    def named(self, name: str) -> Model:
        """Look up a model by its name. Raises ``ModelUnavailable``."""
        ...


class Themes(Protocol):
    """The available themes."""

    @property
    def current(self) -> str: ...

    def names(self) -> Sequence[str]:
        """The names of all themes, sorted."""
        ...

    def choose(self, name: str) -> None:
        """Switch the theme, also for the next start. Raises ``UsageError``."""
        ...


class NumberedList:
    """The ids of the list that was shown last: the meaning of numbers."""

    def __init__(self) -> None:
        self.ids: tuple[str, ...] = ()

    def show(self, ids: Iterable[str]) -> None:
        """Let numbers mean the sessions of another list."""
        self.ids = tuple(ids)


class CommandContext(msgspec.Struct, frozen=True):
    """Everything that commands use."""

    workspace: Workspace
    models: Models
    themes: Themes
    retention: Retention
    rescue: Callable[[LoadedSession], Sequence[str]]
    """Write the unsaved records of a session to a rescue file; returns lines that name it.

    Raises ``StorageError``.
    """
    stop: Callable[[LoadedSession], Awaitable[bool]]
    """Stop the arriving answer and wait until it is saved; false if there is none."""
    shelf: SessionMoves
    settings_in_force: Callable[[Settings, str], ModelSettings]
    """The settings of requests, by a session's own and the name of its model."""
    note_model: Callable[[str], Awaitable[None]]
    """Remember that the user has chosen a model. Raises ``StorageError`` and ``ConfigError``."""
    usage: UsageTotals
    prompts: Mapping[str, str] = {}
    """The templates of the user's own commands, by name."""
    exclusive_projects: bool = False
    """True if a project may be open in one session only."""
    numbers: NumberedList = msgspec.field(default_factory=NumberedList)


CommandFunction = Callable[[CommandContext, str], Awaitable[Sequence[Effect]]]
"""A command: takes the arguments as one string, and returns effects."""


async def title_of(context: CommandContext, session_id: str) -> str:
    """Quote the title of a session. Raises ``SessionNotFound``."""
    known = context.workspace.switcher.find(session_id)
    if known is not None:
        return f'"{known.label()}"'
    entry = await asyncio.to_thread(context.workspace.reader.entry, session_id)
    return f'"{entry.label}"'
