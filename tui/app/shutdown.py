"""The end of the program: the signals that lead to it, and unexpected errors."""

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from textual.worker import WorkerFailed

_MOST_OF_WORK = 60
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

    def note(self, error: Exception, work: str = "") -> str:
        """Log an error, and return a message that says which work was not done."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if self.first is None and isinstance(cause, Exception):
            self.first = cause
        _log.info("unexpected error", exc_info=cause)
        not_done = f"Not done: {' '.join(work.split())[:_MOST_OF_WORK]}. " if work else ""
        return f"{not_done}Unexpected error: {type(cause).__name__}: {cause}"


@contextmanager
def catching_elsewhere(report: Callable[[Exception, str], None]) -> Generator[None]:
    """Report errors in threads and in callbacks of the loop, which Python only prints."""
    loop, in_threads = asyncio.get_running_loop(), threading.excepthook

    def report_in_thread(found: threading.ExceptHookArgs) -> None:
        name = found.thread.name if found.thread is not None else ""
        if isinstance(found.exc_value, Exception):
            loop.call_soon_threadsafe(report, found.exc_value, name)

    def report_in_callback(_: object, found: dict[str, Any]) -> None:
        error = found.get("exception")
        if isinstance(error, Exception) and "handle" in found:
            report(error, "")
        else:
            loop.default_exception_handler(found)

    loop.set_exception_handler(report_in_callback)
    threading.excepthook = report_in_thread
    try:
        yield
    finally:
        threading.excepthook = in_threads
        loop.set_exception_handler(None)
