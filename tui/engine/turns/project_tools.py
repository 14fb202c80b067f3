"""The tools that look at the project of a session; none of them writes or runs anything."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, TypeVar

import msgspec

from tui.config.paths import with_tilde
from tui.domain.text.safe_text import make_visible_name
from tui.domain.tool_servers import ToolApproval
from tui.engine.project_folder import Listing, NotShown, ProjectFolder, unfit_project
from tui.engine.turns.tool import Run, Save, fields_of
from tui.providers.protocol import ToolDefinition

if TYPE_CHECKING:
    from tui.engine.sessions.open_session import OpenSession

MOST_LINES = 1_000
MOST_CHARACTERS = 32_000
"""Of one part of a file: a small model has room for no more."""

_FOLDER = {
    "type": "string",
    "description": "The folder to look below; without it, all of the project.",
}
_PATTERN = {"type": "string", "description": "Only files whose name fits it, such as '*.py'."}
_Name = Annotated[str, msgspec.Meta(max_length=4096)]
_Pattern = Annotated[str, msgspec.Meta(max_length=200)]
_Fields = TypeVar("_Fields", bound=msgspec.Struct)


class _Read(msgspec.Struct):
    path: _Name
    first_line: Annotated[int, msgspec.Meta(ge=1)] | None = None


class _List(msgspec.Struct):
    folder: _Name | None = None
    pattern: _Pattern | None = None


class _Search(_List, kw_only=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class _ProjectTool(Generic[_Fields]):
    """A tool that looks below the folder of a project, and may do so in that project only."""

    kind: ClassVar[type[Any]]
    does: ClassVar[str]
    definition: ClassVar[ToolDefinition]

    def __init__(self, project: str) -> None:
        self._project = project
        self._unfit = unfit_project(project)

    @property
    def about(self) -> str:
        return f"{self.does}\nProject: {make_visible_name(with_tilde(self._project))}"

    @property
    def approval(self) -> ToolApproval | None:
        # There, all that it does is to say why it does nothing.
        name = self.definition.name
        return None if self._unfit else ToolApproval("", name, "1", self._project)

    def prepare(self, arguments: Mapping[str, Any]) -> Run:
        asked = fields_of(arguments, self.kind)

        async def run(_: "OpenSession", __: Save) -> str:
            if self._unfit:
                return self._unfit
            try:
                return await asyncio.to_thread(self._look, ProjectFolder(self._project), asked)
            except NotShown as error:
                return f"Not shown: {error}"
            except OSError as error:
                return f"Not shown: {error.strerror or type(error).__name__}."

        return run

    def _look(self, folder: ProjectFolder, asked: _Fields) -> str:
        raise NotImplementedError


class ReadFile(_ProjectTool[_Read]):
    """Gives a part of a text file."""

    kind = _Read
    does = "It shows the model a file of this project."
    definition = ToolDefinition(
        name="read_file",
        description="Read a text file of the user's project. A long one comes in parts.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Its path in the project."},
                "first_line": {"type": "integer", "minimum": 1, "description": "Default: 1."},
            },
            "required": ["path"],
        },
    )

    def _look(self, folder: ProjectFolder, asked: _Read) -> str:
        read = folder.read_file(asked.path)
        lines = read.text.removesuffix("\n").split("\n")
        first = (asked.first_line or 1) - 1
        text = "\n".join(lines[first : first + MOST_LINES])
        shown = text[:MOST_CHARACTERS]
        count = shown.count("\n") + 1
        notices = [read.notice]
        if first >= len(lines):
            return f"The file has {len(lines)} lines."
        if len(shown) < len(text) and "\n" in shown:
            shown = shown[: shown.rindex("\n")]
            count -= 1
        elif len(shown) < len(text):
            notices.append(f"Line {first + 1} is cut.")
        if first or first + count < len(lines):
            more = f" Go on with first_line {first + count + 1}." * (first + count < len(lines))
            notices.append(f"Lines {first + 1} to {first + count} of {len(lines)}.{more}")
        return _with_notice(shown or "The file is empty.", " ".join(filter(None, notices)))


class ListFiles(_ProjectTool[_List]):
    """Gives the paths of files."""

    kind = _List
    does = "It shows the model the names of the files of this project."
    definition = ToolDefinition(
        name="list_files",
        description="List the files of the user's project with their paths; ignored ones are not.",
        parameters={"type": "object", "properties": {"folder": _FOLDER, "pattern": _PATTERN}},
    )

    def _look(self, folder: ProjectFolder, asked: _List) -> str:
        return _listed(folder.list_files(asked.folder or ".", asked.pattern or "*"), "files")


class SearchFiles(_ProjectTool[_Search]):
    """Gives the lines that have a text."""

    kind = _Search
    does = "It searches the files of this project, and shows the model the lines."
    definition = ToolDefinition(
        name="search_files",
        description="Find the lines with a text, in any case, in the files of the user's project.",
        parameters={
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "Plain text, not a pattern."},
                "folder": _FOLDER,
                "pattern": _PATTERN,
            },
            "required": ["text"],
        },
    )

    def _look(self, folder: ProjectFolder, asked: _Search) -> str:
        found = folder.search_files(asked.text, asked.folder or ".", asked.pattern or "*")
        return _listed(found, "lines")


PROJECT_TOOLS: tuple[Callable[[str], Any], ...] = (ReadFile, ListFiles, SearchFiles)


def _listed(listing: Listing, what: str) -> str:
    notice = listing.notice
    if listing.total > len(listing.lines):
        notice = f"The first {len(listing.lines)} {what}; name a folder or a pattern. {notice}"
    return _with_notice("\n".join(listing.lines) or f"No {what} found.", notice.strip())


def _with_notice(text: str, notice: str) -> str:
    return f"{text}\n[{notice}]" if notice else text
