"""``/sessions /save /load /new /reset /name``: keeping, finding and switching sessions."""

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
from tui.storage.protocol import KEPT_OR_ARCHIVED, SessionFilter, SessionStore

_PAGE = 200
MORE = "There are more: /sessions <text> shows those with a text in their name."


async def list_all(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """A table of all sessions, or of those with a text in their name or id."""
    store = context.workspace.store
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
    """Write what is not on disk yet."""
    workspace, conversation = context.workspace, context.workspace.current
    if conversation.empty:
        return say("Nothing to save yet.")
    told = len(conversation.notices)
    try:
        await workspace.save(conversation)
    except StorageError as error:
        return save_failed(conversation.id, error)
    await workspace.save_all()
    return (*shown_notices(conversation, told), *say(f"Session saved: {conversation.id}"))


async def load(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Save, switch to a session, and open it."""
    if not arguments:
        return say(BY_NAME["load"].usage_error)
    workspace = context.workspace
    session_id = await asyncio.to_thread(resolved, context, arguments)
    try:
        if not await workspace.open_session(session_id):
            return ()
    except StayedError as error:
        return say(str(error), "error")
    count = workspace.current.session.message_count
    loaded = f"Loaded session: {session_id} ({plural(count, 'message')})"
    return (ShowSession(), *say(loaded))


async def begin(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Save, and start the scope's next session."""
    if len(arguments) > NAME_CHARACTERS:
        return say(_TOO_LONG, "error")
    workspace = context.workspace
    if not await workspace.begin(arguments):
        # Else another session was wanted meanwhile, and is shown.
        untouched = workspace.current.untouched
        return say(f"Already in a new session: {workspace.current.id}") if untouched else ()
    conversation = workspace.current
    return (ShowSession(), Later(partial(_pruned, context, conversation)))


async def _pruned(context: CommandContext, conversation: LoadedSession) -> Sequence[Effect]:
    """Set aside what is too much by now, and say what was begun."""
    started = f"Started new session: {conversation.id}"
    if not context.retention.limits_scopes:
        return _said_in(context, conversation, started)
    await context.workspace.settle()
    pruned = await context.retention.after_new(context.workspace)
    older = f" ({context.retention.older(pruned.count)})" if pruned.count else ""
    failed = say(pruned.failure, "warning") if pruned.failure else ()
    told = Later(partial(hook_told, context, pruned))
    return (*_said_in(context, conversation, started + older), *failed, told)


async def hook_told(context: CommandContext, pruned: Pruned) -> Sequence[Effect]:
    """Tell the archive hook, and say what went wrong with it."""
    return warn(await context.retention.tell_hook(pruned))


def _said_in(context: CommandContext, conversation: LoadedSession, text: str) -> tuple[Effect, ...]:
    """Say it where it belongs, though another session may be on screen by now."""
    if conversation is context.workspace.current:
        return say(text)
    conversation.say(Notice(text))
    return ()


async def reset(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Save, then let live begin anew under the same id."""
    workspace, conversation = context.workspace, context.workspace.current
    if conversation.empty:
        return say("Nothing to save yet.")
    await context.stop(conversation)
    await workspace.take(conversation)
    try:
        await workspace.reset(conversation)
    except StorageError as error:
        return say(f"Not reset: could not save ({error.short})", "error")
    return (ShowSession(), *say(f"Session saved before reset: {conversation.id}"))


async def rename(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Name the session."""
    if not arguments:
        return say(BY_NAME["name"].usage_error)
    if len(arguments) > NAME_CHARACTERS:
        return say(_TOO_LONG, "error")
    conversation = context.workspace.current
    told = len(conversation.notices)
    await context.workspace.rename(conversation, arguments)
    return (*shown_notices(conversation, told), *say(f"Session named: {arguments}"))


def shown_notices(conversation: LoadedSession, told: int) -> tuple[Effect, ...]:
    """Put on screen what a save had to tell itself, beyond what was told before."""
    return (ShowSession(),) if len(conversation.notices) > told else ()


_TOO_LONG = f"Name is longer than {NAME_CHARACTERS} characters."


def resolved(
    context: CommandContext, target: str, wanted: frozenset[Status] = KEPT_OR_ARCHIVED
) -> str:
    """The session that a target means, looked for among those ``wanted``. Blocks on the disk."""
    workspace = context.workspace
    return workspace.store.resolve(
        target,
        workspace.scope,
        listed=context.lists.get("sessions") or _listed(workspace.store, target),
        wanted=SessionFilter(statuses=wanted),
    )


def _listed(store: SessionStore, target: str) -> Sequence[str]:
    """As much of the list as a number can mean, where none was printed yet."""
    if not is_number(target) or len(target) > len(str(MOST_ROWS)):
        return ()
    listing = store.list(SessionFilter(statuses=KEPT_OR_ARCHIVED), None, MOST_ROWS)
    return [entry.id for entry in listing.entries]


def _matching(store: SessionStore, text: str) -> list[SessionEntry]:
    """Sessions in the order of the list, one more than are shown at most."""
    found: list[SessionEntry] = []
    for entry in _entries(store):
        if any(text in each.casefold() for each in (entry.label, entry.name, entry.id)):
            found.append(entry)
        if len(found) > MOST_ROWS:
            break
    return found


def _entries(store: SessionStore) -> Iterator[SessionEntry]:
    cursor: str | None = None
    while True:
        listing = store.list(SessionFilter(statuses=KEPT_OR_ARCHIVED), cursor, _PAGE)
        yield from listing.entries
        cursor = listing.cursor
        if cursor is None:
            return
