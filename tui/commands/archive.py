"""``/archive /restore /delete /fork /undo``: what is done with whole sessions."""

import asyncio
from collections.abc import Sequence
from functools import partial

from tui.commands.context import CommandContext
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
from tui.commands.sessions import resolved
from tui.domain.journal.session import Status
from tui.domain.targets import is_number
from tui.domain.text.labels import plural
from tui.domain.timestamps import format_utc
from tui.engine.sessions.fork import write_fork
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import SessionBusy, StorageError, UsageError
from tui.storage.protocol import KEPT_OR_ARCHIVED

_ASIDE: frozenset[Status] = frozenset({"archived", "trashed"})
_UNDONE = {"kept": "Restored", "archived": "Archived", "trashed": "Deleted"}


async def archive(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Set a session aside."""
    session_id = await _meant(context, arguments, KEPT_OR_ARCHIVED)
    if _is_empty(context, session_id):
        return say("Nothing to archive yet.")
    before = context.workspace.current
    scope = await _scope_of(context, session_id)
    await context.shelf.archive(session_id)
    return (
        *_moved(context, before, session_id),
        *say(f"Archived session: {session_id}"),
        Later(partial(_hook_told, context, scope, session_id)),
    )


async def restore(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Bring a session back from the archive or the trash, and open it."""
    session_id = await _meant(context, arguments, _ASIDE)
    if _is_empty(context, session_id):
        return say("Nothing to restore.")
    told = len(context.workspace.current.notices)
    failure = await context.shelf.restore(session_id)
    if failure:
        return _done_but(session_id, f"Restored session: {session_id}", failure)
    if len(context.workspace.current.notices) > told and session_id == context.workspace.current.id:
        # Its first change has restored it, and said so.
        return (ShowSession(), MovedSession(session_id))
    return (ShowSession(), MovedSession(session_id), *say(f"Restored session: {session_id}"))


async def delete(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Ask, and move a session to the trash."""
    session_id = await _meant(context, arguments, KEPT_OR_ARCHIVED)
    if _is_empty(context, session_id):
        return say("Nothing to delete yet.")
    if arguments and session_id != arguments and not is_number(arguments):
        raise UsageError(f"Deleting takes the whole id or a listed number: {session_id}")
    await _check_holder(context, session_id)
    return (
        Ask(
            f"Delete session {session_id}? (y/n)",
            partial(delete_at_once, context, session_id),
            detail=await _what_goes(context, session_id),
        ),
    )


async def delete_at_once(context: CommandContext, session_id: str) -> Sequence[Effect]:
    """Move a session to the trash, where that was asked and answered."""
    before = context.workspace.current
    await context.shelf.delete(session_id)
    return (*_moved(context, before, session_id), *say(f"Deleted session: {session_id}"))


async def fork(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Go on in a session of its own from where another one is."""
    workspace = context.workspace
    session_id = await _meant(context, arguments, KEPT_OR_ARCHIVED)
    if _is_empty(context, session_id):
        return say("Nothing to fork yet.")
    known = workspace.find(session_id)
    if known is not None:
        try:
            await workspace.save(known)
        except StorageError as error:
            return save_failed(session_id, error)
    workspace.check_limit()
    now = format_utc(workspace.clock())
    new_id = await asyncio.to_thread(write_fork, workspace.store, session_id, now)
    done = f"Forked session: {session_id} -> {new_id}"
    try:
        shown = (ShowSession(),) if await workspace.open_session(new_id) else ()
    except (StorageError, UsageError) as error:
        return _done_but(new_id, done, str(error))
    return (*shown, *say(done))


async def undo(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Take back the last archiving, deletion, restoring or clearing."""
    if context.shelf.has_cleared:
        # As many as there were: nothing waits for them.
        return (Later(partial(_undone, context)),)
    return await _undone(context)


async def _undone(context: CommandContext) -> Sequence[Effect]:
    before = context.workspace.current
    deeds, failure = await context.shelf.undo()
    if not deeds:
        return say("Nothing to undo.")
    first = deeds[0]
    moved = _moved(context, before, first.session_id)
    failed = say(failure, "error") if failure else ()
    if len(deeds) > 1:
        # All of them were cleared at once.
        return (*moved, *say(f"Restored {len(deeds)} saved session(s)."), *failed)
    return (*moved, *say(f"{_UNDONE[first.before]} session: {first.session_id}"), *failed)


async def _meant(context: CommandContext, target: str, wanted: frozenset[Status]) -> str:
    if not target or _is_empty(context, target):
        # One that is empty is not on disk to be found.
        return target or context.workspace.current.id
    return await asyncio.to_thread(resolved, context, target, wanted)


def _done_but(session_id: str, done: str, failure: str) -> Sequence[Effect]:
    """Say what was done, and why it is not on screen."""
    return (MovedSession(session_id), *say(done), *say(failure, "error"))


def _is_empty(context: CommandContext, session_id: str) -> bool:
    known = context.workspace.find(session_id)
    return known is not None and known.empty


async def _check_holder(context: CommandContext, session_id: str) -> None:
    """Raise ``SessionBusy`` if another program holds a session: there is nothing to ask then."""
    known = context.workspace.find(session_id)
    if known is not None and known.opened is not None:
        return
    holder = await asyncio.to_thread(context.workspace.store.holder, session_id)
    if holder is not None:
        raise SessionBusy(session_id, str(holder))


def _moved(context: CommandContext, before: LoadedSession, session_id: str) -> tuple[Effect, ...]:
    """Show the session that is on screen now, if that is another one, and the list as it is."""
    moved = MovedSession(session_id)
    return (ShowSession(), moved) if context.workspace.current is not before else (moved,)


async def _scope_of(context: CommandContext, session_id: str) -> str:
    known = context.workspace.find(session_id)
    if known is not None:
        return known.session.header.scope
    entry = await asyncio.to_thread(context.workspace.store.entry, session_id)
    return entry.scope


async def _hook_told(context: CommandContext, scope: str, session_id: str) -> Sequence[Effect]:
    return warn(await context.retention.tell_archived(scope, session_id))


async def _what_goes(context: CommandContext, session_id: str) -> str:
    """Which session it is, and that it can be had again."""
    workspace = context.workspace
    known = workspace.find(session_id)
    entry = await asyncio.to_thread(workspace.store.entry, session_id)
    label = known.label() if known is not None else entry.label
    count = known.session.message_count if known is not None else entry.message_count
    running = " Its answer is stopped." if known is not None and known.activity.running else ""
    return f"{label} ({plural(count, 'message')}).{running} /undo brings it back."
