"""Moves of sessions between the list, the archive and the trash, and their undo."""

from collections.abc import Container, Iterable
from datetime import datetime
from typing import Literal

import msgspec

from tui.domain.text import age
from tui.domain.timestamps import parse_utc

Place = Literal["sessions", "archive", "trash"]
"""A folder of sessions; those that are listed are in ``sessions``."""
Reason = Literal["user", "clear", "backlog", "age", "undo"]
"""The user, ``/resume clear``, the limit of a project, the limit of days, or ``/undo``."""
MoveKey = tuple[str, str]
"""The batch and the session of a move."""

_DONE: dict[Place, str] = {
    "sessions": "restored",
    "archive": "archived",
    "trash": "moved to the trash",
}
_WHY: dict[Reason, str] = {
    "clear": "with all closed sessions",
    "backlog": "beyond the limit of its project",
    "age": "not used for long",
    "undo": "by an undo",
}


class Batch(msgspec.Struct, frozen=True):
    """Moves made together, which one undo takes back."""

    id: str
    reason: Reason

    def move(self, session_id: str, source: Place, target: Place, at: str) -> "Move":
        """Make the line of one of its moves."""
        return Move(session_id, source, target, at, self.reason, self.id)


class Move(msgspec.Struct, frozen=True, rename={"source": "from", "target": "to"}, gc=False):
    """One session was moved; the moves of an undo carry the batch that they take back."""

    id: str
    source: Place
    target: Place
    at: str
    reason: Reason
    batch: str

    @property
    def key(self) -> MoveKey:
        return self.batch, self.id


def last_batch(moves: Iterable[Move], but: Container[MoveKey] = ()) -> tuple[Move, ...]:
    """Find the moves, in order, of the last batch that no undo has taken back; skip ``but``."""
    batches: dict[str, dict[str, Move]] = {}
    for move in moves:
        batch = batches.setdefault(move.batch, {})
        if move.reason == "undo":
            batch.pop(move.id, None)
        elif move.key not in but:
            batch[move.id] = move
    return next((tuple(batch.values()) for batch in reversed(batches.values()) if batch), ())


def move_words(move: Move, now: datetime) -> str:
    """Describe a move: ``archived 3 days ago, not used for long``."""
    when = f"{_DONE[move.target]} {age(parse_utc(move.at), now)}"
    why = _WHY.get(move.reason)
    return f"{when}, {why}" if why else when
