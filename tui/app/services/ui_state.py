"""State of the user interface that is kept from one run to the next."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.errors import StorageError
from tui.storage import ui_state
from tui.storage.ui_state import UiState

if TYPE_CHECKING:
    from textual.timer import Timer

KEEP_SECONDS = 0.5
"""The delay between the last change and the write."""


class UiStateService:
    """Reads it at the start, and writes what was changed soon after and at the end.

    Without a file nothing is kept; a file that cannot be written is no reason to say anything.
    """

    def __init__(self, app: App[Any], file: Path | None) -> None:
        self._app = app
        self._file = file
        self._timer: Timer | None = None
        self._changes: dict[str, str | int | None] = {}
        self.state = UiState() if file is None else ui_state.read(file)

    def note(self, **changes: str | int | None) -> None:
        """Remember fields of ``UiState``."""
        self._changes |= changes
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._app.set_timer(KEEP_SECONDS, self.keep)

    async def is_new(self, program: str) -> bool:
        """Remember the program's version; true if it is another one than before, and is kept."""
        if self._file is None or program == self.state.program:
            return False
        self.note(program=program)
        await self.keep()
        return (await asyncio.to_thread(ui_state.read, self._file)).program == program

    async def keep(self) -> None:
        """Write what was changed since it was last written."""
        changes, self._changes = self._changes, {}
        if changes and self._file is not None:
            with suppress(StorageError):
                await asyncio.to_thread(ui_state.change, self._file, changes)
