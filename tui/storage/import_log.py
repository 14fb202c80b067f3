"""``imports.jsonl``: the sources that were imported. Append-only; a purge leaves it as it is."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tui.domain.imports import ImportLine
from tui.domain.journal.json_text import decode_json, journal_json
from tui.storage.disk import open_to_make, open_to_read, sync_directory, sync_file, write_whole
from tui.storage.lines import lines_forward, reader_of

_DECODER = msgspec.json.Decoder(ImportLine)


def add_lines(path: Path, lines: Sequence[ImportLine]) -> None:
    """Append lines durably; a torn last line is closed before. Raises ``OSError``."""
    data = b"".join(journal_json(msgspec.to_builtins(line)) + b"\n" for line in lines)
    descriptor = open_to_make(path, os.O_RDWR | os.O_APPEND)
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        write_whole(descriptor, b"\n" + data if torn else data)
        sync_file(descriptor)
    finally:
        os.close(descriptor)
    if not size:
        # The name of a new file, too.
        sync_directory(path.parent)


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
