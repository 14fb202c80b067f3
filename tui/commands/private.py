"""``/private`` and ``/keep``: sessions of which nothing reaches a disk."""

from collections.abc import Sequence

from tui.commands.context import CommandContext, title_of
from tui.commands.effects import Effect, FocusPrompt, MovedSession, ShowSession, say
from tui.domain.journal.ids import is_private
from tui.errors import StorageError, UsageError

BEGUN = "Private session: nothing of it is saved. /keep saves it"


async def begin(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Begin a private session."""
    workspace = context.workspace
    if await workspace.begin_private():
        return (ShowSession(), FocusPrompt(), *say(BEGUN))
    return say("Already in a new private session") if workspace.current.private else ()


async def keep(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Save the private session as a new one."""
    workspace = context.workspace
    try:
        await workspace.keep()
    except StorageError as error:
        return say(f"Not kept, and still private: {error.short}", "error")
    session_id = workspace.current.id
    kept = say(f"Kept {await title_of(context, session_id)} as {session_id}")
    return (ShowSession(), MovedSession(session_id), *kept)


def refuse_private(session_id: str, done: str) -> None:
    """Raise ``UsageError`` for a private session; ``done`` is a participle, such as "exported"."""
    if is_private(session_id):
        raise UsageError(f"A private session is not {done}: it is in memory only. /keep saves it")
