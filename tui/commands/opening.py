"""Opening sessions, by list, search, number or name, and beginning new ones.

``/session resume``, ``/load``, ``/resume``, ``/search``, ``/new`` and ``/private``.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tui.commands.shell import Shell, command, title_of, warn
from tui.domain.commands import BY_NAME
from tui.domain.journal.session import Status
from tui.domain.targets import is_number, listed_number
from tui.domain.text import NAME_CHARACTERS
from tui.domain.views.notice import Notice
from tui.domain.views.session_rows import PickerView
from tui.engine.library.retention import Pruned
from tui.engine.library.session_moves import (
    check_project,
    opened_here,
    read_open_projects,
)
from tui.engine.library.session_pages import PickerPages
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import StayedError
from tui.engine.sessions.workspace import Workspace
from tui.errors import SessionBusy, SessionNotFound, UsageError
from tui.storage.protocol import KEPT_OR_ARCHIVED, SessionFilter

if TYPE_CHECKING:
    # Imported by a search only, to keep the start fast.
    from tui.domain.search.query import SearchResult

PRIVATE = "Private session: nothing of it is saved. /keep saves it"
MOST_HITS = 20
_NO_MATCH = 'No session matches "{}".'
_SEARCH_SECONDS = 2.0
_COUNTED = 100
"""Limit of the numbers that mean something before any list was shown."""
_DATE_DIGITS = range(8, 15)
"""The lengths of numbers that may begin the id of a session."""

# --- opening


@command("load")
async def load(shell: Shell, arguments: str) -> None:
    """Open a session; without a target, show all of them."""
    if not arguments:
        return shell.open("sessions")
    return await open_session(shell, await resolve(shell, arguments))


@command("session resume …")
async def resume_number(shell: Shell, arguments: str) -> None:
    """Open a session of this project by its number."""
    if not is_number(arguments):
        return shell.say("Usage: /session resume NUMBER")
    session_id = await resolve(shell, arguments, scope=shell.workspace.scope)
    return await open_session(shell, session_id)


@command("resume")
async def resume(shell: Shell, arguments: str) -> None:
    """Show closed sessions, or open one of them, whose project must be there."""
    if arguments.lower() in ("", "list"):
        return shell.open("closed sessions")
    session_id = await resolve(shell, arguments, view="closed")
    known = shell.workspace.switcher.find(session_id)
    if known is None or known.opened is None:
        entry = await asyncio.to_thread(shell.workspace.reader.entry, session_id)
        await asyncio.to_thread(check_project, entry)
    return await open_session(shell, session_id)


async def open_session(shell: Shell, session_id: str) -> None:
    """Show a session and open it. Raises ``UsageError`` if its project is not to be open twice."""
    known = shell.workspace.switcher.find(session_id)
    if shell.context.exclusive_projects and (known is None or known.opened is None):
        entry = await asyncio.to_thread(shell.workspace.reader.entry, session_id)
        same = [
            each
            for each, path in (await open_projects(shell)).items()
            if path == entry.project_path
        ]
        if others := [each for each in same if each != entry.id]:
            title = await title_of(shell, others[0])
            raise UsageError(f"This project is already open in {title}. Close that session first.")
    try:
        if not await shell.workspace.open_session(session_id):
            return None
    except StayedError as error:
        return shell.say(str(error), "error")
    await shell.show_session()
    return shell.say(f'Opened "{shell.workspace.current.label()}"')


async def open_projects(shell: Shell) -> dict[str, str]:
    """Map the open sessions, here and elsewhere, to their projects."""
    workspace = shell.workspace
    return await asyncio.to_thread(read_open_projects, workspace.reader, opened_here(workspace))


# --- targets


async def resolve(
    shell: Shell,
    target: str,
    wanted: frozenset[Status] = KEPT_OR_ARCHIVED,
    view: PickerView = "all",
    scope: str | None = None,
) -> str:
    """Resolve a target among sessions of the ``wanted`` states.

    Numbers count in the list shown last; without one, in that of ``view`` and ``scope``. Raises
    ``UsageError`` for a number beyond it, ``SessionNotFound`` and ``AmbiguousSession``.
    """
    workspace = shell.workspace
    listed = await _listed(shell, view, scope) if is_number(target) else ()
    try:
        return await asyncio.to_thread(
            workspace.reader.resolve,
            target,
            workspace.scope,
            listed=listed,
            wanted=SessionFilter(statuses=wanted),
        )
    except SessionNotFound as error:
        if is_number(target) and len(target) not in _DATE_DIGITS and not error.where:
            raise UsageError(_no_number(target, len(listed))) from error
        raise


async def resolve_number(shell: Shell, number: str, view: PickerView) -> str:
    """Find the session that a number means, and no other. Raises ``UsageError``."""
    listed = await _listed(shell, view, None)
    place = listed_number(number, listed)
    if place is None:
        raise UsageError(_no_number(number, len(listed)))
    return listed[place - 1]


async def check_holder(shell: Shell, session_id: str) -> None:
    """Raise ``SessionBusy`` if another window has the lease of a session."""
    known = shell.workspace.switcher.find(session_id)
    if known is not None and known.opened is not None:
        return
    holder = await asyncio.to_thread(shell.workspace.reader.holder, session_id)
    if holder is not None:
        raise SessionBusy(session_id, str(holder))


async def _listed(shell: Shell, view: PickerView, scope: str | None) -> Sequence[str]:
    if shell.context.numbers:
        return shell.context.numbers
    await shell.workspace.switcher.settle()
    pages = PickerPages(shell.workspace.reader, view, scope)
    await pages.read_more(_COUNTED)
    return [entry.id for entry in pages.entries[:_COUNTED]]


def _no_number(target: str, count: int) -> str:
    known = f" (1 to {count})" if count else ""
    return f"There is no number {target} in the last list{known}."


# --- searching


@command("search")
async def search(shell: Shell, arguments: str) -> None:
    """List the best hits, with numbers that ``/load`` takes."""
    if not arguments:
        return shell.say(BY_NAME["search"].usage_error)
    from tui.domain.search.query import parse

    workspace = shell.workspace
    found, near = await asyncio.to_thread(_found, workspace, arguments)
    if found.notice:
        shell.say(found.notice, "warning")
    if hits := (*found.hits, *near.hits):
        shell.context.numbers[:] = [hit.session_id for hit in hits]
        text = await asyncio.to_thread(_listed_hits, workspace, arguments, found, near)
        shell.report(f"Search: {arguments}", text)
    elif not parse(arguments).filters.fault:
        shell.say(_NO_MATCH.format(arguments))
    return None


def _found(workspace: Workspace, text: str) -> "tuple[SearchResult, SearchResult]":
    from tui.engine.library.loose_search import nearest

    search = partial(workspace.reader.search, seconds=_SEARCH_SECONDS)
    found = search(text, MOST_HITS)
    return found, nearest(search, text, found, MOST_HITS)


def _listed_hits(
    workspace: Workspace, text: str, found: "SearchResult", near: "SearchResult"
) -> str:
    from tui.domain.search.query import hit_lines

    hits = (*found.hits, *near.hits)
    entries = workspace.reader.entries({hit.session_id for hit in hits})
    lines = [
        f"  {number}. {line}"
        for number, line in enumerate(hit_lines(hits, entries, workspace.clock()), 1)
    ]
    heading = f"Found {found.words}:" if found.hits else _NO_MATCH.format(text)
    nearest = [f"Nearest: {near.looser} ({near.words})"] if near.looser else []
    of_all = len(found.hits)
    return "\n".join([heading, *lines[:of_all], *nearest, *lines[of_all:]])


# --- beginning


def check_name(name: str) -> None:
    """Raise ``UsageError`` for a name that is too long."""
    if len(name) > NAME_CHARACTERS:
        raise UsageError(f"Name is longer than {NAME_CHARACTERS} characters.")


@command("private")
async def begin_private(shell: Shell, arguments: str) -> None:
    """Begin a private session."""
    if await shell.workspace.begin_private():
        await shell.show_session()
        shell.focus_prompt()
        shell.say(PRIVATE)
    elif shell.workspace.current.private:
        shell.say("Already in a new private session")


@command("new")
async def begin(shell: Shell, arguments: str) -> None:
    """Begin a session in this scope."""
    check_name(arguments)
    if not await shell.workspace.begin(arguments):
        # If it is not new, the user selected another session meanwhile.
        if shell.workspace.current.untouched:
            shell.focus_prompt()
            shell.say("Already in a new session")
        return None
    loaded = shell.workspace.current
    await shell.show_session()
    shell.focus_prompt()
    return shell.in_background(partial(_prune, loaded=loaded))


async def _prune(shell: Shell, loaded: LoadedSession) -> None:
    """Archive sessions beyond the limit of the scope, and report the new session."""
    retention, workspace = shell.context.retention, shell.workspace
    pruned, older = Pruned(), ""
    if retention.limits_scopes:
        await workspace.switcher.settle()
        pruned = await retention.after_new(workspace)
        older = f" ({retention.older(pruned.count)})" if pruned.count else ""
    words = f"Started a new session{older}"
    if loaded is workspace.current:
        shell.say(words)
    else:
        loaded.say(Notice(words))
    if pruned.failure:
        shell.say(str(pruned.failure), "warning")

    shell.in_background(partial(warn, tell=partial(retention.tell_hook, pruned)))
