"""The switch to the session that the user selected in the list."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from textual.app import App
from textual.message import Message

from tui.app.controllers.navigation import Navigation
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.input_queue import InputQueue
from tui.commands.effects import Effect, LeavePrivate, MovedSession, ShowSession
from tui.domain.views.notice import Notice
from tui.engine.sessions.switching import PrivateSessionLeft, Switcher
from tui.errors import StorageError


class LeavingPrivate(Message):
    """Asks before the private session on screen is lost, then does the work."""

    def __init__(
        self, left: PrivateSessionLeft, work: Callable[[], Awaitable[Sequence[Effect]]]
    ) -> None:
        super().__init__()
        self.effect = LeavePrivate(left.loaded, work)


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
        except PrivateSessionLeft as left:
            self._presenter.stay()
            self._app.post_message(LeavingPrivate(left, partial(self._selected, session_id)))
            return False
        except StorageError as error:
            self._presenter.say(Notice(str(error), "error"))
            self._presenter.stay()
            return False
        if not switched or self._presenter.is_current:
            return False
        await self._navigation.show_session()
        return True

    async def _selected(self, session_id: str) -> Sequence[Effect]:
        left = self._switcher.current
        if not await self._switcher.look_at(session_id):
            return ()
        return (ShowSession(), MovedSession(left.id))
