"""The end of a turn: save, next queued prompt, session list."""

import asyncio

from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.controllers.summaries import Summaries
from tui.app.controllers.turns import Turns
from tui.app.input_queue import InputQueue
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace


class TurnEnd:
    """Ends turns one after another, while the user types, sends, stops or closes sessions."""

    def __init__(
        self,
        workspace: Workspace,
        presenter: SessionPresenter,
        turns: Turns,
        summaries: Summaries,
        session_list: SessionListController,
        queue: InputQueue,
    ) -> None:
        self._workspace = workspace
        self._presenter = presenter
        self._turns = turns
        self._summaries = summaries
        self._session_list = session_list
        self._queue = queue

    async def end(self, session: LoadedSession) -> None:
        """Save a turn's session, and start the next queued prompt."""
        try:
            await self._workspace.pool.try_save(session)
            if not self._workspace.pool.given_up(session):
                await self._summaries.consider(session)
            # A queued prompt may have been sent behind a command.
            await self._queue.settle()
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._turns.go_on(session, failed=True)
            raise
        for_version = self._turns.go_on(session, failed=False)
        if session is not self._workspace.current:
            await self._workspace.switcher.leave(session)
            self._presenter.show_status()
        elif for_version:
            # A version that got no text has given its place back.
            self._presenter.show_session()
        else:
            self._presenter.show_changes()
        await self._session_list.refresh()
