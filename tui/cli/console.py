"""Printing, with control characters made visible on a terminal."""

import codecs
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from tui.domain.json_text import ascii_json, terminal_json
from tui.domain.text import make_visible, without_surrogates
from tui.errors import OutputError
from tui.terminal import first_frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui.domain.search.tokens import Span

_USUAL_COLUMNS = 80


def prepare() -> None:
    """Replace characters that the locale cannot encode, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        # A stream that was closed at the start of the program is None.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def put(text: str) -> None:
    """Print data, sanitised on a terminal, and flush."""
    _write(make_visible(text) if is_terminal(sys.stdout) else without_surrogates(text))


def _write(text: str) -> None:
    first_frame.end()
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise OutputError(f"Cannot write to standard output: {error.strerror}.") from error


def put_line(text: str = "") -> None:
    """Print a line of text, sanitised also where it goes to a pipe."""
    put(make_visible(text) + "\n")


def put_marked(text: str, marks: "Iterable[Span]") -> None:
    """Print a sanitised line whose marks are bold on a terminal."""
    if columns() is not None and os.environ.get("TERM", "dumb") != "dumb":
        for begin, end in sorted(marks, reverse=True):
            text = f"{text[:begin]}\x1b[1m{text[begin:end]}\x1b[22m{text[end:]}"
    _write(text + "\n")


def put_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON without terminal controls."""
    text = terminal_json(value, indent)
    is_utf8 = sys.stdout is None or codecs.lookup(sys.stdout.encoding).name == "utf-8"
    put((text if is_utf8 else ascii_json(text)) + "\n")


def tell(text: str) -> None:
    """Print a message on standard error."""
    first_frame.end()
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(make_visible(text) + "\n")
        sys.stderr.flush()
    except OSError:
        # A closed standard error does not stop the program.
        discard(sys.stderr)


def confirmed(question: str) -> bool:
    """Ask a question on the terminal, and read its answer."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def is_terminal(stream: TextIO | None) -> bool:
    """True if a standard stream is open and a terminal."""
    return stream is not None and stream.isatty()


def columns() -> int | None:
    """The width of the terminal that is printed on; ``None`` if it is none.

    COLUMNS may be that of another terminal.
    """
    if not is_terminal(sys.stdout):
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _USUAL_COLUMNS
    except OSError:
        return _USUAL_COLUMNS


def end_output() -> None:
    """End standard output for whoever reads it from a pipe, while the command goes on."""
    if sys.stdout is not None and not is_terminal(sys.stdout):
        # Without a descriptor, nobody reads.
        with suppress(OSError, ValueError):
            discard(sys.stdout)


def discard(stream: TextIO) -> None:
    """Redirect a stream whose reader is gone to the null device.

    The interpreter flushes it at its end, and a failure there would change the exit code.
    """
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
