"""Printing: what came from outside reaches a terminal only with its controls made visible."""

import os
import sys
from typing import Any, TextIO

from tui.domain.journal.json_text import terminal_json
from tui.domain.text.safe_text import make_visible, without_surrogates
from tui.errors import OutputError
from tui.terminal import first_frame


def prepare() -> None:
    """Let no character that a locale cannot say stop the program."""
    for stream in (sys.stdout, sys.stderr):
        # A stream that was closed by whoever started the program is None.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def put(text: str) -> None:
    """Print data as it is, or made visible on a terminal; at once, as more may come late."""
    first_frame.end()
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(make_visible(text) if sys.stdout.isatty() else without_surrogates(text))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise OutputError(f"Standard output cannot be written: {error.strerror}.") from error


def put_line(text: str = "") -> None:
    """Print a line of data."""
    put(text + "\n")


def put_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON, harmless anywhere."""
    put(terminal_json(value, indent) + "\n")


def tell(text: str) -> None:
    """Say something about the run on standard error."""
    first_frame.end()
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(make_visible(text) + "\n")
        sys.stderr.flush()
    except OSError:
        # A missing reader does not stop the work.
        discard(sys.stderr)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is there and leads to a terminal."""
    return stream is not None and stream.isatty()


def discard(stream: TextIO) -> None:
    """Throw away what a stream still has to print: its reader is gone.

    The interpreter flushes it once more at its end, and a failure there changes the exit code.
    """
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
