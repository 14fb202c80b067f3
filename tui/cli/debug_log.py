"""The debug log: entries of the program's own modules, written by a thread.

Loggers of libraries are left out: theirs may quote requests, with texts and keys.
"""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any

import tui
from tui.cli.crash import format_without_messages, versions
from tui.config.paths import state_directory
from tui.domain.text.safe_text import make_visible
from tui.domain.timestamps import format_milliseconds
from tui.logs import may_be_logged
from tui.storage.disk import make_directory
from tui.storage.log_file import LogFile

_SECONDS_TO_END = 1.0
_log = logging.getLogger(__name__)
_ours = logging.getLogger(tui.__name__)


class DebugLog:
    """The log of one run; ``failure`` is the first reason why an entry is missing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.failure = ""

    @property
    def words(self) -> str:
        """The line for the user at the end."""
        return self.failure or f"Debug log: {self._path}"

    @contextmanager
    def collecting(self) -> Generator[None]:
        """Write the entries that are made within; a file that cannot be written stops nothing."""
        try:
            if self._path.parent == state_directory():
                make_directory(self._path.parent)
            handler = _FileHandler(LogFile(self._path), self._fail)
        except OSError as error:
            self._fail(error)
            yield
            return
        with _collected(handler):
            _log.info("begins: %s", versions())
            try:
                yield
            except BaseException as error:
                _log.info("ends by an error", exc_info=error)
                raise
            _log.info("ends")

    def _fail(self, error: OSError) -> None:
        reason = error.strerror or type(error).__name__
        self.failure = self.failure or f"The debug log {self._path} cannot be written: {reason}."


class _FileHandler(logging.Handler):
    """Appends entries to the file; called by the listener's thread only."""

    def __init__(self, file: LogFile, failed: Callable[[OSError], None]) -> None:
        super().__init__()
        self._file = file
        self._failed = failed

    def emit(self, record: logging.LogRecord) -> None:
        time = format_milliseconds(int(record.created * 1000))
        line = f"{time} {record.process} {record.name}: {record.getMessage()}\n"
        try:
            self._file.write(line.encode(errors="replace"))
        except OSError as error:
            self._failed(error)


class _Formatter(logging.Formatter):
    """Formats where the entry is made: the message, and a traceback without messages."""

    def format(self, record: logging.LogRecord) -> str:
        return make_visible(super().format(record))

    def formatException(  # noqa: N802 - the library's name
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        return format_without_messages(ei[1]).rstrip() if ei[1] is not None else ""


@contextmanager
def _collected(handler: logging.Handler) -> Generator[None]:
    """Pass entries to a handler through a queue, whose thread a hanging disk may keep."""
    # An error in logging itself must not be printed over the screen.
    logging.raiseExceptions = False
    entries: SimpleQueue[Any] = SimpleQueue()
    queue = QueueHandler(entries)  # pyright: ignore[reportArgumentType] - the library takes it
    queue.setFormatter(_Formatter())
    queue.addFilter(may_be_logged)
    listener = QueueListener(entries, handler)  # pyright: ignore[reportArgumentType]
    listener.start()
    _ours.addHandler(queue)
    _ours.setLevel(logging.INFO)
    _ours.propagate = False
    try:
        yield
    finally:
        _ours.setLevel(logging.NOTSET)
        _ours.propagate = True
        _ours.removeHandler(queue)
        ending = threading.Thread(target=listener.stop, daemon=True, name="end of the debug log")
        ending.start()
        ending.join(_SECONDS_TO_END)
