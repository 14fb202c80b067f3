"""The shell of commands: the program as they see it, and its screen."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from tui.domain.journal.records import Settings
from tui.domain.models import ModelSettings
from tui.domain.views.notice import Severity
from tui.engine.library.retention import Retention
from tui.engine.library.session_moves import SessionMoves
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.engine.usage import UsageTotals
from tui.providers.source import ModelSource


class CommandContext(msgspec.Struct, frozen=True):
    """Everything that commands use."""

    workspace: Workspace
    models: ModelSource
    retention: Retention
    rescue: Callable[[LoadedSession], Sequence[str]]
    """Write the unsaved records of a session to a rescue file; returns lines that name it.

    Raises ``StorageError``.
    """
    stop: Callable[[LoadedSession], Awaitable[bool]]
    """Stop the arriving answer and wait until it is saved; false if there is none."""
    retry: Callable[[], Awaitable[None]]
    """Request the last answer of the session on screen again."""
    compact: Callable[[], Awaitable[None]]
    """Summarise the older messages of the session on screen."""
    revise: Callable[[str, Literal["again", "edit"]], Awaitable[None]]
    """Ask a question again, or put it into the prompt to be sent in its place."""
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
    numbers: list[str] = []
    """The ids of the list that was shown last: the meaning of numbers."""


Opened = Literal[
    "connect",
    "editor",
    "help",
    "import",
    "models",
    "notices",
    "picture",
    "rename",
    "search",
    "sessions",
    "closed sessions",
    "sessions of this project",
    "themes",
    "title",
    "tools",
]
"""What ``Shell.open`` opens: a screen, the prompt in an editor, the picture in the clipboard, the
line for renaming, or that with a title that the model makes."""


class Shell(Protocol):
    """What a command may do; a fake takes its place in tests.

    Whatever it says or shows is there at once, in the order of its calls.
    """

    workspace: Workspace

    @property
    def context(self) -> CommandContext: ...

    def say(self, text: str, severity: Severity = "information") -> None:
        """Show a notice, and keep it in the list of notices."""

    def report(self, title: str, text: str) -> None:
        """Show a longer answer over the conversation."""

    async def show_session(self) -> None:
        """Show the current session, which is another one or has changed."""

    def show_moved(self, session_id: str) -> None:
        """Update the lists: a session was archived, deleted, restored or closed."""

    def focus_prompt(self) -> None:
        """Let the next keys go to the prompt, wherever they went before."""

    def copy(self, text: str) -> None:
        """Copy a text to the clipboard, with a notice."""

    def open(self, what: Opened, text: str = "") -> None:
        """Open something; ``text`` is the path to import, or the filter of models or sessions.

        With one, the theme of that name is chosen at once. Raises ``UsageError`` if there is none.
        """

    async def confirm(
        self, question: str, detail: str | Callable[[], str] = "", *, again: str = ""
    ) -> bool:
        """Ask the user; later commands go on meanwhile, and this one once it is their turn again.

        ``detail`` are the consequences; those of a function are asked for anew meanwhile, and once
        there are none the answer is yes. ``again`` is a name: asking the same again, while the
        question is open, means yes.
        """
        ...

    def in_background(self, work: "Work") -> None:
        """Do ``work`` behind the command, which ends meanwhile."""

    def exit(self) -> None:
        """Save everything and quit."""


Work = Callable[[Shell], Awaitable[None]]
"""Work that may say, show and ask."""

CommandFunction = Callable[[Shell, str], Awaitable[None]]
"""A command: takes the arguments as one string."""

FUNCTIONS: dict[str, CommandFunction] = {}
"""By the names of the command table.

Also by a name and a whole argument, ``resume clear``, or by a name and the first word of the
argument, ``resume delete …``: then the function gets the rest.
"""


def command(name: str) -> Callable[[CommandFunction], CommandFunction]:
    """Bind a function to a row of the command table, or to one of its verbs."""

    def bind(function: CommandFunction) -> CommandFunction:
        FUNCTIONS[name] = function
        return function

    return bind


async def warn(shell: Shell, tell: Callable[[], Awaitable[Sequence[str]]]) -> None:
    """Show what ``tell`` has found to be wrong."""
    for failure in await tell():
        shell.say(failure, "warning")


async def title_of(shell: Shell, session_id: str) -> str:
    """Quote the title of a session. Raises ``SessionNotFound``."""
    known = shell.workspace.switcher.find(session_id)
    if known is not None:
        return f'"{known.label()}"'
    entry = await asyncio.to_thread(shell.workspace.reader.entry, session_id)
    return f'"{entry.label}"'
