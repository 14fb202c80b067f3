"""The report of a crash: a file for a bug report, without texts and keys."""

import platform
import traceback
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType

import tui
from tui.config.paths import state_directory, with_tilde
from tui.domain.timestamps import format_utc, utc_now
from tui.logs import chain, error_name
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
