"""``/search``, and the key that opens the search screen."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, OpenSearch, report, say
from tui.domain.commands import BY_NAME
from tui.engine.sessions.workspace import Workspace

if TYPE_CHECKING:
    # Imported by a search only, to keep the start fast.
    from tui.domain.search.query import SearchResult

MOST_HITS = 20
_SECONDS = 2.0


async def search(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """List the best hits, with numbers that ``/load`` takes."""
    if not arguments:
        return say(BY_NAME["search"].usage_error)
    workspace = context.workspace
    found, lines = await asyncio.to_thread(_answer, workspace, arguments)
    notice = say(found.notice, "warning") if found.notice else ()
    if not lines:
        return notice
    if not found.hits:
        near = await asyncio.to_thread(_nearest, workspace, arguments)
        return (*notice, *say(f'No session matches "{arguments}".'), *near)
    context.numbers.show(hit.session_id for hit in found.hits)
    return (*notice, *report(f"Search: {arguments}", "\n".join(lines)))


async def open_screen(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Open the search screen."""
    return (OpenSearch(),)


def _nearest(workspace: Workspace, text: str) -> Sequence[Effect]:
    from tui.engine.library.near_matches import nearest

    near = nearest(lambda query: workspace.reader.search(query, MOST_HITS), text)
    return say(f"Nearest: {near}") if near.queries else ()


def _answer(workspace: Workspace, text: str) -> "tuple[SearchResult, list[str]]":
    """The hits, and the lines of the report; none if a filter cannot be used."""
    from tui.domain.search.query import found_words, hit_lines, parse

    store = workspace.reader
    found = store.search(text, MOST_HITS, seconds=_SECONDS)
    if parse(text).filters.fault:
        return found, []
    entries = store.entries({hit.session_id for hit in found.hits})
    lines = enumerate(hit_lines(found.hits, entries, workspace.clock()), 1)
    return found, [found_words(found), *(f"  {number}. {line}" for number, line in lines)]
