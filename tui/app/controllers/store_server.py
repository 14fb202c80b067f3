"""The store's server: the first connection, and notices that it is away, and back."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from textual.app import App

from tui.app.controllers.session_view import SessionPresenter
from tui.domain.journal.message import Message
from tui.domain.views.notice import Notice
from tui.engine.sessions.workspace import Workspace
from tui.errors import ServerUnreachable, StorageError

if TYPE_CHECKING:
    from tui.screens.dialog import ListDialog

USE_FILES = 75
"""The return code that restarts the program with the files of this machine."""
_CHOICES = ("Try again", "Use the files of this machine", "Quit")


class StoreServer(msgspec.Struct, eq=False):
    """Says once that the store's server is away, whoever finds it so, and once that it is back."""

    _app: App[Any]
    _workspace: Workspace
    _presenter: SessionPresenter
    check: Callable[[], Sequence[str]] | None = None
    """Connects, and returns warnings; none for files."""
    _told: Notice | None = None
    _question: "ListDialog | None" = None

    def begin(self) -> None:
        """Connect once, behind the first screen; if that fails, offer to go on with local files."""
        if self.check is not None:
            self._app.run_worker(partial(self._connect, self.check), name="connect to the store")

    async def _connect(self, check: Callable[[], Sequence[str]]) -> None:
        try:
            warnings = await asyncio.to_thread(check)
        except StorageError as error:
            from tui.screens.dialog import ListDialog

            title = "The store's server is not available"
            self._question = ListDialog(title, _CHOICES, detail=str(error))
            self._app.push_screen(self._question, self._act)
            return
        self.note_back()
        for words in warnings:
            self._presenter.remark(Notice(words, "warning"))

    def _act(self, choice: int | None) -> None:
        match choice:
            case 0:
                self.begin()
            case 1:
                self._app.exit(return_code=USE_FILES)
            case 2:
                self._app.exit()
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
            self._presenter.notices.withdraw(self._told)
        self._told = None
        words = "The store's server is back"
        session = self._workspace.current
        last = session.latest[-1] if session.latest else None
        # Such as one that was not sent.
        ends_with_prompt = isinstance(last, Message) and last.role == "user"
        if ends_with_prompt and not session.activity.running:
            words = f"{words}. Your last prompt has no answer: /retry sends it."
        self._presenter.remark(Notice(words))
