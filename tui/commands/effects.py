"""Effects: values that commands return, for the program to act on."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from tui.domain.views.notice import Notice, Report, Severity
from tui.domain.views.session_picker import PickerView
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.errors import SibylError, StorageError


class Say(msgspec.Struct, frozen=True):
    """Show a notice, and keep it in the list of notices."""

    notice: Notice


class ShowSession(msgspec.Struct, frozen=True):
    """Show the current session, which is another one or has changed."""


class FocusPrompt(msgspec.Struct, frozen=True):
    """Let the next keys go to the prompt, wherever they went before."""


class CopyText(msgspec.Struct, frozen=True):
    """Copy a text to the clipboard, with a notice."""

    text: str


class ShowTodos(msgspec.Struct, frozen=True):
    """Update the to-do list."""


class RetryTurn(msgspec.Struct, frozen=True):
    """Request the current session's last answer again."""


class Compact(msgspec.Struct, frozen=True):
    """Summarise the older messages of the current session."""


class OpenSearch(msgspec.Struct, frozen=True):
    """Show the search screen."""


class OpenThemes(msgspec.Struct, frozen=True):
    """Show the list of themes."""


class AskAgain(msgspec.Struct, frozen=True):
    """Ask the question of an answer again, in its place."""

    message_id: str


class EditQuestion(msgspec.Struct, frozen=True):
    """Put a question into the prompt, to be sent in its place."""

    message_id: str


class OpenHelp(msgspec.Struct, frozen=True):
    """Show the help screen."""


class OpenConnect(msgspec.Struct, frozen=True):
    """Show the screen that connects a model."""


class OpenImport(msgspec.Struct, frozen=True):
    """Show what can be imported from a path, else from this machine."""

    path: str = ""


class OpenModels(msgspec.Struct, frozen=True):
    """Show the models that can be chosen, filtered by a text."""

    text: str = ""


class OpenTools(msgspec.Struct, frozen=True):
    """Show the tools, and what is allowed."""


class OpenReport(msgspec.Struct, frozen=True):
    """Show a longer answer over the conversation."""

    report: Report


class OpenNotices(msgspec.Struct, frozen=True):
    """Open the list of notices, or close it."""


class OpenPicker(msgspec.Struct, frozen=True):
    """Show the session picker, with a text in its filter."""

    view: PickerView
    everywhere: bool = True
    """True for all projects, false for the current one."""
    text: str = ""


class PastePicture(msgspec.Struct, frozen=True):
    """Keep the picture in the clipboard, and refer to it in the prompt."""


class EditPrompt(msgspec.Struct, frozen=True):
    """Open the prompt in the user's own editor."""


class Ask(msgspec.Struct, frozen=True):
    """Ask for confirmation."""

    question: str
    confirmed: Callable[[], Awaitable[Sequence["Effect"]]]
    """Called on yes."""
    declined: tuple["Effect", ...] = ()
    """Effects on no."""
    detail: str = ""
    """The consequences."""
    detail_by_now: Callable[[], str] | None = None
    """Gives them anew when an answer ends while the question is open."""
    again: str = ""
    """A name: asking the same again, while the question is open, means yes."""


class MovedSession(msgspec.Struct, frozen=True):
    """Update the lists: a session was archived, deleted, restored or closed."""

    session_id: str


class LeavePrivate(msgspec.Struct, frozen=True):
    """Ask whether a private session may be lost, then do the ``work`` that leaves it."""

    loaded: LoadedSession
    work: Callable[[], Awaitable[Sequence["Effect"]]]


class Later(msgspec.Struct, frozen=True):
    """Run ``work`` in the background, then its effects."""

    work: Callable[[], Awaitable[Sequence["Effect"]]]


class Exit(msgspec.Struct, frozen=True):
    """Save everything and quit."""


UsingPrompt = ShowTodos | FocusPrompt | PastePicture
"""The effects that concern the prompt and what is around it."""

Opening = OpenHelp | OpenReport | OpenNotices | OpenSearch | OpenPicker | EditPrompt
"""The effects that show something else."""

OpeningDialog = OpenConnect | OpenImport | OpenModels | OpenThemes | OpenTools
"""The effects that let something be chosen."""

Asking = RetryTurn | AskAgain | EditQuestion | Compact
"""The effects that ask a model, or prepare it."""

Effect = (
    Say
    | ShowSession
    | UsingPrompt
    | CopyText
    | Asking
    | Opening
    | OpeningDialog
    | Ask
    | MovedSession
    | LeavePrivate
    | Later
    | Exit
)


def say(text: str, severity: Severity = "information") -> tuple[Effect, ...]:
    """Make a notice."""
    return (Say(Notice(text, severity)),)


def report(title: str, text: str) -> tuple[Effect, ...]:
    """Make a longer answer."""
    return (OpenReport(Report(title, text)),)


def warn(texts: Sequence[str]) -> tuple[Effect, ...]:
    """Show each text as a warning."""
    return tuple(Say(Notice(text, "warning")) for text in texts)


def save_failed(title: str, error: StorageError) -> tuple[Effect, ...]:
    """Show why a session could not be saved."""
    return say(f'Could not save "{title}": {error.short}', "error")


_CANDIDATES = 10


async def carried_out(work: Callable[[], Awaitable[Sequence[Effect]]]) -> Sequence[Effect]:
    """Await ``work``; a ``SibylError`` becomes a notice, or a question before a private loss."""
    try:
        return await work()
    except PrivateSessionLeft as left:
        return (LeavePrivate(left.loaded, work),)
    except SibylError as error:
        return _refusal(*error.lines(_CANDIDATES))


def _refusal(error: str, *more: str) -> Sequence[Effect]:
    # One further line fits into the notice; a list of sessions needs a report.
    if len(more) < 2:
        return say(" ".join((error, *more)), "error")
    return report("Which session?", "\n".join((error, *more)))
