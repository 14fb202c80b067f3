"""The actions of the palette in their order: the most used first, then by subject."""

from collections.abc import Sequence

import msgspec

from tui.domain.commands import BY_NAME, COMMANDS, Command
from tui.screens.keys import APP


class Action(msgspec.Struct, frozen=True):
    """A line of the palette: runs ``command`` with ``arguments``, else presses ``key``."""

    name: str = ""
    """The words of the line; not needed for a command, whose title is in the table."""
    key: str = ""
    """The id of the binding that does the same."""
    command: str = ""
    arguments: str = ""
    asks: bool = False
    """True for what costs or changes: it is asked about in the line of keys first."""

    @property
    def title(self) -> str:
        """The words of the line."""
        return self.name or BY_NAME[self.command].title

    @property
    def in_sidebar(self) -> str:
        """The id that a letter of the sidebar has, if it does the same there."""
        return f"sidebar-{(self.key or self.command).removeprefix('session-')}"


_KEYS = {row.action: row.id or "" for row in APP}


def _commands(*names: str) -> tuple[Action, ...]:
    """Make the lines of commands, each with the key that invokes it."""
    invoked = {name: f"invoke('{BY_NAME[name].screen or name}')" for name in names}
    return tuple(Action("", _KEYS.get(invoked[name], ""), name) for name in names)


_BEGINNING: tuple[Action, ...] = (
    *_commands("new", "search"),
    Action("Find in this conversation", "find"),
    Action("Search earlier prompts", "prompt-history"),
    Action("Go to the sidebar", "sidebar-focus"),
    Action("Next session", "session-next"),
    Action("Previous session", "session-previous"),
    *_commands("model", "connect", "copy"),
    Action(key="stop", command="stop"),
    Action(command="retry", asks=True),
    *_commands("edit", "editor", "paste", "tools"),
    Action("Answer the tool that waits for approval", "approval-focus"),
    # This session.
    Action(key="session-rename", command="name"),
    *_commands("fork", "archive", "delete", "undo"),
    Action("Close this session", key="close", command="session", arguments="close"),
    *_commands("save", "reset", "compact", "export", "import", "usage", "notices", "todo"),
    Action("Unfold or fold the to-dos", "todos-fold"),
)

_END: tuple[Action, ...] = (
    # Other sessions.
    *_commands("sessions"),
    Action(command="session", arguments="list"),
    *_commands("resume", "load", "restore"),
    *(Action(f"Session {n} of the list", f"session-{n}") for n in range(1, 10)),
    # The conversation.
    Action("Go to the conversation", "conversation-focus"),
    Action("Copy this message", "conversation-copy"),
    Action("Copy its code", "conversation-copy-code"),
    Action("Ask again for this answer", "conversation-ask-again", asks=True),
    Action("Edit this question and ask again", "conversation-edit", asks=True),
    Action("Previous version of this message", "conversation-version-previous"),
    Action("Next version of this message", "conversation-version-next"),
    Action("Continue from this message in a copy", "conversation-fork", asks=True),
    Action("Open a link or a picture", "conversation-open-link"),
    Action("Time and model of this message", "conversation-details"),
    Action("Time and model of all messages", "conversation-details-all"),
    Action("Unfold or fold files, a tool call or a summary", "conversation-fold"),
    Action("Your next question", "conversation-question-next"),
    Action("Your previous question", "conversation-question-previous"),
    Action("Next message", "conversation-next"),
    Action("Previous message", "conversation-previous"),
    Action("Next match", "find-next"),
    Action("Previous match", "find-previous"),
    Action("Top of the conversation", "conversation-top"),
    Action("End of the conversation", "end"),
    Action("Page up", "page-up"),
    Action("Page down", "page-down"),
    Action("Wrap long code lines, or cut them", "conversation-wrap"),
    Action("Scroll long code lines left", "conversation-code-left"),
    Action("Scroll long code lines right", "conversation-code-right"),
    # The screen.
    *_commands("theme", "help", "quit"),
)


def with_the_rest(
    beginning: Sequence[Action], end: Sequence[Action], commands: Sequence[Command]
) -> tuple[Action, ...]:
    """Put the commands that neither part names between the two."""
    placed = {action.command for action in (*beginning, *end)}
    rest = _commands(*(each.name for each in commands if each.name not in placed))
    return (*beginning, *rest, *end)


ACTIONS = with_the_rest(_BEGINNING, _END, COMMANDS)
"""Every action of the palette."""
