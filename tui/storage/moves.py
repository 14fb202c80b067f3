"""``moves.jsonl``: moves of sessions between the folders, for undo and for the list.

Append-only, one line a move, each written after it. Not synced: after a power cut the last lines
may be missing, and the sessions are where they are.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from tui.domain.journal.records import is_session_id
from tui.domain.moves import Batch, Move, Reason
from tui.files import open_regular
from tui.storage.json_lines import JsonLines

READ_BYTES = 4 * 1024 * 1024
"""The part of the file that is read: its end, with the last 25,000 moves."""

_TOKEN_BYTES = 8
LINES = JsonLines(Move)


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
            LINES.append(self._path, moves, durably=False)
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


def decoded(lines: Iterable[bytes]) -> tuple[Move, ...]:
    """Decode lines; those that are damaged, or of a session that cannot be, are left out."""
    return tuple(move for move in LINES.decoded(lines) if is_session_id(move.id))


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
