"""Importing other programs' sessions: they are found, chosen and read, in a thread."""

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tui.app.controllers.controller import Controller
from tui.app.controllers.search import SearchController
from tui.domain.imports import ImportProgress, ImportRow
from tui.domain.text import listed
from tui.engine.imports.report import failure_lines, outcome_words
from tui.errors import StorageError, UsageError
from tui.screens.imports import ImportScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.commands.shell import Shell
    from tui.engine.imports.report import Report

_Result = TypeVar("_Result")
_SHOWN_SECONDS = 0.1
_NOTHING = "No sessions of other programs were found. /import PATH reads an export or a folder."
_AUTOMATIC = "New sessions of {} are imported on every start and every hour."
_NOT_AUTOMATIC = "Nothing is imported automatically any more."
_NOTHING_AT = "{path}: no sessions of a known program were found there."


class ImportController(Controller):
    """Leads from what can be imported to the report; each screen has its own import."""

    _search: SearchController

    def open(self, path: str) -> None:
        """Show what can be imported from a path, else from this machine."""
        if isinstance(self._app.screen, ImportScreen):
            return
        stopped = threading.Event()
        screen = ImportScreen(stopped.set)
        self._app.push_screen(screen)
        screen.run_worker(partial(self._import, screen, path, stopped), name="import")

    async def _import(self, screen: ImportScreen, path: str, stopped: threading.Event) -> None:
        # What a path leads to is imported once.
        automatic = None if path else self._parts.automatic_imports
        try:
            own = await asyncio.to_thread(self._parts.imports.take_own, path)
            if own:
                self._finish(screen, lambda shell: shell.say(own))
                return
            find = partial(self._parts.imports.find, path)
            plan = await _watched(find, stopped, lambda at: screen.show_found(at.files))
            chosen = await asyncio.to_thread(automatic.programs) if automatic else None
        except (StorageError, UsageError, OSError) as error:
            # A folder without rights, ``~nobody``, or a NUL in the path.
            screen.show_error(str(error))
            return
        unread = "\n".join(failure_lines(plan.unread))
        rows = [
            ImportRow(each.program, each.title, each.counts, each.warning) for each in plan.programs
        ]
        nothing = _NOTHING_AT.format(path=path) if path else _NOTHING
        plan = plan.only(await screen.choose(rows, nothing, unread, chosen))
        now = sorted(each.program for each in plan.programs) if screen.automatic else []
        later = ""
        if automatic and now != sorted(chosen or ()):
            try:
                await asyncio.to_thread(automatic.choose, now)
            except StorageError as error:
                screen.show_error(str(error))
                return
            titles = listed([each.title for each in plan.programs])
            later = _AUTOMATIC.format(titles) if now else _NOT_AUTOMATIC
        if not plan.sources:
            self._finish(screen, lambda shell: shell.say(later) if later else None)
            return
        self._chat.offer_import(())
        run = partial(self._parts.imports.run, plan)
        outcome = await _watched(run, stopped, screen.show_progress)
        words = f"{outcome_words(outcome)}\n\n{later}".rstrip()
        self._finish(screen, lambda shell: shell.report("Import", words))

    def _finish(self, screen: ImportScreen, show: "Callable[[Shell], None]") -> None:
        async def show_imported() -> None:
            show(self._shell())
            self._search.catch_up_later()
            await self._session_list.show_imported()

        self._app.run_worker(show_imported, name="show what was imported")
        screen.finish()


async def _watched(
    work: "Callable[[Report], _Result]",
    stopped: threading.Event,
    show: "Callable[[ImportProgress], None]",
) -> _Result:
    """Work in a thread, and show its progress; cancelled, it stops the work."""
    latest: list[ImportProgress] = []

    def watch(progress: ImportProgress) -> bool:
        latest[:] = [progress]
        return not stopped.is_set()

    task = asyncio.create_task(asyncio.to_thread(work, watch))
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_SHOWN_SECONDS)
            if latest and not stopped.is_set():
                show(latest[0])
        return await task
    finally:
        if not task.done():
            stopped.set()
            # Nobody waits for what it ends with.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
