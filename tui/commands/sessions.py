"""``/sessions``, ``/save``, ``/load``, ``/new``, ``/reset`` and ``/name``."""

import asyncio
from collections.abc import Sequence
from functools import partial

from tui.commands.context import CommandContext, title_of
from tui.commands.effects import (
    Effect,
    FocusPrompt,
    Later,
    OpenPicker,
    ShowSession,
    save_failed,
    say,
    warn,
)
from tui.commands.private import refuse_private
from tui.commands.targets import resolve
from tui.domain.commands import BY_NAME
from tui.domain.text.labels import NAME_CHARACTERS
from tui.domain.views.notice import Notice
from tui.engine.library.closed_sessions import opened_here, read_open_projects, session_with_project
from tui.engine.library.retention import Pruned
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import StayedError
from tui.errors import StorageError, UsageError


async def list_all(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show all sessions, or those with a text in their title, project or id."""
    return (OpenPicker("all", text=arguments),)


async def save(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Save all pending records."""
    workspace, loaded = context.workspace, context.workspace.current
    refuse_private(loaded.id, "saved")
    if loaded.empty:
        return say("Nothing to save yet.")
    try:
        await workspace.pool.save(loaded)
    except StorageError as error:
        return save_failed(loaded.label(), error)
    await workspace.save_all()
    return say(f"Session saved: {loaded.id}")


async def load(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Open a session; without a target, show all of them."""
    if not arguments:
        return (OpenPicker("all"),)
    return await open_session(context, await resolve(context, arguments))


async def open_session(context: CommandContext, session_id: str) -> Sequence[Effect]:
    """Show a session and open it. Raises ``UsageError`` if its project is not to be open twice."""
    known = context.workspace.switcher.find(session_id)
    if context.exclusive_projects and (known is None or known.opened is None):
        await _check_exclusive(context, session_id)
    try:
        if not await context.workspace.open_session(session_id):
            return ()
    except StayedError as error:
        return say(str(error), "error")
    return (ShowSession(), *say(f'Opened "{context.workspace.current.label()}"'))


async def _check_exclusive(context: CommandContext, session_id: str) -> None:
    entry = await asyncio.to_thread(context.workspace.reader.entry, session_id)
    other = session_with_project(await open_projects(context), entry)
    if other is not None:
        title = await title_of(context, other)
        raise UsageError(f"This project is already open in {title}. Close that session first.")


async def open_projects(context: CommandContext) -> dict[str, str]:
    """Map the open sessions, here and elsewhere, to their projects."""
    workspace = context.workspace
    return await asyncio.to_thread(read_open_projects, workspace.reader, opened_here(workspace))


async def begin(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Begin a session in this scope."""
    if len(arguments) > NAME_CHARACTERS:
        return say(_TOO_LONG, "error")
    workspace = context.workspace
    if not await workspace.begin(arguments):
        # If it is not new, the user selected another session meanwhile.
        untouched = workspace.current.untouched
        return (FocusPrompt(), *say("Already in a new session")) if untouched else ()
    loaded = workspace.current
    return (ShowSession(), FocusPrompt(), Later(partial(_prune, context, loaded)))


async def _prune(context: CommandContext, loaded: LoadedSession) -> Sequence[Effect]:
    """Archive sessions beyond the limit of the scope, and report the new session."""
    started = "Started a new session"
    if not context.retention.limits_scopes:
        return _say_in(context, loaded, started)
    await context.workspace.switcher.settle()
    pruned = await context.retention.after_new(context.workspace)
    older = f" ({context.retention.older(pruned.count)})" if pruned.count else ""
    failed = say(str(pruned.failure), "warning") if pruned.failure else ()
    told = Later(partial(run_hook, context, pruned))
    return (*_say_in(context, loaded, started + older), *failed, told)


async def run_hook(context: CommandContext, pruned: Pruned) -> Sequence[Effect]:
    """Run the archive hook; its failures become warnings."""
    return warn(await context.retention.tell_hook(pruned))


def _say_in(context: CommandContext, loaded: LoadedSession, text: str) -> tuple[Effect, ...]:
    """Show a notice in its session, which may no longer be on screen."""
    if loaded is context.workspace.current:
        return say(text)
    loaded.say(Notice(text))
    return ()


async def reset(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Save, then begin an empty conversation under the same id."""
    workspace, loaded = context.workspace, context.workspace.current
    if loaded.empty:
        return say("Nothing to reset yet.")
    await context.stop(loaded)
    await workspace.take(loaded)
    try:
        await workspace.reset(loaded)
    except StorageError as error:
        return say(f"Not reset: could not save ({error.short})", "error")
    done = "Started over" if loaded.private else "Started over. The earlier messages are kept"
    return (ShowSession(), *say(done))


async def rename(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Name the current session."""
    if not arguments:
        return say(BY_NAME["name"].usage_error)
    if len(arguments) > NAME_CHARACTERS:
        return say(_TOO_LONG, "error")
    loaded = context.workspace.current
    await context.workspace.rename(loaded, arguments)
    return say(f'Renamed to "{arguments}"')


_TOO_LONG = f"Name is longer than {NAME_CHARACTERS} characters."
