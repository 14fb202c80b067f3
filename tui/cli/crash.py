"""The report of a crash: a file for a bug report, without texts and keys."""

from pathlib import Path

from tui.cli.system import versions
from tui.cli.tracebacks import format_without_messages
from tui.config.paths import state_directory
from tui.domain.timestamps import format_utc, utc_now
from tui.storage.disk import make_directory
from tui.storage.log_file import LogFile

NAME = "crash.log"
_MOST_BYTES = 1024 * 1024


def last_words(error: Exception) -> str:
    """Write the report, and say where it is."""
    try:
        path = _written(error)
    except OSError as failure:
        reason = failure.strerror or type(failure).__name__
        return f"This is a bug in sibyl-tui. Its report could not be written: {reason}."
    return (
        f"This is a bug in sibyl-tui. Please report it with the end of {path},"
        " which has no text and no key of yours."
    )


def _written(error: Exception) -> Path:
    directory = state_directory()
    make_directory(directory)
    path = directory / NAME
    file = LogFile(path, _MOST_BYTES)
    try:
        file.write(_report(error).encode(errors="replace"))
    finally:
        file.close()
    return path


def _report(error: Exception) -> str:
    return f"{format_utc(utc_now())} {versions()}\n{format_without_messages(error)}\n"
