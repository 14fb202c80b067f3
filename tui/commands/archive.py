"""``/archive``, ``/restore``, ``/delete``, ``/fork`` and ``/undo``."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial

from tui.commands import session
from tui.commands.context import CommandContext, title_of
from tui.commands.effects import (
    Ask,
    Effect,
    Later,
    MovedSession,
    ShowSession,
    save_failed,
    say,
    warn,
)
from tui.commands.private import refuse_private
from tui.commands.targets import check_holder, resolve
from tui.domain.journal.ids import is_private
from tui.domain.journal.session import Status
from tui.domain.moves import Move, Place
from tui.domain.targets import is_number
from tui.domain.text.labels import plural
from tui.engine.library.session_moves import Undone
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


async def archive(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Archive a session."""
    session_id = await _resolve(context, arguments, KEPT_OR_ARCHIVED)
    refuse_private(session_id, "archived")
    if _is_empty(context, session_id):
        return say("Nothing to archive yet.")
    before = context.workspace.current
    scope, title = await _scope_of(context, session_id), await title_of(context, session_id)
    await context.shelf.archive(session_id)
    return (
        *_moved(context, before, session_id),
        *say(f"Archived {title}. /undo brings it back"),
        Later(partial(_run_hook, context, scope, session_id)),
    )


async def restore(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Restore a session from the archive or the trash, and open it."""
    session_id = await _resolve(context, arguments, _ARCHIVED_OR_TRASHED)
    if _is_empty(context, session_id):
        return say("Nothing to restore.")
    told, title = len(context.workspace.current.notices), await title_of(context, session_id)
    failure = await context.shelf.restore(session_id)
    if failure:
        return _not_shown(session_id, f"Brought back {title}", failure)
    if len(context.workspace.current.notices) > told and session_id == context.workspace.current.id:
        # Opening it has restored it already, with a notice.
        return (ShowSession(), MovedSession(session_id))
    return (ShowSession(), MovedSession(session_id), *say(f"Brought back {title}"))


async def delete(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Move a session to the trash, after asking."""
    session_id = await _resolve(context, arguments, KEPT_OR_ARCHIVED)
    if _is_empty(context, session_id):
        return say("Nothing to delete yet.")
    if is_private(session_id):
        return await session.close(context, session_id)
    if arguments and session_id != arguments and not is_number(arguments):
        raise UsageError(f"Deleting takes the complete id or a listed number: {session_id}")
    # Before the user is asked.
    await check_holder(context, session_id)
    question = await _deletion_question(context, session_id)
    detail = f"{_running(context, session_id)}/undo brings it back."
    return (Ask(question, partial(delete_at_once, context, session_id), detail=detail),)


async def delete_at_once(context: CommandContext, session_id: str) -> Sequence[Effect]:
    """Move a session to the trash without asking."""
    if _is_empty(context, session_id):
        return say("Nothing to delete yet.")
    if is_private(session_id):
        return await session.close(context, session_id)
    before, title = context.workspace.current, await title_of(context, session_id)
    await context.shelf.delete(session_id)
    done = f"Moved {title} to the trash. /undo brings it back"
    return (*_moved(context, before, session_id), *say(done))


async def fork(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Copy a session and open the copy."""
    workspace = context.workspace
    session_id = await _resolve(context, arguments, KEPT_OR_ARCHIVED)
    refuse_private(session_id, "copied")
    if _is_empty(context, session_id):
        return say("Nothing to fork yet.")
    title, known = await title_of(context, session_id), workspace.switcher.find(session_id)
    if known is not None:
        try:
            await workspace.pool.save(known)
        except StorageError as error:
            return save_failed(known.label(), error)
    new_id = await workspace.fork(session_id)
    done = f"This is a copy of {title}; the original is unchanged"
    try:
        shown = (ShowSession(),) if await workspace.open_session(new_id) else ()
    except (StorageError, UsageError, PrivateSessionLeft) as error:
        return _not_shown(new_id, done, str(error))
    return (*shown, *say(done))


async def undo(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Undo the last archive, delete, restore or clear, of this run or an earlier one."""
    batch = await context.shelf.take_last_batch()
    if not batch:
        return say("Nothing to undo.")
    work = partial(_undo, context, batch)
    # In the background: a clear may have moved many sessions.
    return (Later(work),) if len(batch) > 1 else await work()


async def _undo(context: CommandContext, batch: Sequence[Move]) -> Sequence[Effect]:
    before = context.workspace.current
    undone = await context.shelf.undo(batch)
    left = await _left_words(context, undone)
    told = (*warn([left] if left else []), *_failed(undone.failure))
    if not undone.taken_back:
        return told
    first, others = undone.taken_back[0], len(undone.taken_back) - 1
    names = plural(others + 1, "session") if others else await title_of(context, first.id)
    words = _UNDONE[first.source].format(names)
    return (*_moved(context, before, first.id), *say(words), *told)


def _failed(reason: str) -> tuple[Effect, ...]:
    return say(reason, "error") if reason else ()


async def _left_words(context: CommandContext, undone: Undone) -> str:
    """Describe the moves that could not be taken back; empty without any."""
    if len(undone.left) == 1:
        move, obstacle = undone.left[0]
        name = move.id if obstacle == "purged" else await title_of(context, move.id)
        return f"{name} stays as it is: {obstacle}"
    counts = Counter(obstacle for _, obstacle in undone.left)
    reasons = ", ".join(f"{count} {obstacle}" for obstacle, count in counts.items())
    return f"{plural(len(undone.left), 'session')} stay as they are: {reasons}" if counts else ""


async def _resolve(context: CommandContext, target: str, wanted: frozenset[Status]) -> str:
    if not target or _is_empty(context, target):
        # An empty session is not on disk, so it cannot be resolved.
        return target or context.workspace.current.id
    return await resolve(context, target, wanted)


def _not_shown(session_id: str, done: str, failure: str) -> Sequence[Effect]:
    """Report the success, and the failure to show the session."""
    return (MovedSession(session_id), *say(done), *say(failure, "error"))


def _is_empty(context: CommandContext, session_id: str) -> bool:
    known = context.workspace.switcher.find(session_id)
    return known is not None and known.empty


def _moved(context: CommandContext, before: LoadedSession, session_id: str) -> tuple[Effect, ...]:
    """Update the sidebar, and the session on screen if it changed."""
    moved = MovedSession(session_id)
    return (ShowSession(), moved) if context.workspace.current is not before else (moved,)


async def _scope_of(context: CommandContext, session_id: str) -> str:
    known = context.workspace.switcher.find(session_id)
    if known is not None:
        return known.session.header.scope
    entry = await asyncio.to_thread(context.workspace.reader.entry, session_id)
    return entry.scope


async def _run_hook(context: CommandContext, scope: str, session_id: str) -> Sequence[Effect]:
    return warn(await context.retention.tell_archived(scope, session_id))


async def _deletion_question(context: CommandContext, session_id: str) -> str:
    known = context.workspace.switcher.find(session_id)
    if known is not None:
        label, count = known.label(), known.session.message_count
    else:
        entry = await asyncio.to_thread(context.workspace.reader.entry, session_id)
        label, count = entry.label, entry.message_count
    return f'Move "{label}" ({plural(count, "message")}) to the trash?'


def _running(context: CommandContext, session_id: str) -> str:
    known = context.workspace.switcher.find(session_id)
    return "Its answer will be stopped. " if known is not None and known.activity.running else ""
