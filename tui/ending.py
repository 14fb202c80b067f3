"""What comes after a turn: its save, what waits to be sent, the list of sessions."""

import asyncio

from tui.compacting import Compactions
from tui.display import Display
from tui.engine.conversation import Conversation
from tui.engine.workspace import Workspace
from tui.listing import ListedSessions
from tui.orders import Orders
from tui.turns import Turns


class Endings:
    """Ends turns, one after another, while the user types on, sends, stops or closes sessions."""

    def __init__(
        self,
        workspace: Workspace,
        display: Display,
        turns: Turns,
        compactions: Compactions,
        listed: ListedSessions,
        orders: Orders,
    ) -> None:
        self._workspace = workspace
        self._display = display
        self._turns = turns
        self._compactions = compactions
        self._listed = listed
        self._orders = orders
        self._lock = asyncio.Lock()

    def note(self, conversation: Conversation) -> None:
        """Nothing more comes of a turn: who is elsewhere now has not read it."""
        conversation.unread = conversation is not self._workspace.current

    async def end(self, conversation: Conversation) -> None:
        """Save what a turn has led to, and go on with what waits."""
        async with self._lock:
            with self._turns.going_on(conversation):
                await self._workspace.try_save(conversation)
                if not self._workspace.given_up(conversation):
                    await self._compactions.consider(conversation)
                # What waits may have been sent behind a command.
                await self._orders.settle()
            if conversation is self._workspace.current:
                self._display.show_changes()
            else:
                await self._workspace.leave(conversation)
            await self._listed.refresh()
