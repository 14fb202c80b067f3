"""The live messages of an open session, as far as a request needs them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from tui.domain.journal.message import Message
from tui.domain.journal.records import Record
from tui.engine.requests.history_window import HistoryWindow

Pending = Callable[[], Sequence[Record]]
"""The records that are not on disk yet."""
Read = Callable[[int], Awaitable[HistoryWindow]]
"""Reads as much as a window of so many tokens takes, from what is on disk."""


class LiveHistory:
    """Keeps the last reading, and adds the records that come after it."""

    def __init__(self, window: HistoryWindow | None) -> None:
        self._window = window
        self._reading = asyncio.Lock()
        # Those that come during a reading: once saved, they are neither pending nor read.
        self._arrived: list[Record] | None = None

    @property
    def known(self) -> Sequence[Message]:
        """The messages of the last reading; none before the first."""
        return self._window.messages if self._window is not None else ()

    async def messages(self, tokens: int, pending: Pending, read: Read) -> Sequence[Message]:
        """The newest live messages, at least as many as a window of so many tokens takes."""
        async with self._reading:
            if self._window is None or not self._window.reaches(tokens):
                self._window = await self._read(tokens, pending, read)
        return self._window.messages

    def take(self, record: Record) -> None:
        """Take what was added to the session."""
        if self._arrived is not None:
            self._arrived.append(record)
        if self._window is not None:
            self._window.take(record)

    def forget(self) -> None:
        """Read again at the next request: another version is live now."""
        self._window = None

    async def _read(self, tokens: int, pending: Pending, read: Read) -> HistoryWindow:
        self._arrived = arrived = list(pending())
        try:
            window = await read(tokens)
        finally:
            self._arrived = None
        for record in arrived:
            window.take(record)
        return window
