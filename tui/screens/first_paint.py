"""The first frame of the chat screen: early keys first, the conversation after it."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

import msgspec
from textual.message_pump import MessagePump

_log = logging.getLogger(__name__)

SECONDS_UNPAINTED = 0.1
"""Limit of the wait for keys that were typed during the start."""

_SECONDS_PER_LOOK, _LOOKS = 0.001, 30


class FirstPaint(msgspec.Struct, eq=False):
    """Paints the first frame with the early keys in the prompt, and the conversation afterwards.

    Drawing a conversation takes longer than everything else of the first frame.
    """

    _screen: MessagePump
    _keys_are_there: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    _is_taken: Callable[[], bool] = lambda: True
    _rest: Callable[[], object] | None = None
    has_come: bool = False

    def may_come(self, is_taken: Callable[[], bool]) -> None:
        """Release the frame; ``is_taken`` is true once the terminal has received it."""
        self._is_taken = is_taken
        self._keys_are_there.set()

    async def wait(self) -> None:
        """Wait for the keys, at most ``SECONDS_UNPAINTED``."""
        # Painting is slower than handling keys, which would else be shown a frame later.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._keys_are_there.wait(), SECONDS_UNPAINTED)

    def follow_with(self, rest: Callable[[], object]) -> None:
        """Draw the rest directly after the first frame."""
        if self.has_come:
            self._screen.call_later(rest)
        else:
            self._rest = rest

    def begin(self) -> None:
        """Note that the frame is painted with the current message."""
        self.has_come = True
        _log.info("first frame painted")
        self._screen.call_next(self._go_on)

    async def _go_on(self) -> None:
        # The output thread runs only while this one does not draw.
        for _ in range(_LOOKS):
            await asyncio.sleep(_SECONDS_PER_LOOK)
            if self._is_taken():
                break
        if self._rest is not None:
            self._rest()
