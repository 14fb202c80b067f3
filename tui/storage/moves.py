"""``moves.jsonl``: moves of sessions between the folders, for undo and for the list.

Append-only, one line a move, each written after it. Not synced: after a power cut the last lines
may be missing, and the sessions are where they are.
"""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from tui.domain.journal.ids import is_session_id
from tui.domain.journal.json_text import decode_json
from tui.domain.moves import Batch, Move, Reason
from tui.files import open_regular
from tui.storage.disk import open_to_make, write_whole

READ_BYTES = 4 * 1024 * 1024
"""The part of the file that is read: its end, with the last 25,000 moves."""

_TOKEN_BYTES = 8
_DECODER = msgspec.json.Decoder(Move)


def new_batch(reason: Reason) -> Batch:
    """Begin a batch of moves."""
    return Batch(os.urandom(_TOKEN_BYTES).hex(), reason)


class MoveLog:
    """The file of moves. A line that cannot be written is kept in memory, for the next write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unwritten: list[Move] = []

    def add(self, *new: Move) -> None:
        """Append lines; raises nothing, as the moves have been made."""
        moves = [*self._unwritten, *new]
        try:
            self._append(b"".join(msgspec.json.encode(each) + b"\n" for each in moves))
        except OSError:
            self._unwritten = moves
        else:
            self._unwritten = []

    def read(self) -> tuple[Move, ...]:
        """Read the last moves, oldest first; lines that cannot be decoded are skipped."""
        try:
            lines = _end_of(self._path).split(b"\n")
        except OSError:
            lines = []
        return (*decoded(lines), *self._unwritten)

    def _append(self, data: bytes) -> None:
        descriptor = open_to_make(self._path, os.O_RDWR | os.O_APPEND)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            write_whole(descriptor, b"\n" + data if torn else data)
        finally:
            os.close(descriptor)


def decoded(lines: list[bytes]) -> tuple[Move, ...]:
    """Decode lines; those that are damaged, or of a session that cannot be, are left out."""
    moves: list[Move] = []
    for line in lines:
        with suppress(ValueError):
            moves.append(decode_json(line, _DECODER))
    return tuple(move for move in moves if is_session_id(move.id))


def damaged_moves(path: Path) -> int:
    """Count the lines that cannot be decoded. Raises ``OSError``."""
    lines = [line for line in _end_of(path).split(b"\n") if line]
    return len(lines) - len(decoded(lines))


def _end_of(path: Path) -> bytes:
    descriptor = open_regular(path)
    try:
        start = max(0, os.fstat(descriptor).st_size - READ_BYTES)
        data = os.pread(descriptor, READ_BYTES, start)
    finally:
        os.close(descriptor)
    # The first line is cut off, unless the whole file was read.
    return data[data.find(b"\n") + 1 :] if start else data
