"""Lists files for the references that are typed in the prompt."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from tui.app.chat_view import ChatView
from tui.app.services.project_files import folder_entries, project_files
from tui.domain.file_names import FileListing, FileNames
from tui.engine.sessions.workspace import Workspace
from tui.files import system_text, user_path

SECONDS_KEPT = 10.0

_Key = tuple[str, str]


class _Kept(msgspec.Struct, frozen=True):
    listing: FileListing
    until: float


class FileLists:
    """Gives the prompt the listings that it asks for; each is made once within some seconds."""

    def __init__(
        self, chat: ChatView, workspace: Workspace, stopwatch: Callable[[], float] = time.monotonic
    ) -> None:
        self._chat = chat
        self._workspace = workspace
        self._stopwatch = stopwatch
        self._kept: dict[_Key, _Kept] = {}
        self._running: dict[_Key, asyncio.Task[FileListing]] = {}

    async def show(self, folder: str) -> None:
        """Show the files of a folder, or of the project without one, for the session on screen."""
        session = self._workspace.current
        listing = await self._listing((session.session.header.project_path, folder))
        if session is self._workspace.current:
            self._chat.prompt.show_files(listing)

    async def _listing(self, key: _Key) -> FileListing:
        kept = self._kept.get(key)
        if kept is not None and self._stopwatch() < kept.until:
            return kept.listing
        if key not in self._running:
            self._running[key] = asyncio.create_task(self._make(key))
        # A disk that hangs is asked once, whoever else wants to know.
        return await asyncio.shield(self._running[key])

    async def _make(self, key: _Key) -> FileListing:
        try:
            listing = await asyncio.to_thread(partial(_listing_of, *key))
        finally:
            del self._running[key]
        now = self._stopwatch()
        self._kept = {each: kept for each, kept in self._kept.items() if now < kept.until}
        self._kept[key] = _Kept(listing, now + SECONDS_KEPT)
        return listing


def _listing_of(project: str, folder: str) -> FileListing:
    return FileListing(folder, FileNames(_paths(project, folder)))


def _paths(project: str, folder: str) -> Sequence[str]:
    with suppress(OSError):
        root = Path(system_text(project))
        if not folder:
            return project_files(root)
        return [folder + name for name in folder_entries(root / user_path(folder))]
    return ()
