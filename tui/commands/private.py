"""``/private`` and ``/keep``: sessions of which nothing reaches a disk."""

from tui.commands.shell import Shell, command, title_of
from tui.domain.journal.ids import is_private
from tui.errors import StorageError, UsageError

BEGUN = "Private session: nothing of it is saved. /keep saves it"


@command("private")
async def begin_private(shell: Shell, arguments: str) -> None:
    """Begin a private session."""
    if await shell.workspace.begin_private():
        await shell.show_session()
        shell.focus_prompt()
        shell.say(BEGUN)
    elif shell.workspace.current.private:
        shell.say("Already in a new private session")


@command("keep")
async def keep(shell: Shell, arguments: str) -> None:
    """Save the private session as a new one."""
    try:
        await shell.workspace.keep()
    except StorageError as error:
        return shell.say(f"Not kept, and still private: {error.short}", "error")
    session_id = shell.workspace.current.id
    title = await title_of(shell, session_id)
    await shell.show_session()
    shell.show_moved(session_id)
    return shell.say(f"Saved {title} as a session")


def refuse_private(session_id: str, done: str) -> None:
    """Raise ``UsageError`` for a private session; ``done`` is a participle, such as "exported"."""
    if is_private(session_id):
        raise UsageError(f"A private session is not {done}: it is in memory only. /keep saves it")
