"""State of the user interface that is kept from one run to the next."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tui.errors import StorageError
from tui.storage import ui_state
from tui.storage.ui_state import UiState

KEEP_SECONDS = 0.5
"""The delay between the last change and the write."""


class Timer(Protocol):
    """Calls something later, unless it is stopped."""

    def stop(self) -> None: ...


SetTimer = Callable[[float, Callable[[], object]], Timer]


class UiStateService:
    """Reads it at the start, and writes what was changed soon after and at the end.

    Without a file nothing is kept; a file that cannot be written is no reason to say anything.
    """

    def __init__(self, file: Path | None, set_timer: SetTimer) -> None:
        self._file = file
        self._set_timer = set_timer
        self._timer: Timer | None = None
        self._changes: dict[str, str | int | None] = {}
        self.state = UiState() if file is None else ui_state.read(file)

    def note(self, **changes: str | int | None) -> None:
        """Remember fields of ``UiState``."""
        self._changes |= changes
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._set_timer(KEEP_SECONDS, self.keep)

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
