"""What the palette offers, in its order: what is used most first, then what belongs together."""

import msgspec

from tui.domain.commands import BY_NAME


class Action(msgspec.Struct, frozen=True):
    """Something that can be done: by ``command`` and what follows it, else as by its key.

    ``key`` is the id of the binding that does the same; ``name`` is not needed for a command that
    is called as in the table.
    """

    name: str = ""
    key: str = ""
    command: str = ""
    arguments: str = ""

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or BY_NAME[self.command].title


def _places() -> tuple[Action, ...]:
    return tuple(Action(f"Session {n} of the list", f"session-{n}") for n in range(1, 10))


ACTIONS: tuple[Action, ...] = (
    Action(key="new", command="new"),
    Action(key="search", command="search"),
    Action("Find in this conversation", "find"),
    Action("Go to the list of sessions", "sidebar-focus"),
    Action("Next session", "session-next"),
    Action("Previous session", "session-previous"),
    Action(command="model"),
    Action(command="copy"),
    Action(key="stop", command="stop"),
    Action(command="retry"),
    Action(key="edit", command="edit"),
    Action("Answer what a tool asks", "approval-focus"),
    # This session.
    Action("Rename this session", "session-rename"),
    Action(command="name"),
    Action(command="fork"),
    Action(command="archive"),
    Action(command="delete"),
    Action(command="undo"),
    Action("Close this session", key="close", command="session", arguments="close"),
    Action(key="save", command="save"),
    Action(command="reset"),
    Action(command="compact"),
    Action(command="export"),
    Action(command="usage"),
    Action(command="todo"),
    Action("Unfold the to-dos, or fold them", "todos-fold"),
    # Other sessions.
    Action(command="sessions"),
    Action(command="session", arguments="list"),
    Action(command="resume"),
    Action(command="load"),
    Action(command="restore"),
    *_places(),
    # The conversation.
    Action("Go to the conversation", "conversation-focus"),
    Action("Copy this message", "conversation-copy"),
    Action("Copy its code", "conversation-copy-code"),
    Action("Open a link", "conversation-open-link"),
    Action("Time and model of this message", "conversation-details"),
    Action("Time and model of all messages", "conversation-details-all"),
    Action("Fold or open what a tool did", "conversation-fold"),
    Action("Next question of yours", "conversation-question-next"),
    Action("Previous question of yours", "conversation-question-previous"),
    Action("Next message", "conversation-next"),
    Action("Previous message", "conversation-previous"),
    Action("Next match", "find-next"),
    Action("Previous match", "find-previous"),
    Action("Beginning of the conversation", "conversation-top"),
    Action("End of the conversation", "end"),
    Action("Page up", "page-up"),
    Action("Page down", "page-down"),
    Action("Long code lines to the left", "conversation-code-left"),
    Action("Long code lines to the right", "conversation-code-right"),
    # The screen.
    Action(command="theme"),
    Action("Show or hide the sidebar", "sidebar-toggle"),
    Action(key="help", command="help"),
    Action(key="quit", command="quit"),
)
