"""Files of JSON lines that only grow, one value a line, oldest first: imports, moves, numbers.

``moves.jsonl`` has the moves of sessions between the folders, for undo and for the list, each
written after it. It is not synced: after a power cut the last lines may be missing, and the
sessions are where they are.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from tui.domain.imports import ImportLine
from tui.domain.journal.records import is_session_id
from tui.domain.json_text import decode_json, journal_json
from tui.domain.moves import Batch, Move, Reason
from tui.files import open_regular
from tui.storage.disk import cut_back, open_to_make, sync_directory, sync_file, write_whole

T = TypeVar("T")

MOVES_BYTES = 4 * 1024 * 1024
"""The part of the file of moves that is read: its end, with the last 25,000."""


class JsonLines(msgspec.Struct, Generic[T], eq=False):
    """The form of such a file; lines that cannot be decoded are skipped, and counted."""

    _decoder: msgspec.json.Decoder[T]

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


IMPORTS = JsonLines(msgspec.json.Decoder(ImportLine))
"""The form of the log of imports, which a purge leaves as it is."""
_MOVES = JsonLines(msgspec.json.Decoder(Move))


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line]


def new_batch(reason: Reason) -> Batch:
    """Begin a batch of moves."""
    return Batch(os.urandom(8).hex(), reason)


class MoveLog(msgspec.Struct, eq=False):
    """The file of moves. A line that cannot be written is kept in memory, for the next write."""

    _path: Path
    _unwritten: list[Move] = []

    def add(self, *new: Move) -> None:
        """Append lines; raises nothing, as the moves have been made."""
        moves = [*self._unwritten, *new]
        try:
            _MOVES.append(self._path, moves, durably=False)
        except OSError:
            self._unwritten = moves
        else:
            self._unwritten = []

    def read(self) -> tuple[Move, ...]:
        """Read the last moves, oldest first; lines that cannot be decoded are skipped."""
        try:
            lines = _lines(_end_of(self._path))
        except OSError:
            lines = []
        return (*decoded_moves(lines), *self._unwritten)


def decoded_moves(lines: Iterable[bytes]) -> tuple[Move, ...]:
    """Decode lines; those that are damaged, or of a session that cannot be, are left out."""
    return tuple(move for move in _MOVES.decoded(lines) if is_session_id(move.id))


def damaged_moves(path: Path) -> int:
    """Count the lines that cannot be decoded. Raises ``OSError``."""
    lines = _lines(_end_of(path))
    return len(lines) - len(decoded_moves(lines))


def _end_of(path: Path) -> bytes:
    descriptor = open_regular(path)
    try:
        start = max(0, os.fstat(descriptor).st_size - MOVES_BYTES)
        data = os.pread(descriptor, MOVES_BYTES, start)
    finally:
        os.close(descriptor)
    # The first line is cut off, unless the whole file was read.
    return data[data.find(b"\n") + 1 :] if start else data
