"""What comes after a turn: its save, what waits to be sent, the list of sessions."""

import asyncio

from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.controllers.summaries import Summaries
from tui.app.controllers.turns import Turns
from tui.app.input_queue import InputQueue
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace


class TurnEnd:
    """Ends turns, one after another, while the user types on, sends, stops or closes sessions."""

    def __init__(
        self,
        workspace: Workspace,
        display: SessionPresenter,
        turns: Turns,
        compactions: Summaries,
        listed: SessionListController,
        queue: InputQueue,
    ) -> None:
        self._workspace = workspace
        self._display = display
        self._turns = turns
        self._compactions = compactions
        self._listed = listed
        self._queue = queue
        self._lock = asyncio.Lock()

    def note(self, conversation: LoadedSession) -> None:
        """Nothing more comes of a turn: who is elsewhere now has not read it."""
        conversation.mark_unread(unread=conversation is not self._workspace.current)

    async def end(self, conversation: LoadedSession) -> None:
        """Save what a turn has led to, and go on with what waits."""
        async with self._lock:
            with self._turns.going_on(conversation):
                await self._workspace.try_save(conversation)
                if not self._workspace.given_up(conversation):
                    await self._compactions.consider(conversation)
                # What waits may have been sent behind a command.
                await self._queue.settle()
            if conversation is self._workspace.current:
                self._display.show_changes()
            else:
                await self._workspace.leave(conversation)
            await self._listed.refresh()
