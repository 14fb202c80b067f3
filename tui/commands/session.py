"""``/session``: details of the current session, and the sessions of its scope."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from tui.commands.context import CommandContext, CommandFunction
from tui.commands.effects import (
    Ask,
    Effect,
    MovedSession,
    OpenPicker,
    ShowSession,
    report,
    save_failed,
    say,
)
from tui.commands.leaving import ask_before
from tui.commands.private import refuse_private
from tui.commands.sessions import open_session
from tui.commands.targets import check_holder, resolve
from tui.domain.commands import BY_NAME
from tui.domain.targets import is_number
from tui.domain.timestamps import format_utc
from tui.domain.views.markdown import facts_of, parameters_of
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import StayedError
from tui.errors import StorageError

_USAGE = BY_NAME["session"].usage_error
_RESUME_USAGE = "Usage: /session resume NUMBER"


async def session(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show the details of the current session, or run a verb."""
    if not arguments:
        return _details(context)
    word, _, rest = arguments.partition(" ")
    function = _FUNCTIONS.get(word.lower())
    return await function(context, rest.strip()) if function else say(_USAGE)


def _details(context: CommandContext) -> Sequence[Effect]:
    loaded = context.workspace.current
    row = loaded.row(format_utc(context.workspace.clock()), active=True)
    settings = loaded.session.settings
    prompts = f"prompts: {loaded.session.prompt_count}"
    facts = [*facts_of(row), prompts, *parameters_of(settings)]
    if settings.system_prompt is not None:
        facts.append("system prompt: this session's own; /system shows it")
    return report("This session", "\n".join((row.label, *facts)))


async def _list(context: CommandContext, arguments: str) -> Sequence[Effect]:
    return say(_USAGE) if arguments else (OpenPicker("all", everywhere=False),)


async def _resume(context: CommandContext, arguments: str) -> Sequence[Effect]:
    if not is_number(arguments):
        return say(_RESUME_USAGE)
    session_id = await resolve(context, arguments, scope=context.workspace.scope)
    return await open_session(context, session_id)


async def _save(context: CommandContext, arguments: str) -> Sequence[Effect]:
    workspace = context.workspace
    if not arguments:
        return await _save_here(context, workspace.current)
    session_id = await asyncio.to_thread(workspace.reader.resolve, arguments, workspace.scope)
    known = workspace.switcher.find(session_id)
    if known is not None and known.opened is not None:
        return await _save_here(context, known)
    # Another window may have unsaved records.
    await check_holder(context, session_id)
    return await _saved_to(context, session_id)


async def _save_here(context: CommandContext, loaded: LoadedSession) -> Sequence[Effect]:
    refuse_private(loaded.id, "saved")
    if loaded.empty:
        return say("Nothing to save yet.")
    try:
        await context.workspace.pool.save(loaded)
    except StorageError as error:
        return save_failed(loaded.label(), error)
    return await _saved_to(context, loaded.id)


async def _saved_to(context: CommandContext, session_id: str) -> Sequence[Effect]:
    store = context.workspace.reader
    entry = await asyncio.to_thread(store.entry, session_id)
    path = await asyncio.to_thread(store.location, session_id)
    return say(f'Saved "{entry.label}" to {path}')


async def close(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Close a session; while an answer arrives, or for a private one, only after asking."""
    workspace = context.workspace
    loaded = workspace.switcher.find(arguments) if arguments else workspace.current
    if loaded is None:
        return say(f"No open session has the id {arguments}.")
    close = partial(_close_now, context, loaded)
    question = ask_before("Close this session?", (loaded,), close)
    return (question,) if question else await close()


async def _close_now(context: CommandContext, loaded: LoadedSession) -> Sequence[Effect]:
    await context.stop(loaded)
    try:
        return await _leave(context, loaded, partial(_save_and_close, context, loaded))
    except StayedError as stayed:
        return (
            Ask(
                f'Could not save "{loaded.label()}": {stayed.reason}. Close it anyway?',
                partial(_close_unsaved, context, loaded),
                declined=say(str(stayed), "error"),
                detail="Unsaved messages go to a rescue file.",
            ),
        )


async def _save_and_close(context: CommandContext, loaded: LoadedSession) -> None:
    """Save and close a session; a private one is gone. Raises ``StayedError``."""
    if loaded.private:
        context.workspace.pool.forget(loaded)
        return
    try:
        await context.workspace.pool.keep_draft(loaded)
        await context.workspace.pool.close(loaded)
    except StorageError as error:
        raise StayedError(loaded.label(), error.short) from error


async def _close_unsaved(context: CommandContext, loaded: LoadedSession) -> Sequence[Effect]:
    lines: list[str] = []

    async def give_up() -> None:
        lines.extend(await asyncio.to_thread(context.rescue, loaded))
        await context.workspace.pool.abandon(loaded)

    effects = await _leave(context, loaded, give_up)
    return (*effects, *say("\n".join(lines), "warning"))


async def _leave(
    context: CommandContext, loaded: LoadedSession, give_up: Callable[[], Awaitable[None]]
) -> Sequence[Effect]:
    """Close a session by ``give_up``, and show another one if it was on screen."""
    told = say(f'Closed "{loaded.label()}"')
    if loaded is not context.workspace.current:
        await context.workspace.switcher.between_switches(give_up)
        return (MovedSession(loaded.id), *told)
    shown = await context.workspace.leave_current(give_up)
    return (ShowSession(), *told) if shown else told


_FUNCTIONS: dict[str, CommandFunction] = {
    "list": _list,
    "resume": _resume,
    "save": _save,
    "close": close,
}
