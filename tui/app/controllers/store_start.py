"""The first connection to the store's server, after the first screen is shown."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from textual.app import App

from tui.app.controllers.server_notices import ServerNotices
from tui.app.controllers.session_view import SessionPresenter
from tui.domain.views.notice import Notice
from tui.errors import StorageError

USE_FILES = 75
"""The return code that restarts the program with the files of this machine."""
_CHOICES = ("Try again", "Go on with the files of this machine", "Quit")


class StoreStart:
    """Connects to the server; if that fails, asks whether to go on with local files."""

    def __init__(
        self,
        app: App[Any],
        check: Callable[[], Sequence[str]],
        presenter: SessionPresenter,
        server: ServerNotices,
    ) -> None:
        self._app = app
        self._check = check
        self._presenter = presenter
        self._server = server

    async def run(self) -> None:
        """Connect once, and show warnings or the question."""
        try:
            warnings = await asyncio.to_thread(self._check)
        except StorageError as error:
            self._ask(str(error))
            return
        self._server.note_back()
        for words in warnings:
            self._presenter.remark(Notice(words, "warning"))

    def _ask(self, failure: str) -> None:
        from tui.screens.list_dialog import ListDialog

        title = "The store's server is not available"
        self._app.push_screen(ListDialog(title, _CHOICES, detail=failure), self._do)

    def _do(self, choice: int | None) -> None:
        match choice:
            case 0:
                self._app.run_worker(self.run, name="connect to the store")
            case 1:
                self._app.exit(return_code=USE_FILES)
            case 2:
                self._app.exit()
            case _:
                # Saves try again by themselves.
                return
