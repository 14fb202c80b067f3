"""The first painting of a screen: what it waits for, and what waits for it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from textual.message_pump import MessagePump

SECONDS_UNPAINTED = 0.1
"""How long the first screen waits at the most for the keys that it is to show."""

_SECONDS_PER_LOOK, _LOOKS = 0.001, 30


class FirstPaint:
    """Comes when the keys that were typed before stand in the prompt, and only then the rest.

    To draw a conversation takes longer than all else of the first screen.
    """

    def __init__(self, screen: MessagePump) -> None:
        self._screen = screen
        self._keys_are_there = asyncio.Event()
        self._is_taken: Callable[[], bool] = lambda: True
        self._rest: Callable[[], object] | None = None
        self.has_come = False

    def may_come(self, is_taken: Callable[[], bool]) -> None:
        """The keys stand in the prompt; ``is_taken``: whether the terminal has what is painted."""
        self._is_taken = is_taken
        self._keys_are_there.set()

    async def wait(self) -> None:
        """Wait for the keys, but not for long."""
        # Painting takes longer than all that keys do: they would wait for two paintings.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._keys_are_there.wait(), SECONDS_UNPAINTED)

    def follow_with(self, rest: Callable[[], object]) -> None:
        """Have the rest drawn right behind it: before the same is painted again."""
        if self.has_come:
            self._screen.call_later(rest)
        else:
            self._rest = rest

    def begin(self) -> None:
        """It comes at the end of what the screen is just seeing to."""
        self.has_come = True
        self._screen.call_next(self._go_on)

    async def _go_on(self) -> None:
        # The thread that writes has its turn only while nobody draws.
        for _ in range(_LOOKS):
            await asyncio.sleep(_SECONDS_PER_LOOK)
            if self._is_taken():
                break
        if self._rest is not None:
            self._rest()
