"""``/resume``: the list of closed sessions."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial

from tui.commands.context import MOST_ROWS, CommandContext
from tui.commands.effects import Ask, Effect, Later, ShowSession, say
from tui.domain.journal.session import SessionEntry
from tui.domain.targets import is_number, listed_number
from tui.domain.text.labels import age
from tui.domain.text.safe_text import make_visible_line
from tui.domain.timestamps import parse_utc
from tui.domain.views.notice import Table
from tui.engine.library.bulk_delete import check_closed_here
from tui.engine.library.closed_sessions import (
    ClosedSessions,
    check_project,
    opened_here,
    read_resumable,
)
from tui.engine.sessions.switching import StayedError
from tui.errors import SessionNotFound, UsageError

_NOTHING = "No sessions to resume."


async def resume(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """List closed sessions, or open one of them."""
    word, *rest = arguments.split(maxsplit=1)[:2] or [""]
    match word.lower(), rest:
        case (("" | "list"), []):
            return await _list(context)
        case "delete", _:
            return await _delete(context, "".join(rest))
        case "clear", []:
            return await _clear(context)
        case _:
            return await _open(context, arguments)


async def _list(context: CommandContext) -> Sequence[Effect]:
    found = await _resumable(context)
    shown = found.closed[:MOST_ROWS]
    context.lists["resume"] = _ids(shown)
    if not shown:
        return say(_NOTHING)
    rows = tuple(_rows(shown, context))
    lines = ["Resumable sessions:", *map(" ".join, rows)]
    if len(found.closed) > len(shown):
        lines.append(f"  and {len(found.closed) - len(shown)} more")
    lines.append("Use /resume <number> to restore a session.")
    return say("\n".join(lines), table=Table(rows, first=1))


async def _open(context: CommandContext, target: str) -> Sequence[Effect]:
    workspace = context.workspace
    session_id = await _resolve(context, target)
    entry = await asyncio.to_thread(workspace.reader.entry, session_id)
    known = workspace.switcher.find(session_id)
    if known is None or known.opened is None:
        await _check(context, entry)
    try:
        if not await workspace.open_session(session_id):
            return ()
    except StayedError as error:
        return say(str(error), "error")
    return (ShowSession(), *say(f"Resumed session: {workspace.current.label()}"))


async def _delete(context: CommandContext, target: str) -> Sequence[Effect]:
    if not target:
        return say("Usage: /resume delete <number|session-id>")
    session_id = target
    if is_number(target):
        listed = await _listed_ids(context)
        number = listed_number(target, listed)
        if number is None:
            raise UsageError(_no_number(target, len(listed)))
        session_id = listed[number - 1]
    return (Later(partial(_delete_in_background, context, session_id)),)


async def _delete_in_background(context: CommandContext, session_id: str) -> Sequence[Effect]:
    before = context.workspace.current
    check_closed_here(context.workspace, session_id)
    # Through the shelf and not the store, so that /undo works.
    await context.shelf.delete(session_id)
    shown = (ShowSession(),) if context.workspace.current is not before else ()
    return (*shown, *say("Deleted saved session."))


async def _clear(context: CommandContext) -> Sequence[Effect]:
    closed = (await _resumable(context)).closed
    if not closed:
        return say("No saved sessions to clear.")
    scopes = len({entry.scope for entry in closed})
    return (
        Ask(
            f"Delete {len(closed)} saved session(s) in {scopes} scope(s)? (y/n)",
            partial(_clear_confirmed, context, _ids(closed)),
            declined=say("Nothing cleared."),
            detail="They go to the trash. /undo brings them back.",
        ),
    )


async def _clear_confirmed(context: CommandContext, ids: Sequence[str]) -> Sequence[Effect]:
    return (Later(partial(_clear_in_background, context, ids)),)


async def _clear_in_background(context: CommandContext, ids: Sequence[str]) -> Sequence[Effect]:
    before = context.workspace.current
    cleared = await context.shelf.clear(ids)
    shown = (ShowSession(),) if context.workspace.current is not before else ()
    failed = say(cleared.failure, "error") if cleared.failure else ()
    return (*shown, *say(f"Cleared {len(cleared.ids)} saved session(s)."), *failed)


async def _check(context: CommandContext, entry: SessionEntry) -> None:
    """Raise ``UsageError`` if the session must not be opened."""
    await asyncio.to_thread(check_project, entry)
    if context.exclusive_projects and (await _all_closed(context)).has_open_project(entry):
        raise UsageError("Project already open in another session.")


async def _resolve(context: CommandContext, target: str) -> str:
    """Resolve a row of the list, or another target.

    Raises ``UsageError``, ``SessionNotFound`` and ``AmbiguousSession``.
    """
    store, scope = context.workspace.reader, context.workspace.scope
    if not is_number(target):
        return await asyncio.to_thread(store.resolve, target, scope)
    listed = await _listed_ids(context)
    number = listed_number(target, listed)
    if number is not None:
        return listed[number - 1]
    try:
        # A number outside the list may be a name, or the date of an id.
        return await asyncio.to_thread(store.resolve, target, scope)
    except SessionNotFound as error:
        raise UsageError(_no_number(target, len(listed))) from error


def _no_number(target: str, count: int) -> str:
    return f"Invalid index: {target}. Valid range is 1-{count}." if count else _NOTHING


async def _listed_ids(context: CommandContext) -> tuple[str, ...]:
    """The ids of the last printed list, else of the current one."""
    listed = context.lists.get("resume", ())
    return listed or _ids((await _resumable(context)).closed[:MOST_ROWS])


async def _resumable(context: CommandContext) -> ClosedSessions:
    found = await _all_closed(context)
    return found.outside_open_projects() if context.exclusive_projects else found


async def _all_closed(context: CommandContext) -> ClosedSessions:
    workspace = context.workspace
    await workspace.switcher.settle()
    return await asyncio.to_thread(read_resumable, workspace.reader, opened_here(workspace))


def _rows(entries: Sequence[SessionEntry], context: CommandContext) -> Iterator[tuple[str, ...]]:
    now = context.workspace.clock()
    for number, entry in enumerate(entries, 1):
        path = make_visible_line(entry.project_path)
        closed = age(parse_utc(entry.closed_at), now)
        yield f"  {number}.", entry.label, f"({path}) - closed {closed}"


def _ids(entries: Sequence[SessionEntry]) -> tuple[str, ...]:
    return tuple(entry.id for entry in entries)
