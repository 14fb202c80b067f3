"""The tools that look at the project of a session; none of them writes or runs anything."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from tui.config.paths import with_tilde
from tui.domain.text.safe_text import make_visible_name
from tui.domain.tool_servers import ToolApproval
from tui.engine.project_folder import NotShown, ProjectFolder, unfit_project
from tui.engine.turns.tool import Run, Save, Tool, fields_of, schema_of
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


def _read(folder: ProjectFolder, asked: _Read) -> str:
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


def _list(folder: ProjectFolder, asked: _List) -> str:
    return _joined("No files found.", *folder.list_files(asked.folder, asked.pattern))


def _search(folder: ProjectFolder, asked: _Find) -> str:
    return _joined("No lines found.", *folder.search_files(asked.text, asked.folder, asked.pattern))


def _joined(nothing: str, lines: Sequence[str], notices: Sequence[str]) -> str:
    text = "\n".join(lines) or nothing
    return f"{text}\n[{' '.join(notices)}]" if notices else text


# fmt: off
_TOOLS: tuple[tuple[str, type[Any], Callable[[ProjectFolder, Any], str], str, str], ...] = (
    ("read_file", _Read, _read, "It shows the model a file of this project.",
     "Read a text file of the user's project. A long one comes in parts."),
    ("list_files", _List, _list, "It shows the model the names of the files of this project.",
     "List the files of the user's project with their paths, without ignored ones."),
    ("search_files", _Find, _search, "It shows the model lines of the files of this project.",
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
