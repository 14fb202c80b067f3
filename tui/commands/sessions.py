"""``/sessions``, ``/save``, ``/load``, ``/new``, ``/reset`` and ``/name``."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial

from tui.commands.context import MOST_ROWS, CommandContext
from tui.commands.effects import Effect, Later, ShowSession, save_failed, say, warn
from tui.domain.commands import BY_NAME
from tui.domain.journal.session import SessionEntry, Status
from tui.domain.targets import is_number
from tui.domain.text.labels import NAME_CHARACTERS, plural
from tui.domain.views.notice import Notice, Table
from tui.domain.views.session_table import session_rows, session_table
from tui.engine.library.retention import Pruned
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import StayedError
from tui.errors import StorageError
from tui.storage.protocol import KEPT_OR_ARCHIVED, SessionFilter, SessionReader

_PAGE = 200
MORE = "There are more: /sessions <text> shows those with a text in their name."


async def list_all(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """List all sessions, or those with a text in their name or id."""
    store = context.workspace.reader
    found = await asyncio.to_thread(_matching, store, arguments.casefold())
    if not found:
        return say("No saved sessions.")
    shown = found[:MOST_ROWS]
    context.lists["sessions"] = tuple(entry.id for entry in shown)
    now = context.workspace.clock()
    lines = ["Saved sessions:", session_table(shown, now, numbered=True)]
    if len(found) > len(shown):
        lines.append(MORE)
    rows = session_rows(shown, now, numbered=True)
    table = Table(rows, first=1, name=2, gap=2, right=(4,), headed=True)
    return say("\n".join(lines), table=table)


async def save(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Save all pending records."""
    workspace, loaded = context.workspace, context.workspace.current
    if loaded.empty:
        return say("Nothing to save yet.")
    told = len(loaded.notices)
    try:
        await workspace.pool.save(loaded)
    except StorageError as error:
        return save_failed(loaded.id, error)
    await workspace.save_all()
    return (*shown_notices(loaded, told), *say(f"Session saved: {loaded.id}"))


async def load(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Open a session."""
    if not arguments:
        return say(BY_NAME["load"].usage_error)
    workspace = context.workspace
    session_id = await asyncio.to_thread(resolve, context, arguments)
    try:
        if not await workspace.open_session(session_id):
            return ()
    except StayedError as error:
        return say(str(error), "error")
    count = workspace.current.session.message_count
    loaded = f"Loaded session: {session_id} ({plural(count, 'message')})"
    return (ShowSession(), *say(loaded))


async def begin(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Begin a session in this scope."""
    if len(arguments) > NAME_CHARACTERS:
        return say(_TOO_LONG, "error")
    workspace = context.workspace
    if not await workspace.begin(arguments):
        # If it is not new, the user selected another session meanwhile.
        untouched = workspace.current.untouched
        return say(f"Already in a new session: {workspace.current.id}") if untouched else ()
    loaded = workspace.current
    return (ShowSession(), Later(partial(_prune, context, loaded)))


async def _prune(context: CommandContext, loaded: LoadedSession) -> Sequence[Effect]:
    """Archive sessions beyond the limit of the scope, and report the new session."""
    started = f"Started new session: {loaded.id}"
    if not context.retention.limits_scopes:
        return _say_in(context, loaded, started)
    await context.workspace.switcher.settle()
    pruned = await context.retention.after_new(context.workspace)
    older = f" ({context.retention.older(pruned.count)})" if pruned.count else ""
    failed = say(pruned.failure, "warning") if pruned.failure else ()
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
        return say("Nothing to save yet.")
    await context.stop(loaded)
    await workspace.take(loaded)
    try:
        await workspace.reset(loaded)
    except StorageError as error:
        return say(f"Not reset: could not save ({error.short})", "error")
    return (ShowSession(), *say(f"Session saved before reset: {loaded.id}"))


async def rename(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Name the current session."""
    if not arguments:
        return say(BY_NAME["name"].usage_error)
    if len(arguments) > NAME_CHARACTERS:
        return say(_TOO_LONG, "error")
    loaded = context.workspace.current
    told = len(loaded.notices)
    await context.workspace.rename(loaded, arguments)
    return (*shown_notices(loaded, told), *say(f"Session named: {arguments}"))


def shown_notices(loaded: LoadedSession, told: int) -> tuple[Effect, ...]:
    """Update the screen if a save added notices to the ``told`` earlier ones."""
    return (ShowSession(),) if len(loaded.notices) > told else ()


_TOO_LONG = f"Name is longer than {NAME_CHARACTERS} characters."


def resolve(
    context: CommandContext, target: str, wanted: frozenset[Status] = KEPT_OR_ARCHIVED
) -> str:
    """Resolve a target among sessions of the ``wanted`` states; blocks."""
    workspace = context.workspace
    return workspace.reader.resolve(
        target,
        workspace.scope,
        listed=context.lists.get("sessions") or _listed(workspace.reader, target),
        wanted=SessionFilter(statuses=wanted),
    )


def _listed(store: SessionReader, target: str) -> Sequence[str]:
    """The ids of the list up to the row of a number, if no list was printed yet."""
    if not is_number(target) or len(target) > len(str(MOST_ROWS)):
        return ()
    listing = store.list(SessionFilter(statuses=KEPT_OR_ARCHIVED), None, MOST_ROWS)
    return [entry.id for entry in listing.entries]


def _matching(store: SessionReader, text: str) -> list[SessionEntry]:
    """The matching sessions in list order: one more than is shown tells of more."""
    found: list[SessionEntry] = []
    for entry in _entries(store):
        if any(text in each.casefold() for each in (entry.label, entry.name, entry.id)):
            found.append(entry)
        if len(found) > MOST_ROWS:
            break
    return found


def _entries(store: SessionReader) -> Iterator[SessionEntry]:
    cursor: str | None = None
    while True:
        listing = store.list(SessionFilter(statuses=KEPT_OR_ARCHIVED), cursor, _PAGE)
        yield from listing.entries
        cursor = listing.cursor
        if cursor is None:
            return
