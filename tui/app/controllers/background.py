"""Work in the background, from right behind the first screen on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.app.controllers.live_updates import LiveUpdates
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.dependencies import Dependencies
from tui.errors import ModelError, StorageError
from tui.widgets.transcript import warm_up

if TYPE_CHECKING:
    from textual.worker import Worker

_ROWS_SECONDS = 60.0
"""The interval at which the ages in the list are shown anew."""
_FIRST_SESSIONS = 10
"""The number of sessions from which on no import is offered any more."""


class Background:
    """Fills the list, prunes, follows other programs and loads what the screen needs later."""

    def __init__(
        self,
        app: App[Any],
        parts: Dependencies,
        session_list: SessionListController,
        following: LiveUpdates,
        presenter: SessionPresenter,
        offer_import: Callable[[Sequence[str]], None],
    ) -> None:
        """``offer_import`` shows the programs of which sessions were found."""
        self._app = app
        self._parts = parts
        self._session_list = session_list
        self._live_updates = following
        self._presenter = presenter
        self._offer_import = offer_import
        self._following: dict[Callable[[], Awaitable[None]], Worker[None]] = {}

    def begin(self) -> None:
        """Start all of it."""
        self._app.run_worker(self._show_list, name="list sessions")
        self._follow()
        self._app.set_interval(_ROWS_SECONDS, self._session_list.show_ages)
        self._app.set_interval(_ROWS_SECONDS, self._follow)

    def _follow(self) -> None:
        for run in (self._live_updates.run, self._live_updates.run_list):
            worker = self._following.get(run)
            # A defect may have ended one, and was reported.
            if worker is None or worker.is_finished:
                self._following[run] = self._app.run_worker(run, name="follow other windows")

    async def _show_list(self) -> None:
        # First: the active session stays when old and surplus ones are archived.
        await self._parts.workspace.note_start()
        await self._session_list.refresh()
        # Not before: the list would wait for it.
        self._app.run_worker(self._warm_up, name="warm up")
        self._app.run_worker(self._show_window, name="ask for the size of the context")
        await self._session_list.prune(self._parts.retention)

    async def _show_window(self) -> None:
        """Show how full the window of the first model is, once that is known."""
        model = self._parts.workspace.current.model
        if model is not None:
            # Whoever asks it is told why it cannot be loaded.
            with suppress(ModelError):
                await model.window()
        self._presenter.show_status()

    async def _warm_up(self) -> None:
        await asyncio.to_thread(warm_up)
        if len(self._parts.sessions.entries) >= _FIRST_SESSIONS:
            return
        # Without a log of imports nothing is offered; an import would say why.
        with suppress(StorageError):
            self._offer_import(await asyncio.to_thread(self._parts.imports.offer))
