"""Files of JSON lines that only grow: one value a line, oldest first."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from tui.domain.imports import ImportLine
from tui.domain.json_text import decode_json, journal_json
from tui.storage.disk import cut_back, open_to_make, sync_directory, sync_file, write_whole

T = TypeVar("T")


class JsonLines(Generic[T]):
    """The form of such a file; lines that cannot be decoded are skipped, and counted."""

    def __init__(self, kind: type[T]) -> None:
        self._decoder = msgspec.json.Decoder(kind)

    def encoded(self, values: Iterable[T]) -> bytes:
        """Encode values as lines."""
        return b"".join(journal_json(msgspec.to_builtins(value)) + b"\n" for value in values)

    def decoded(self, lines: Iterable[bytes]) -> Iterator[T]:
        for line in lines:
            with suppress(ValueError):
                yield decode_json(line, self._decoder)

    def decoded_whole(self, data: bytes) -> Iterable[T]:
        """Decode a whole file at once, which is much faster."""
        try:
            return self._decoder.decode_lines(data)
        except (ValueError, RecursionError):
            # A damaged line does not hide the others.
            return self.decoded(_lines(data))

    def damaged(self, data: bytes) -> int:
        """Count the lines of a file that cannot be decoded."""
        lines = _lines(data)
        return len(lines) - sum(1 for _ in self.decoded(lines))

    def append(self, path: Path, values: Iterable[T], *, durably: bool = True) -> None:
        """Append lines, all or none; a torn last line is closed before. Raises ``OSError``."""
        data = self.encoded(values)
        descriptor = open_to_make(path, os.O_RDWR | os.O_APPEND)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            try:
                write_whole(descriptor, b"\n" + data if torn else data)
                if durably:
                    sync_file(descriptor)
            except OSError:
                cut_back(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        if durably and not size:
            # The name of a new file, too.
            sync_directory(path.parent)


IMPORTS = JsonLines(ImportLine)
"""The form of the log of imports, which a purge leaves as it is."""


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line]
