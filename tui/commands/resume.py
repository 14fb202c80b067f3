"""``/resume``: closed sessions, latest closed first."""

import asyncio
from collections.abc import Sequence
from functools import partial

from tui.commands.context import CommandContext, title_of
from tui.commands.effects import Ask, Effect, Later, OpenPicker, ShowSession, say
from tui.commands.sessions import open_projects, open_session
from tui.commands.targets import resolve, resolve_number
from tui.domain.journal.session import SessionEntry
from tui.domain.targets import is_number
from tui.domain.text.labels import plural
from tui.engine.library.bulk_delete import check_closed_here
from tui.engine.library.closed_sessions import check_project, read_closed


async def resume(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show closed sessions, or open one of them."""
    word, *rest = arguments.split(maxsplit=1)[:2] or [""]
    match word.lower(), rest:
        case (("" | "list"), []):
            return (OpenPicker("closed"),)
        case "delete", _:
            return await _delete(context, "".join(rest))
        case "clear", []:
            return await _clear(context)
        case _:
            return await _open(context, arguments)


async def _open(context: CommandContext, target: str) -> Sequence[Effect]:
    workspace = context.workspace
    session_id = await resolve(context, target, view="closed")
    known = workspace.switcher.find(session_id)
    if known is None or known.opened is None:
        entry = await asyncio.to_thread(workspace.reader.entry, session_id)
        await asyncio.to_thread(check_project, entry)
    return await open_session(context, session_id)


async def _delete(context: CommandContext, target: str) -> Sequence[Effect]:
    if not target:
        return say("Usage: /resume delete NUMBER or ID")
    # Never guessed: by number or whole id only.
    number = is_number(target)
    session_id = await resolve_number(context, target, "closed") if number else target
    return (Later(partial(_delete_in_background, context, session_id)),)


async def _delete_in_background(context: CommandContext, session_id: str) -> Sequence[Effect]:
    before = context.workspace.current
    check_closed_here(context.workspace, session_id)
    title = await title_of(context, session_id)
    # Through the shelf and not the store, so that /undo works.
    await context.shelf.delete(session_id)
    shown = (ShowSession(),) if context.workspace.current is not before else ()
    return (*shown, *say(f"Moved {title} to the trash. /undo brings it back"))


async def _clear(context: CommandContext) -> Sequence[Effect]:
    closed = await _closed(context)
    if not closed:
        return say("There are no closed sessions.")
    sessions = plural(len(closed), "closed session")
    projects = plural(len({entry.scope for entry in closed}), "project")
    return (
        Ask(
            f"Move all {sessions} of {projects} to the trash?",
            partial(_clear_confirmed, context, [entry.id for entry in closed]),
            declined=say("Nothing was moved."),
            detail="/undo brings them back.",
        ),
    )


async def _clear_confirmed(context: CommandContext, ids: Sequence[str]) -> Sequence[Effect]:
    return (Later(partial(_clear_in_background, context, ids)),)


async def _clear_in_background(context: CommandContext, ids: Sequence[str]) -> Sequence[Effect]:
    before = context.workspace.current
    cleared = await context.shelf.clear(ids)
    shown = (ShowSession(),) if context.workspace.current is not before else ()
    failed = say(cleared.failure, "error") if cleared.failure else ()
    return (*shown, *say(_cleared_words(len(cleared.ids))), *failed)


def _cleared_words(count: int) -> str:
    if not count:
        return "No session was moved"
    them = "it" if count == 1 else "them"
    return f"Moved {plural(count, 'session')} to the trash. /undo brings {them} back"


async def _closed(context: CommandContext) -> Sequence[SessionEntry]:
    workspace = context.workspace
    await workspace.switcher.settle()
    closed = await asyncio.to_thread(read_closed, workspace.reader)
    if not context.exclusive_projects:
        return closed
    taken = (await open_projects(context)).values()
    return [entry for entry in closed if entry.project_path not in taken]
