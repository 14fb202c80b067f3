"""``/archive``, ``/restore``, ``/delete``, ``/fork`` and ``/undo``; deleting closed sessions."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial

from tui.commands import leaving
from tui.commands.opening import check_holder, open_projects, resolve, resolve_number
from tui.commands.saving import refuse_private, save_or_say
from tui.commands.shell import Shell, command, title_of, warn
from tui.domain.journal.records import is_private
from tui.domain.journal.session import SessionEntry, Status
from tui.domain.moves import Move, Place
from tui.domain.targets import is_number
from tui.domain.text import plural
from tui.engine.library.session_moves import check_closed_here, read_closed
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.errors import StorageError, UsageError
from tui.storage.protocol import KEPT_OR_ARCHIVED

_ARCHIVED_OR_TRASHED: frozenset[Status] = frozenset({"archived", "trashed"})
_UNDONE: dict[Place, str] = {
    "sessions": "Brought back {}",
    "archive": "Archived {} again",
    "trash": "Moved {} to the trash again",
}


@command("archive")
async def archive(shell: Shell, arguments: str) -> None:
    """Archive a session."""
    session_id = await _resolve(shell, arguments, KEPT_OR_ARCHIVED)
    refuse_private(session_id, "archived")
    if _is_empty(shell, session_id):
        return shell.say("Nothing to archive yet.")
    before, title = shell.workspace.current, await title_of(shell, session_id)
    known = shell.workspace.switcher.find(session_id)
    if known is not None:
        scope = known.session.header.scope
    else:
        scope = (await asyncio.to_thread(shell.workspace.reader.entry, session_id)).scope
    await shell.context.shelf.archive(session_id)
    await _show_moved(shell, before, session_id)
    shell.say(f"Archived {title}. /undo brings it back")
    tell = partial(shell.context.retention.tell_archived, scope, session_id)
    return shell.in_background(partial(warn, tell=tell))


@command("restore")
async def restore(shell: Shell, arguments: str) -> None:
    """Restore a session from the archive or the trash, and open it."""
    session_id = await _resolve(shell, arguments, _ARCHIVED_OR_TRASHED)
    if _is_empty(shell, session_id):
        return shell.say("Nothing to restore.")
    said, title = len(shell.workspace.current.notices), await title_of(shell, session_id)
    failure = await shell.context.shelf.restore(session_id)
    current = shell.workspace.current
    # Opening it may have restored it already, with a notice.
    is_said = not failure and session_id == current.id and len(current.notices) > said
    if not failure:
        await shell.show_session()
    shell.show_moved(session_id)
    if not is_said:
        shell.say(f"Brought back {title}")
    if failure:
        shell.say(failure, "error")
    return None


@command("delete")
async def delete(shell: Shell, arguments: str) -> None:
    """Move a session to the trash, after asking."""
    session_id = await _resolve(shell, arguments, KEPT_OR_ARCHIVED)
    if _is_empty(shell, session_id) or is_private(session_id):
        return await delete_at_once(shell, session_id)
    if arguments and session_id != arguments and not is_number(arguments):
        raise UsageError(f"Deleting takes the complete id or a listed number: {session_id}")
    # Before the user is asked.
    await check_holder(shell, session_id)
    known = shell.workspace.switcher.find(session_id)
    if known is not None:
        label, count = known.label(), known.session.message_count
    else:
        entry = await asyncio.to_thread(shell.workspace.reader.entry, session_id)
        label, count = entry.label, entry.message_count
    question = f'Move "{label}" ({plural(count, "message")}) to the trash?'

    def detail() -> str:
        is_running = known is not None and known.activity.running
        return f"{'Its answer will be stopped. ' if is_running else ''}/undo brings it back."

    if await shell.confirm(question, detail):
        await delete_at_once(shell, session_id)
    return None


async def delete_at_once(shell: Shell, session_id: str) -> None:
    """Move a session to the trash without asking."""
    if _is_empty(shell, session_id):
        return shell.say("Nothing to delete yet.")
    if is_private(session_id):
        return await leaving.close(shell, session_id)
    before, title = shell.workspace.current, await title_of(shell, session_id)
    await shell.context.shelf.delete(session_id)
    await _show_moved(shell, before, session_id)
    return shell.say(f"Moved {title} to the trash. /undo brings it back")


@command("resume delete …")
async def delete_closed(shell: Shell, arguments: str) -> None:
    """Move a closed session to the trash without asking."""
    if not arguments:
        return shell.say("Usage: /resume delete NUMBER or ID")
    # Never guessed: by number or whole id only.
    number = is_number(arguments)
    session_id = await resolve_number(shell, arguments, "closed") if number else arguments

    async def delete_if_closed(shell: Shell) -> None:
        check_closed_here(shell.workspace, session_id)
        await delete_at_once(shell, session_id)

    return shell.in_background(delete_if_closed)


@command("resume clear")
async def clear(shell: Shell, arguments: str) -> None:
    """Move all closed sessions to the trash, after asking."""
    closed = await _closed(shell)
    if not closed:
        return shell.say("There are no closed sessions.")
    sessions = plural(len(closed), "closed session")
    projects = plural(len({entry.scope for entry in closed}), "project")
    question = f"Move all {sessions} of {projects} to the trash?"
    if not await shell.confirm(question, "/undo brings them back."):
        return shell.say("Nothing was moved.")

    async def clear_now(shell: Shell) -> None:
        before = shell.workspace.current
        cleared = await shell.context.shelf.clear([entry.id for entry in closed])
        if shell.workspace.current is not before:
            await shell.show_session()
        count = len(cleared.ids)
        them = "it" if count == 1 else "them"
        moved = f"Moved {plural(count, 'session')} to the trash. /undo brings {them} back"
        shell.say(moved if count else "No session was moved")
        if cleared.failure:
            shell.say(cleared.failure, "error")

    return shell.in_background(clear_now)


async def _closed(shell: Shell) -> Sequence[SessionEntry]:
    await shell.workspace.switcher.settle()
    closed = await asyncio.to_thread(read_closed, shell.workspace.reader)
    if not shell.context.exclusive_projects:
        return closed
    taken = (await open_projects(shell)).values()
    return [entry for entry in closed if entry.project_path not in taken]


@command("fork")
async def fork(shell: Shell, arguments: str) -> None:
    """Copy a session and open the copy."""
    workspace = shell.workspace
    session_id = await _resolve(shell, arguments, KEPT_OR_ARCHIVED)
    refuse_private(session_id, "copied")
    if _is_empty(shell, session_id):
        return shell.say("Nothing to fork yet.")
    title, known = await title_of(shell, session_id), workspace.switcher.find(session_id)
    if known is not None and not await save_or_say(shell, known):
        return None
    new_id = await workspace.fork(session_id)
    failure = ""
    try:
        if await workspace.open_session(new_id):
            await shell.show_session()
    except (StorageError, UsageError, PrivateSessionLeft) as error:
        failure = str(error)
        shell.show_moved(new_id)
    shell.say(f"This is a copy of {title}; the original is unchanged")
    if failure:
        shell.say(failure, "error")
    return None


@command("undo")
async def undo(shell: Shell, arguments: str) -> None:
    """Undo the last archive, delete, restore or clear, of this run or an earlier one."""
    batch = await shell.context.shelf.take_last_batch()
    if not batch:
        shell.say("Nothing to undo.")
    elif len(batch) > 1:
        # A clear may have moved many sessions.
        shell.in_background(partial(_undo, batch=batch))
    else:
        await _undo(shell, batch)


async def _undo(shell: Shell, batch: Sequence[Move]) -> None:
    before = shell.workspace.current
    undone = await shell.context.shelf.undo(batch)
    left = ""
    counts = Counter(obstacle for _, obstacle in undone.left)
    if len(undone.left) == 1:
        move, obstacle = undone.left[0]
        name = move.id if obstacle == "purged" else await title_of(shell, move.id)
        left = f"{name} stays as it is: {obstacle}"
    elif counts:
        reasons = ", ".join(f"{count} {obstacle}" for obstacle, count in counts.items())
        left = f"{plural(len(undone.left), 'session')} stay as they are: {reasons}"
    if undone.taken_back:
        first, count = undone.taken_back[0], len(undone.taken_back)
        names = plural(count, "session") if count > 1 else await title_of(shell, first.id)
        await _show_moved(shell, before, first.id)
        shell.say(_UNDONE[first.source].format(names))
    if left:
        shell.say(left, "warning")
    if undone.failure:
        shell.say(undone.failure, "error")


async def _resolve(shell: Shell, target: str, wanted: frozenset[Status]) -> str:
    if not target or _is_empty(shell, target):
        # An empty session is not on disk, so it cannot be resolved.
        return target or shell.workspace.current.id
    return await resolve(shell, target, wanted)


def _is_empty(shell: Shell, session_id: str) -> bool:
    known = shell.workspace.switcher.find(session_id)
    return known is not None and known.empty


async def _show_moved(shell: Shell, before: LoadedSession, session_id: str) -> None:
    """Update the sidebar, and the session on screen if it changed."""
    if shell.workspace.current is not before:
        await shell.show_session()
    shell.show_moved(session_id)
