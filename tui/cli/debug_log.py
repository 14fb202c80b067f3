"""The debug log and the report of a crash: written for bug reports, without texts and keys."""

import logging
import platform
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from logging.handlers import QueueHandler, QueueListener
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any

import msgspec

import tui
from tui.config.paths import state_directory, with_tilde
from tui.domain.text import make_visible
from tui.domain.timestamps import format_milliseconds, format_utc, utc_now
from tui.logs import chain, error_name, may_be_logged
from tui.storage.disk import make_directory
from tui.storage.log_file import LogFile

NAME = "crash.log"
_MOST_BYTES = 1024 * 1024

_DEEPEST = 5
_FIRST, _LAST = 20, 40

_LIBRARIES = ("textual", "httpx2", "msgspec")
TEXTUAL = "8.2.7", "8.2.8"
"""The versions that the tests run with. Private members of others may have moved."""


def versions() -> str:
    """The program, Python, the libraries and the system, in one line."""
    libraries = ", ".join(f"{name} {library_version(name)}" for name in _LIBRARIES)
    python = f"Python {platform.python_version()}"
    return f"sibyl-tui {tui.__version__}, {python}, {libraries}, {system()}"


def library_version(name: str) -> str:
    """The installed version of a library."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def system() -> str:
    """The operating system, without the name of the machine."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def format_without_messages(error: BaseException, depth: int = 0) -> str:
    """Format an error, its causes and the errors of a group, the first cause first."""
    parts: list[str] = []
    for each in reversed(chain(error)):
        parts += _places(each.__traceback__)
        parts.append(f"{type(each).__module__}.{error_name(each)}\n")
        if isinstance(each, BaseExceptionGroup) and depth < _DEEPEST:
            parts += [format_without_messages(one, depth + 1) for one in each.exceptions]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    return with_tilde("".join(parts))


def _places(end: TracebackType | None) -> Iterator[str]:
    places = [
        f"  {frame.f_code.co_filename}:{line} {frame.f_code.co_name}\n"
        for frame, line in traceback.walk_tb(end)
    ]
    left_out = len(places) - _FIRST - _LAST
    if left_out <= 0:
        yield from places
        return
    # As of a recursion.
    yield from places[:_FIRST]
    yield f"  ({left_out} more)\n"
    yield from places[-_LAST:]


def last_words(error: Exception) -> str:
    """Write the report, and say where it is."""
    try:
        path = state_directory() / NAME
        make_directory(path.parent)
        file = LogFile(path, _MOST_BYTES)
        report = f"{format_utc(utc_now())} {versions()}\n{format_without_messages(error)}\n"
        try:
            file.write(report.encode(errors="replace"))
        finally:
            file.close()
    except OSError as failure:
        reason = failure.strerror or type(failure).__name__
        return f"This is a bug in sibyl-tui. Its report could not be written: {reason}."
    textual = library_version("textual")
    if textual not in TEXTUAL:
        return (
            f"sibyl-tui is tested with Textual {TEXTUAL[-1]}, not {textual}."
            f" To install that: pip install textual=={TEXTUAL[-1]}. The report is in {path}."
        )
    return (
        f"This is a bug in sibyl-tui. Please report it with the end of {path},"
        " which has no text and no key of yours."
    )


_SECONDS_TO_END = 1.0
_log = logging.getLogger(__name__)
_ours = logging.getLogger(tui.__name__)


class DebugLog(msgspec.Struct, eq=False):
    """The log of one run; ``failure`` is the first reason why an entry is missing."""

    path: Path
    failure: str = ""

    @contextmanager
    def collecting(self) -> Generator[None]:
        """Write the entries that are made within; a file that cannot be written stops nothing."""
        try:
            if self.path.parent == state_directory():
                make_directory(self.path.parent)
            handler = _FileHandler(LogFile(self.path), self._fail)
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
        self.failure = self.failure or f"The debug log {self.path} cannot be written: {reason}."


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
