"""The tools that come with the program; each is off until the user switches it on.

Those that look at the project of a session write and run nothing.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from tui.config.paths import with_tilde
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
from tui.domain.text import age, make_visible_name
from tui.domain.timestamps import parse_utc
from tui.domain.tool_servers import ToolApproval
from tui.engine.project_folder import NotShown, ProjectFolder, unfit_project
from tui.engine.sessions.open_session import Clock
from tui.engine.turns.tools import InvalidArguments, Run, Save, Tool, fields_of, schema_of
from tui.errors import SibylError, StorageError
from tui.providers.protocol import ToolDefinition

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession

MOST_LINES = 1_000
MOST_CHARACTERS = 32_000
"""Of one part of a file: a small model has room for no more."""


def _text(description: str, most: int = 4096, least: int = 0) -> msgspec.Meta:
    return msgspec.Meta(description=description, max_length=most, min_length=least or None)


class _Read(msgspec.Struct):
    path: Annotated[str, _text("Its path in the project.")]
    first_line: Annotated[int, msgspec.Meta(ge=1, description="Where to begin.")] = 1


class _List(msgspec.Struct, kw_only=True):
    folder: Annotated[str, _text("Only what is below this folder.")] = "."
    pattern: Annotated[str, _text("Only files with such a name: *.py", 200)] = "*"


class _Find(_List, kw_only=True):
    text: Annotated[str, _text("Plain text, in any case; not a pattern.", 500, 1)]


def _read_file(folder: ProjectFolder, asked: _Read) -> str:
    text, notices = folder.read_file(asked.path)
    lines = text.removesuffix("\n").split("\n")
    first = asked.first_line - 1
    shown = "\n".join(lines[first : first + MOST_LINES])
    if len(shown) > MOST_CHARACTERS:
        whole = shown.rfind("\n", 0, MOST_CHARACTERS)
        shown = shown[: whole if whole > 0 else MOST_CHARACTERS]
        notices += [f"Line {first + 1} is cut."] if whole < 0 else []
    last = first + shown.count("\n") + 1
    if first >= len(lines):
        return f"The file has {len(lines)} lines."
    if last - first < len(lines):
        notices.append(f"Lines {first + 1} to {last} of {len(lines)}.")
        notices += [f"Go on with first_line {last + 1}."] if last < len(lines) else []
    return _joined("The file is empty.", [shown], notices)


def _list_files(folder: ProjectFolder, asked: _List) -> str:
    return _joined("No files found.", *folder.list_files(asked.folder, asked.pattern))


def _search_files(folder: ProjectFolder, asked: _Find) -> str:
    return _joined("No lines found.", *folder.search_files(asked.text, asked.folder, asked.pattern))


def _joined(nothing: str, lines: Sequence[str], notices: Sequence[str]) -> str:
    text = "\n".join(lines) or nothing
    return f"{text}\n[{' '.join(notices)}]" if notices else text


# fmt: off
_TOOLS: tuple[tuple[str, type[Any], Callable[[ProjectFolder, Any], str], str, str], ...] = (
    ("read_file", _Read, _read_file, "It shows the model a file of this project.",
     "Read a text file of the user's project. A long one comes in parts."),
    ("list_files", _List, _list_files, "It shows the model the names of the files of this project.",
     "List the files of the user's project with their paths, without ignored ones."),
    ("search_files", _Find, _search_files, "It shows the model lines of the files of this project.",
     "Find the lines with a text in the files of the user's project."),
)
# fmt: on


def project_tools(project: str) -> Sequence[Tool]:
    """All of them, for a project's folder; each is allowed for that project only."""
    unfit = unfit_project(project)
    place = f"Project: {make_visible_name(with_tilde(project))}"
    return [
        Tool(
            ToolDefinition(name, description, schema_of(kind)),
            partial(_prepared, project, unfit, kind, look),
            # In an unfit one it only says so, which nobody has to be asked about.
            None if unfit else ToolApproval("", name, "1", project),
            unfit or f"{does}\n{place}",
        )
        for name, kind, look, does, description in _TOOLS
    ]


def _prepared(
    project: str,
    unfit: str,
    kind: type[Any],
    look: Callable[[ProjectFolder, Any], str],
    arguments: Mapping[str, Any],
) -> Run:
    asked = fields_of(arguments, kind)

    async def run(_: "OpenSession", __: Save) -> str:
        if unfit:
            return unfit
        try:
            return await asyncio.to_thread(look, ProjectFolder(project), asked)
        except (NotShown, OSError) as error:
            return f"Not shown: {getattr(error, 'strerror', None) or error}."

    return run


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
            schema_of(_Query),
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
    query: Annotated[str, msgspec.Meta(description="The words to look for.")]


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
