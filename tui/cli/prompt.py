"""The prompt of ``ask``: from the command line, standard input, or both, and files."""

import codecs
import os
import stat
import sys
import termios
from collections.abc import Iterable, Sequence
from contextlib import suppress

from tui.cli import output
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.pictures import media_type_of
from tui.domain.text.safe_text import make_visible_name
from tui.errors import UsageError

_STANDARD_INPUT = "-"
_SECRETS = (
    "Not sent: {names} may hold secrets, and there is no terminal to ask on. "
    "To send it all the same, pipe its text into ask."
)
_STREAM = "Cannot attach {name}: it is a stream. Pipe its text into ask, without -f."


def read_prompt(argument: str | None) -> str:
    """Read the prompt. Raises ``UsageError`` if it is blank or too large."""
    text = _joined(argument, _piped())
    if not text.strip():
        raise UsageError("Nothing to send.")
    if len(text.encode()) > TEXT_BYTES:
        raise UsageError("Prompt is larger than 8 MiB.")
    return text


def typed_part(argument: str | None) -> str:
    """Give the part that the user typed: piped text may be anybody's, and refers to nothing."""
    return "" if argument is None or argument == _STANDARD_INPUT else argument


def refuse_streams(files: Iterable[str]) -> None:
    """Raise ``UsageError`` for a file that is a pipe, or standard input itself."""
    for name in files:
        # Whatever else is wrong with it is said when it is read.
        with suppress(OSError, ValueError):
            if _is_stream(os.stat(name)):  # noqa: PTH116 - any bytes, also an empty name
                raise UsageError(_STREAM.format(name=make_visible_name(name)))


def confirm_secrets(names: Sequence[str], model: str) -> None:
    """Ask whether files that hold secrets may be sent. Raises ``UsageError`` if not."""
    listed = ", ".join(names)
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        raise UsageError(_SECRETS.format(names=listed))
    with suppress(termios.error, OSError):
        # Input from before the question is no answer to it.
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    output.tell(f"Send {listed} to {model}? It may hold secrets. [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError(f"Not sent: {listed}.")


def _is_stream(status: os.stat_result) -> bool:
    if stat.S_ISFIFO(status.st_mode):
        return True
    return sys.stdin is not None and os.path.samestat(status, os.fstat(sys.stdin.fileno()))


def _joined(argument: str | None, piped: str) -> str:
    if argument is None or argument == _STANDARD_INPUT:
        return piped
    return f"{argument}\n\n{piped}" if piped.strip() else argument


def _piped() -> str:
    if sys.stdin is None or output.is_terminal(sys.stdin):
        return ""
    # Reading beyond the limit detects excess, also in UTF-16; endless input ends here.
    data = sys.stdin.buffer.read(2 * TEXT_BYTES + 4)
    text = _decoded(data, sys.stdin.encoding).removesuffix("\n")
    if "\0" in text or media_type_of(data):
        raise UsageError("Standard input is not text. Attach a picture with -f.")
    return text


def _decoded(data: bytes, encoding: str) -> str:
    """Decode UTF-8 and UTF-16 by its mark, else text in the encoding of the locale."""
    marked = (
        "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    )
    for each in (marked, encoding):
        with suppress(UnicodeDecodeError):
            return data.decode(each)
    output.tell("Standard input has bytes that are not UTF-8. They were replaced by \ufffd.")
    return data.decode(marked, errors="replace")
