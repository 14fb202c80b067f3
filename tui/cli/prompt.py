"""The prompt of ``ask``: from the command line, standard input, or both."""

import sys
from contextlib import suppress

from tui.cli import output
from tui.domain.journal.message import TEXT_BYTES
from tui.errors import UsageError

_STANDARD_INPUT = "-"


def read_prompt(argument: str | None) -> str:
    """Read the prompt. Raises ``UsageError`` if it is blank or too large."""
    text = _joined(argument, _piped())
    if not text.strip():
        raise UsageError("Nothing to send.")
    if len(text.encode()) > TEXT_BYTES:
        raise UsageError("Prompt is larger than 8 MiB.")
    return text


def _joined(argument: str | None, piped: str) -> str:
    if argument is None or argument == _STANDARD_INPUT:
        return piped
    return f"{argument}\n\n{piped}" if piped.strip() else argument


def _piped() -> str:
    if sys.stdin is None or output.is_terminal(sys.stdin):
        return ""
    # Reading one byte beyond the limit detects excess; endless input ends here.
    data = sys.stdin.buffer.read(TEXT_BYTES + 2)
    return _decoded(data, sys.stdin.encoding).removesuffix("\n")


def _decoded(data: bytes, encoding: str) -> str:
    """Decode UTF-8, else text in the encoding of the locale."""
    for each in ("utf-8", encoding):
        with suppress(UnicodeDecodeError):
            return data.decode(each)
    output.tell("Standard input has bytes that are not UTF-8. They were replaced by \ufffd.")
    return data.decode(errors="replace")
