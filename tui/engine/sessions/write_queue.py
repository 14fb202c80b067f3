"""Saving: one write after another, each carried to its end; any error is a failed save."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

from tui.errors import StorageError, UnexpectedSaveError

_log = logging.getLogger(__name__)


@contextmanager
def save_errors() -> Generator[None]:
    """Turn any error raised while saving into ``StorageError``.

    The one boundary of its kind: a prompt must not be lost to an error without a handler.
    """
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        _log.info("unexpected error in a save", exc_info=error)
        raise UnexpectedSaveError(error) from error


class WriteQueue:
    """Runs the writes of one session, one at a time.

    A write that has begun goes on to its end when whoever asked for it is cancelled: the thread
    that writes cannot be stopped, and the lock must be held as long as it does.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        # The loop itself keeps only a weak reference.
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write after those before. Raises ``StorageError``, whatever the write raises."""
        task = asyncio.create_task(self._locked(write))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        await asyncio.shield(task)

    async def settle(self) -> None:
        """Wait until nothing is being written."""
        async with self._lock:
            pass

    async def _locked(self, write: Callable[[], Awaitable[None]]) -> None:
        async with self._lock:
            with save_errors():
                await write()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Whoever awaited the write has the error; a write whose caller was cancelled tells
            # it through what is still pending.
            task.exception()
