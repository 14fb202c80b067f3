"""The store's server: the first connection, and notices that it is away, and back."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.app.controllers.session_view import SessionPresenter
from tui.domain.journal.message import Message
from tui.domain.views.notice import Notice
from tui.engine.sessions.workspace import Workspace
from tui.errors import ServerUnreachable, StorageError

if TYPE_CHECKING:
    from tui.screens.list_dialog import ListDialog

USE_FILES = 75
"""The return code that restarts the program with the files of this machine."""
_CHOICES = ("Try again", "Use the files of this machine", "Quit")


class StoreServer:
    """Says once that the store's server is away, whoever finds it so, and once that it is back."""

    def __init__(self, workspace: Workspace, presenter: SessionPresenter) -> None:
        self._workspace = workspace
        self._presenter = presenter
        self._told: Notice | None = None
        self._question: ListDialog | None = None

    async def connect(self, app: App[Any], check: Callable[[], Sequence[str]]) -> None:
        """Connect once, behind the first screen; if that fails, offer to go on with local files."""
        try:
            warnings = await asyncio.to_thread(check)
        except StorageError as error:
            from tui.screens.list_dialog import ListDialog

            title = "The store's server is not available"
            act = partial(self._act, app, check)
            self._question = ListDialog(title, _CHOICES, detail=str(error))
            app.push_screen(self._question, act)
            return
        self.note_back()
        for words in warnings:
            self._presenter.remark(Notice(words, "warning"))

    def _act(self, app: App[Any], check: Callable[[], Sequence[str]], choice: int | None) -> None:
        match choice:
            case 0:
                app.run_worker(partial(self.connect, app, check), name="connect to the store")
            case 1:
                app.exit(return_code=USE_FILES)
            case 2:
                app.exit()
            case _:
                # Saves try again by themselves.
                return

    def note_away(self, error: ServerUnreachable) -> None:
        """Say that it is away, unless that was said since it was last there."""
        if self._told is None:
            self._told = Notice(str(error), "warning")
            self._presenter.remark(self._told)

    def note_back(self) -> None:
        """Say that it is back, if it was said to be away, and close the question about it."""
        if self._question is not None and self._question.is_current:
            self._question.dismiss(None)
        if self._told is not None:
            self._say_back()

    async def save_again(self) -> None:
        """Save what could not be saved, and say that the server is back."""
        if await self._workspace.save_all():
            self._say_back()
        self._presenter.show_status()

    def _say_back(self) -> None:
        if self._told is not None:
            self._presenter.withdraw(self._told)
        self._told = None
        words = "The store's server is back"
        session = self._workspace.current
        last = session.latest[-1] if session.latest else None
        # Such as one that was not sent.
        ends_with_prompt = isinstance(last, Message) and last.role == "user"
        if ends_with_prompt and not session.activity.running:
            words = f"{words}. Your last prompt has no answer: /retry sends it."
        self._presenter.remark(Notice(words))
