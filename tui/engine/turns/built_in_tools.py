"""The tools that come with the program; each is off until the user switches it on."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from tui.domain.journal.records import Todos
from tui.domain.journal.todo import (
    ITEM_CHARACTERS,
    MOST_ITEMS,
    TOO_MANY,
    TodoItem,
    TodoStatus,
    count_words,
    says_nothing,
)
from tui.domain.search.query import SearchResult
from tui.domain.text.labels import age
from tui.domain.timestamps import parse_utc
from tui.domain.tool_servers import ToolApproval
from tui.engine.sessions.open_session import Clock
from tui.engine.turns.project_tools import project_tools
from tui.engine.turns.tool import InvalidArguments, Run, Save, Tool, fields_of
from tui.errors import SibylError, StorageError
from tui.providers.protocol import ToolDefinition

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession

MOST_HITS = 10
QUERY_CHARACTERS = 500

Search = Callable[[str, int], SearchResult]
"""Finds so many messages at most; blocks, but not without end."""

_STATUSES = ["pending", "in_progress", "completed"]


def built_in_tools(search: Search, clock: Clock, project: str) -> tuple[Tool, ...]:
    """All of them, for a session of a project, whose folder may be none."""
    find = Tool(
        ToolDefinition(
            "search_sessions",
            "Search names and messages of the user's own chat sessions: those with all words, and"
            ' where these are few, with some. "quotes" make a phrase, a trailing * a prefix.'
            " in:project, from:program, before:2026-05 and after:2026-05-01 narrow it.",
            {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "The words to look for."}
                },
                "required": ["query"],
            },
        ),
        partial(_search, search, clock),
        ToolApproval("", "search_sessions", "1"),
        "It searches all of your sessions, and shows the model what it finds.",
    )
    # The list is the session's own, and the user sees it change: nobody is asked.
    about = "It replaces the to-do list of this session."
    write = Tool(_WRITE_TODOS, _write_todos, about=about)
    return (*project_tools(project), find, write)


class _Todo(msgspec.Struct):
    content: str
    status: TodoStatus
    active_form: str = ""


class _Todos(msgspec.Struct):
    todos: tuple[_Todo, ...]


class _Query(msgspec.Struct):
    query: str


_WRITE_TODOS = ToolDefinition(
    name="write_todos",
    description=(
        "Replace the user's to-do list for this conversation. Give the whole list each time,"
        " in order; an empty one clears it."
    ),
    parameters={
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "maxItems": MOST_ITEMS,
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {
                            "type": "string",
                            "description": "The task, in the imperative.",
                        },
                        "status": {"type": "string", "enum": _STATUSES},
                        "active_form": {
                            "type": "string",
                            "description": "The same as an activity: 'Writing the tests'.",
                        },
                    },
                    "required": ["content", "status", "active_form"],
                },
            }
        },
        "required": ["todos"],
    },
)


def _write_todos(arguments: Mapping[str, Any]) -> Run:
    given = fields_of(arguments, _Todos).todos
    if len(given) > MOST_ITEMS:
        raise InvalidArguments(TOO_MANY)
    items = tuple(_item(place, each) for place, each in enumerate(given))

    async def run(session: "OpenSession", save: Save) -> str:
        session.add(Todos(items))
        try:
            await save()
        except StorageError as error:
            return f"The to-do list was replaced, but could not be saved yet: {error}"
        return f"To-dos saved: {count_words(items)}." if items else "To-dos cleared."

    return run


def _search(search: Search, clock: Clock, arguments: Mapping[str, Any]) -> Run:
    query = fields_of(arguments, _Query).query
    if says_nothing(query) or len(query) > QUERY_CHARACTERS:
        raise InvalidArguments(f"query has to have 1 to {QUERY_CHARACTERS} characters.")

    async def run(_: "OpenSession", __: Save) -> str:
        try:
            found = await asyncio.to_thread(search, query, MOST_HITS)
        except SibylError as error:
            return f"The search failed: {error}"
        if not found.hits:
            nothing = "Nothing found" + (" in the time there was." if found.late else ".")
            return f"{nothing} {found.notice}".rstrip()
        number = f"{found.total}{'+' if found.more else ''}"
        lines = [f"Found {number}, the best {len(found.hits)}:"]
        for hit in found.hits:
            said = age(parse_utc(hit.timestamp), clock())
            lines.append(f"- {hit.session_id} ({said}, {hit.role or 'name'}): {hit.snippet}")
        return "\n".join(lines)

    return run


def _item(place: int, given: _Todo) -> TodoItem:
    active_form = given.content if says_nothing(given.active_form) else given.active_form
    for name, text in (("content", given.content), ("active_form", active_form)):
        if says_nothing(text) or len(text) > ITEM_CHARACTERS:
            raise InvalidArguments(
                f"{name} has to have 1 to {ITEM_CHARACTERS} characters - at `$.todos[{place}]`."
            )
    return TodoItem(given.content, given.status, active_form)
