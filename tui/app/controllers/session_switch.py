"""The switch to the session that the user selected in the list."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.app.controllers.confirmations import WorkGiven
from tui.app.controllers.navigation import Navigation
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.input_queue import InputQueue
from tui.domain.views.notice import Notice
from tui.engine.sessions.switching import PrivateSessionLeft, Switcher
from tui.errors import StorageError

if TYPE_CHECKING:
    from tui.commands.shell import Shell


class SessionSwitch:
    """Shows the selected session; later keys wait, as they are meant for it."""

    def __init__(
        self,
        app: App[Any],
        queue: InputQueue,
        switcher: Switcher,
        presenter: SessionPresenter,
        session_list: SessionListController,
        navigation: Navigation,
    ) -> None:
        self._app = app
        self._queue = queue
        self._switcher = switcher
        self._presenter = presenter
        self._session_list = session_list
        self._navigation = navigation

    def begin(self, session_id: str) -> None:
        """Switch behind the tasks that came before."""
        self._app.run_worker(
            partial(self._switch, session_id, self._queue.hold()), name="open the session"
        )

    async def _switch(self, session_id: str, release_keys: Callable[[], None]) -> None:
        try:
            await self._queue.settle()
            left = self._switcher.current
            shown = await self._show(session_id)
        finally:
            release_keys()
        if shown:
            self._session_list.show()
            await self._switcher.settle()
            await self._session_list.show_left(left)

    async def _show(self, session_id: str) -> bool:
        try:
            switched = await self._switcher.look_at(session_id)
        except PrivateSessionLeft:
            self._presenter.stay()
            # Again as a command, which asks whether it may be lost.
            self._app.post_message(WorkGiven(partial(self._select, session_id=session_id)))
            return False
        except StorageError as error:
            self._presenter.say(Notice(str(error), "error"))
            self._presenter.stay()
            return False
        if not switched or self._presenter.is_current:
            return False
        await self._navigation.show_session()
        return True

    async def _select(self, shell: "Shell", session_id: str) -> None:
        left = self._switcher.current
        if await self._switcher.look_at(session_id):
            await shell.show_session()
            shell.show_moved(left.id)
