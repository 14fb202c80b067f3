"""Work in the background, from right behind the first screen on."""

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.app.controllers.live_updates import LiveUpdates
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.dependencies import Dependencies
from tui.errors import ModelError
from tui.widgets.transcript import warm_up

if TYPE_CHECKING:
    from textual.worker import Worker

_ROWS_SECONDS = 60.0
"""The interval at which the ages in the list are shown anew."""


class Background:
    """Fills the list, prunes, follows other programs and loads what the first answer needs."""

    def __init__(
        self,
        app: App[Any],
        parts: Dependencies,
        session_list: SessionListController,
        following: LiveUpdates,
        presenter: SessionPresenter,
    ) -> None:
        self._app = app
        self._parts = parts
        self._session_list = session_list
        self._live_updates = following
        self._presenter = presenter
        self._following: Worker[None] | None = None

    def begin(self) -> None:
        """Start all of it."""
        self._app.run_worker(self._show_list)
        self._follow()
        self._app.set_interval(_ROWS_SECONDS, self._each_minute)

    def _follow(self) -> None:
        self._following = self._app.run_worker(self._live_updates.run)

    def _each_minute(self) -> None:
        self._session_list.show_ages()
        if self._following is not None and self._following.is_finished:
            # A defect has ended it, and was reported.
            self._follow()

    async def _show_list(self) -> None:
        # First: the active session stays when old and surplus ones are archived.
        await self._parts.workspace.note_start()
        await self._session_list.refresh()
        # Not before: the list would wait for it. A daemon, as asyncio joins its own threads.
        threading.Thread(target=self._warm_up, daemon=True, name="warm up").start()
        self._app.run_worker(self._show_window)
        await self._session_list.prune(self._parts.retention)

    async def _show_window(self) -> None:
        """Show how full the window of the first model is, once that is known."""
        model = self._parts.workspace.current.model
        if model is not None:
            # Whoever asks it is told why it cannot be loaded.
            with suppress(ModelError):
                await model.window()
        self._presenter.show_status()

    def _warm_up(self) -> None:
        warm_up()
        self._parts.prepare_model()
