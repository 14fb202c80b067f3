"""The end of the program: the signals that lead to it, and unexpected errors."""

import asyncio
import logging
import signal
from collections.abc import Callable

from textual.worker import WorkerFailed

_log = logging.getLogger(__name__)

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""The signals that end the program; Textual itself ends in order on none of them."""


def end_on_signals(end: Callable[[int], None]) -> None:
    """Call ``end`` with the exit code when the program is asked to end."""
    loop = asyncio.get_running_loop()
    for number in ENDING_SIGNALS:
        loop.add_signal_handler(number, end, 128 + number)


class Defects:
    """Keeps the ``first`` unexpected error, which is raised once all is saved."""

    def __init__(self) -> None:
        self.first: Exception | None = None

    def note(self, error: Exception) -> str:
        """Return a message for an error in a worker; any other ends the program."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        _log.info("unexpected error", exc_info=cause)
        if self.first is None and isinstance(cause, Exception):
            self.first = cause
        return "" if cause is error else f"Unexpected error: {type(cause).__name__}: {cause}"
