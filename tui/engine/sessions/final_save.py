"""The final save of every open session, or its rescue file."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tui.config import paths
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.engine.sessions.write_queue import save_errors
from tui.errors import StorageError, UsageError
from tui.storage.rescue import write_draft, write_rescue


class FinalSave:
    """Saves every open session, or puts it into a rescue file, and says so.

    ``lines`` are for standard error, once the terminal is whole again.
    """

    def __init__(
        self,
        workspace: Workspace,
        rescue_directories: Sequence[Path],
        data_dir: str | None,
        model: str | None = None,
        store: str | None = None,
    ) -> None:
        self._workspace = workspace
        self._rescue_directories = rescue_directories
        self._options = f" --data-dir {_quoted(data_dir)}" if data_dir else ""
        if store is not None:
            self._options += f" --store {_quoted(store)}"
        self._model = model
        self._done = False
        self.failed = False
        self.lines: list[str] = []

    async def run(self) -> None:
        """Do it; the second time nothing is left to be done."""
        if self._done:
            return
        current = self._workspace.current
        # A saved draft was changed in a session that is not open yet.
        draft, kept = current.draft(), current.prompt.kept
        looked_at = current.opened is None and not current.access.read_only
        goes_on = looked_at and kept is not None and draft != kept and not draft.empty
        try:
            with save_errors():
                await self._workspace.keep_drafts()
                if goes_on:
                    # As the first key in it would have: its draft is the only one then. On
                    # failure it stays a second draft, beside the one that it began as.
                    with suppress(StorageError, UsageError):
                        await self._workspace.take(current)
                        await self._workspace.pool.keep_draft(current)
        except StorageError as error:
            self._fail(f"The text of the prompt could not be saved: {error}")
            # A switch that was under way may have ended meanwhile.
            for loaded in dict.fromkeys((*self._workspace.open, current, self._workspace.current)):
                try:
                    with save_errors():
                        if path := self._rescued_draft(loaded):
                            self.lines.append(f"It is in {path}.")
                except StorageError as failure:
                    self._fail(str(failure))
        for loaded in self._workspace.open:
            try:
                with save_errors():
                    await self._workspace.pool.close(loaded)
            except StorageError as error:
                self._rescue(loaded, error)
                await self._workspace.pool.abandon(loaded)
        # Closing also notes the session that --continue opens.
        await self._workspace.switcher.settle()
        # Not before: what a defect here leaves is saved without the loop.
        self._done = True
        self._tell_how_to_go_on(current)

    def run_at_once(self) -> None:
        """The same where no event loop is left; harmless after ``run``."""
        if self._done:
            return
        self._done = True
        current = self._workspace.current
        for loaded in self._workspace.open:
            try:
                with save_errors():
                    self._workspace.pool.save_at_once(loaded)
            except StorageError as error:
                self._rescue(loaded, error)
        self._tell_how_to_go_on(current)

    def rescue(self, loaded: LoadedSession) -> Sequence[str]:
        """Put what a session that is given up has unsaved where there is room; says where.

        It is told at the end, too. Raises ``StorageError`` if there is no room anywhere.
        """
        lines = [*self._rescued(loaded)]
        if path := self._rescued_draft(loaded):
            lines.append(f"The text of the prompt is in {path}.")
        self._fail(f"Could not save {loaded.id}.")
        self.lines += lines
        return lines

    def _rescued(self, loaded: LoadedSession) -> Sequence[str]:
        opened = loaded.opened
        if opened is None or not opened.unsaved or loaded.private:
            return ()
        path = write_rescue(self._rescue_directories, opened.header, opened.pending)
        name = _quoted(str(path))
        return (
            f"What could not be saved is in {path}.",
            f"Import it with: {paths.command(sys.argv[0])} sessions import {name}{self._options}",
        )

    def _rescued_draft(self, loaded: LoadedSession) -> Path | None:
        """Write a draft that is not on disk to a rescue file."""
        draft = loaded.draft()
        if draft.empty or draft == loaded.prompt.kept or loaded.private:
            return None
        return write_draft(self._rescue_directories, draft)

    def _rescue(self, loaded: LoadedSession, error: StorageError) -> None:
        opened = loaded.opened
        if opened is None or not opened.unsaved or loaded.private:
            return
        self._fail(f"Could not save {loaded.id}: {error}")
        try:
            with save_errors():
                self.lines += self._rescued(loaded)
        except StorageError as failure:
            self._fail(str(failure))

    def _fail(self, line: str) -> None:
        self.failed = True
        self.lines.append(line)

    def _tell_how_to_go_on(self, current: LoadedSession) -> None:
        """Say how; with the ``--model`` of this start, unless another one was chosen since."""
        if not current.published or current.private:
            return
        options = self._options
        if self._model is not None:
            name = current.model.name if current.model else self._model
            if self._model in (name, name.partition(":")[0]):
                options += f" --model {_quoted(self._model)}"
        self.lines.append(
            f"Resume with: {paths.command(sys.argv[0])} --session {current.id}{options}"
        )


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)
