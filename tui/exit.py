"""The end: which signals lead to it, and what is saved and said then."""

import asyncio
import os
import shlex
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from tui.engine.conversation import Conversation
from tui.engine.workspace import Workspace
from tui.errors import StorageError
from tui.storage.rescue import write_rescue

PROGRAM = "sibyl-tui"
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""What ends the program from outside; Textual itself ends in order on none of them."""


def end_on_signals(end: Callable[[int], None]) -> None:
    """Call ``end`` with the exit code when the program is asked to end."""
    loop = asyncio.get_running_loop()
    for number in ENDING_SIGNALS:
        loop.add_signal_handler(number, end, 128 + number)


class FinalSave:
    """Saves every open session, or puts it into a rescue file, and says so.

    ``lines`` are for standard error, once the terminal is whole again.
    """

    def __init__(
        self, workspace: Workspace, rescue_directories: Sequence[Path], data_dir: str | None
    ) -> None:
        self._workspace = workspace
        self._rescue_directories = rescue_directories
        self._options = f" --data-dir {shlex.quote(data_dir)}" if data_dir else ""
        self._done = False
        self.failed = False
        self.lines: list[str] = []

    async def run(self) -> None:
        """Do it; the second time nothing is left to be done."""
        if self._done:
            return
        self._done = True
        current = self._workspace.current
        try:
            await self._workspace.keep_drafts()
        except StorageError as error:
            self._fail(f"What was typed could not be kept: {error}")
        for conversation in self._workspace.open:
            await self._close(conversation)
        self._tell_what_was_saved(current)

    def run_at_once(self) -> None:
        """The same where no event loop is left; harmless after ``run``."""
        if self._done:
            return
        self._done = True
        current = self._workspace.current
        for conversation in self._workspace.open:
            self._save_at_once(conversation)
        self._tell_what_was_saved(current)

    async def _close(self, conversation: Conversation) -> None:
        try:
            await self._workspace.close(conversation)
        except StorageError as error:
            self._rescue(conversation, error)
            self._workspace.abandon(conversation)

    def _save_at_once(self, conversation: Conversation) -> None:
        if conversation.opened is None:
            return
        conversation.opened.interrupt()
        try:
            conversation.opened.save_at_once()
            self._workspace.note_saved(conversation)
        except StorageError as error:
            self._rescue(conversation, error)

    def _rescue(self, conversation: Conversation, error: StorageError) -> None:
        opened = conversation.opened
        if opened is None or not opened.unsaved:
            return
        self._fail(f"Could not save {conversation.id}: {error}")
        try:
            path = write_rescue(self._rescue_directories, opened.header, opened.pending)
        except OSError as failure:
            reason = failure.strerror or os.strerror(failure.errno or 0)
            self._fail(f"And no rescue file could be written: {reason}.")
            return
        self.lines.append(f"What could not be saved is in {path}.")
        name = shlex.quote(str(path))
        self.lines.append(f"Take it back with: {PROGRAM} sessions import {name}{self._options}")

    def _fail(self, line: str) -> None:
        self.failed = True
        self.lines.append(line)

    def _tell_what_was_saved(self, current: Conversation) -> None:
        self.lines += [f"Session saved: {session_id}" for session_id in self._workspace.changed]
        if current.published:
            self.lines.append(f"Resume with: {PROGRAM} --session {current.id}{self._options}")
