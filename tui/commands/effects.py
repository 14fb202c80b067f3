"""What a command asks the program to do on screen, once its own work is done."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from tui.domain.views.notice import Notice, Severity, Table
from tui.errors import StorageError


class Say(msgspec.Struct, frozen=True):
    """Tell the user; it also stands in the conversation, unsaved."""

    notice: Notice


class ShowSession(msgspec.Struct, frozen=True):
    """Another session is current, or the current one has changed."""


class CopyText(msgspec.Struct, frozen=True):
    """Put a text on the user's clipboard, and tell what came of it."""

    text: str


class ShowTodos(msgspec.Struct, frozen=True):
    """The current session's to-do list has changed."""


class RetryTurn(msgspec.Struct, frozen=True):
    """Ask again where the current session's last answer failed or was stopped."""


class Compact(msgspec.Struct, frozen=True):
    """Let a summary stand for the oldest part of the current session."""


class OpenSearch(msgspec.Struct, frozen=True):
    """Show the search screen."""


class OpenHelp(msgspec.Struct, frozen=True):
    """Show keys and commands."""


class EditPrompt(msgspec.Struct, frozen=True):
    """Open the prompt in the user's own editor."""


class Ask(msgspec.Struct, frozen=True):
    """Ask whether to do something that the user may not have meant.

    ``confirmed`` does it, and is called only on yes; ``declined`` is what a no leads to.
    ``question`` ends in ``(y/n)``; ``detail`` says what will come of it.
    """

    question: str
    confirmed: Callable[[], Awaitable[Sequence["Effect"]]]
    declined: tuple["Effect", ...] = ()
    detail: str = ""


class MovedSession(msgspec.Struct, frozen=True):
    """A session was archived, deleted or brought back: lists are to show it elsewhere."""

    session_id: str


class Later(msgspec.Struct, frozen=True):
    """Do something behind the screen, and then what comes of it."""

    work: Callable[[], Awaitable[Sequence["Effect"]]]


class Exit(msgspec.Struct, frozen=True):
    """Save everything and leave."""


Effect = (
    Say
    | ShowSession
    | ShowTodos
    | CopyText
    | RetryTurn
    | Compact
    | OpenSearch
    | OpenHelp
    | EditPrompt
    | Ask
    | MovedSession
    | Later
    | Exit
)


def say(
    text: str, severity: Severity = "information", table: Table | None = None
) -> tuple[Effect, ...]:
    """Only tell the user something; ``table`` are its lines that stand in columns."""
    return (Say(Notice(text, severity, table)),)


def warn(texts: Sequence[str]) -> tuple[Effect, ...]:
    """Show each text as a warning."""
    return tuple(Say(Notice(text, "warning")) for text in texts)


def save_failed(session_id: str, error: StorageError) -> tuple[Effect, ...]:
    """Show why a session could not be saved."""
    return say(f"Could not save {session_id}: {error.short}", "error")
