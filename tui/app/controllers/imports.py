"""The controller of imports: finding, importing and stopping, in a thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from textual.app import App

from tui.app.controllers.search import SearchController
from tui.app.controllers.session_list import SessionListController
from tui.app.services.session_imports import SessionImports
from tui.commands.effects import Effect, report, say
from tui.domain.views.import_rows import ImportProgress, ImportRow
from tui.errors import StorageError, UsageError
from tui.screens.chat import ChatScreen
from tui.screens.imports import ImportScreen
from tui.widgets.intents import ImportIntent

if TYPE_CHECKING:
    from tui.engine.imports.planning import Plan
    from tui.engine.imports.progress import Progress, Report

_Result = TypeVar("_Result")
_SHOWN_SECONDS = 0.1


class ImportController:
    """Owns the plan that is shown, and the import that runs."""

    def __init__(
        self,
        app: App[None],
        chat: ChatScreen,
        imports: SessionImports,
        session_list: SessionListController,
        search: SearchController,
        carry_out: Callable[[Sequence[Effect]], Awaitable[None]],
    ) -> None:
        self._app = app
        self._chat = chat
        self._imports = imports
        self._session_list = session_list
        self._search = search
        self._carry_out = carry_out
        self._screen: ImportScreen | None = None
        self._plan: Plan | None = None
        self._stopped = threading.Event()

    def open(self, path: str) -> None:
        """Show what can be imported from a path, else from this machine."""
        if isinstance(self._app.screen, ImportScreen):
            return
        self._screen, self._stopped = ImportScreen(), threading.Event()
        self._app.push_screen(self._screen, self._close)
        self._app.run_worker(partial(self._find, self._screen, path), name="look for sessions")

    def take(self, intent: ImportIntent) -> None:
        """Answer an intent of the screen."""
        if self._screen is None:
            return
        if isinstance(intent, ImportScreen.StopWanted):
            self._stopped.set()
            self._screen.show_stopping()
        elif isinstance(intent, ImportScreen.Confirmed) and self._plan:
            self._chat.offer_import(())
            plan = self._plan.only(intent.programs)
            self._app.run_worker(partial(self._run, self._screen, plan), name="import")

    def _close(self, _: None) -> None:
        self._stopped.set()
        self._screen = self._plan = None

    async def _find(self, screen: ImportScreen, path: str) -> None:
        from tui.engine.imports.progress import Stopped

        try:
            own = await asyncio.to_thread(self._imports.take_own, path)
            if own:
                await self._tell_own(screen, own)
                return
            find = partial(self._imports.find, path)
            plan = await self._watched(find, lambda at: screen.show_found(at.files))
        except Stopped:
            return
        except (StorageError, UsageError, OSError) as error:
            # A folder without rights, ``~nobody``, or a NUL in the path.
            screen.show_error(str(error))
            return
        if screen is not self._screen:
            return
        self._plan = plan
        screen.show_rows(_rows(plan), _nothing(path), _unread(plan))

    async def _tell_own(self, screen: ImportScreen, words: str) -> None:
        screen.dismiss(None)
        await self._carry_out(say(words))
        self._search.note_turn()
        await self._session_list.show_imported()

    async def _run(self, screen: ImportScreen, plan: "Plan") -> None:
        outcome = await self._watched(
            partial(self._imports.run, plan), lambda at: screen.show_progress(_shown(at))
        )
        screen.dismiss(None)
        from tui.engine.imports.outcome_words import outcome_words

        await self._carry_out(report("Import", outcome_words(outcome)))
        self._search.note_turn()
        await self._session_list.show_imported()

    async def _watched(
        self, work: "Callable[[Report], _Result]", show: "Callable[[Progress], None]"
    ) -> _Result:
        """Work in a thread, and show its progress; it stops with the program, too."""
        watch = _Watch(self._stopped)
        task = asyncio.create_task(asyncio.to_thread(work, watch.take))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_SHOWN_SECONDS)
                if watch.latest is not None and not self._stopped.is_set():
                    show(watch.latest)
            return await task
        finally:
            if not task.done():
                self._stopped.set()


class _Watch:
    """Takes the progress in the thread that makes it; the loop looks at it now and then."""

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped
        self.latest: Progress | None = None

    def take(self, progress: "Progress") -> bool:
        self.latest = progress
        return not self._stopped.is_set()


def _rows(plan: "Plan") -> list[ImportRow]:
    return [ImportRow(each.program, each.title, each.counts) for each in plan.programs]


def _shown(progress: "Progress") -> ImportProgress:
    return ImportProgress(progress.title, progress.done, progress.total, progress.sessions)


def _nothing(path: str) -> str:
    if path:
        return f"{path}: no sessions of a known program were found there."
    return "No sessions of other programs were found. /import PATH reads an export or a folder."


def _unread(plan: "Plan") -> str:
    from tui.engine.imports.outcome_words import failure_lines

    return "\n".join(failure_lines(plan.unread))
