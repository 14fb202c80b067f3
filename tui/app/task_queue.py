"""What the user wants to be done, one thing after another, while he types on."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from tui.app.key_order import KeyboardApp

SECONDS_TO_LEAD = 10.0
"""What is typed behind something that leads elsewhere waits so long for it.

Then it goes to the session that is on screen still. Disks that take seconds to sync are in use, so
this is more than theirs; one that hangs must not keep all keys.
"""


class TaskQueue:
    """Does what is given to it in the order in which it came: each waits for those before it."""

    def __init__(self, app: KeyboardApp) -> None:
        self._app = app
        self._turn = asyncio.Lock()
        self._given = 0

    @property
    def pending(self) -> bool:
        """Whether anything that was given is not done."""
        return self._given > 0

    def give(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do something that leads nowhere else: typing goes on."""
        self._given += 1
        self._app.run_worker(partial(self._do, work))

    def give_leading(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do something that may lead elsewhere: what is typed behind it is meant for there."""
        self.give(partial(_before_keys, work, self._app.hold_keys(SECONDS_TO_LEAD)))

    async def settle(self) -> None:
        """Wait until all that was given before is done."""
        async with self._turn:
            pass

    async def _do(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            async with self._turn:
                await work()
        finally:
            self._given -= 1


async def _before_keys(
    work: Callable[[], Awaitable[object]], let_keys_go: Callable[[], None]
) -> None:
    try:
        await work()
    finally:
        let_keys_go()
