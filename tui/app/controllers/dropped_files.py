"""Turns files dropped on the terminal into references: their pasted paths, if all are there."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from tui.app.chat_view import ChatView
from tui.domain.references import reference_to
from tui.engine.sessions.workspace import Workspace
from tui.widgets.prompt import Prompt


class DroppedFiles:
    """Looks for the files off the event loop; what was pasted stays if one is not there."""

    def __init__(self, chat: ChatView, workspace: Workspace) -> None:
        self._chat = chat
        self._workspace = workspace

    async def take(self, event: Prompt.FilesDropped) -> None:
        """Replace a paste by references, in the session that it was pasted into."""
        session = self._workspace.current
        project = Path(session.session.header.project_path)
        text = await asyncio.to_thread(_text_of, event.readings, project)
        if text and session is self._workspace.current:
            self._chat.prompt.replace_paste(event.paste, text)


def _text_of(readings: Sequence[Sequence[str]], project: Path) -> str:
    """The references to the first reading whose files are all there; empty without one."""
    for paths in readings:
        if all(map(os.path.exists, paths)):
            written = [reference_to(_from_project(path, project)) for path in paths]
            known = [each for each in written if each]
            return f"{' '.join(known)} " if len(known) == len(written) else ""
    return ""


def _from_project(path: str, project: Path) -> str:
    """A path as short as it can be, with a slash behind a folder."""
    place = Path(path)
    end = "/" if place.is_dir() else ""
    is_inside = place != project and place.is_relative_to(project)
    return f"{place.relative_to(project) if is_inside else place}{end}"
