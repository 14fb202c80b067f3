"""``imports.jsonl``: the sources that were imported. Append-only; a purge leaves it as it is."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tui.domain.imports import ImportLine
from tui.domain.journal.json_text import decode_json, journal_json
from tui.storage.disk import append_lines, open_to_read
from tui.storage.lines import lines_forward, reader_of

_DECODER = msgspec.json.Decoder(ImportLine)


def add_lines(path: Path, lines: Sequence[ImportLine]) -> None:
    """Append lines durably. Raises ``OSError``."""
    data = b"".join(journal_json(msgspec.to_builtins(line)) + b"\n" for line in lines)
    append_lines(path, data)


def read_lines(path: Path, part: bytes = b"") -> Iterator[ImportLine]:
    """Read the lines with ``part``, oldest first; those that cannot be decoded are skipped.

    Raises ``OSError``.
    """
    try:
        descriptor = open_to_read(path)
    except FileNotFoundError:
        return
    try:
        size = os.fstat(descriptor).st_size
        lines = (line for _, line in lines_forward(reader_of(descriptor), 0, size))
        yield from read_rows(line for line in lines if part in line)
    finally:
        os.close(descriptor)


def read_rows(lines: Iterable[bytes]) -> Iterator[ImportLine]:
    """Decode lines; those that cannot be decoded are skipped."""
    for line in lines:
        with suppress(ValueError):
            yield decode_json(line, _DECODER)
