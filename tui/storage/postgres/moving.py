"""Moves of sessions between the lists, the archive and the trash, and the log of them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from tui.domain.moves import Batch, Move
from tui.domain.moves import Place as MovePlace
from tui.domain.timestamps import format_utc
from tui.errors import SessionBusy
from tui.storage.moves import decoded, new_batch
from tui.storage.postgres import pictures
from tui.storage.postgres.appending import JournalAppender
from tui.storage.postgres.attempts import Attempts, is_named
from tui.storage.postgres.holding import Holding
from tui.storage.postgres.rows import Place, Row, row_of

if TYPE_CHECKING:
    from psycopg import Connection

    from tui.storage.postgres.leases import Attempt

_MOVE = """
    with moved as (
        update sessions set place = %(place)s, changed = changed + 1, last_move = %(attempt)s
        where id = %(id)s and epoch = %(epoch)s and place = %(left)s returning id)
    insert into moves (line) select %(line)s from moved returning number
"""
_PURGE = "delete from sessions where id = %s and epoch = %s returning id"
_MOST_MOVES = 25_000
PLACES: dict[Place, MovePlace] = {
    "kept": "sessions",
    "archived": "archive",
    "trashed": "trash",
}


class Mover(msgspec.Struct, eq=False):
    """Moves sessions, each in one transaction with its line in the log."""

    _holding: Holding
    _writer: JournalAppender
    _attempts: Attempts
    _clock: Callable[[], datetime]

    def delete(self, session_id: str, batch: Batch | None) -> None:
        self._move(session_id, ("kept", "archived"), "trashed", batch)

    def archive(self, session_id: str, batch: Batch | None) -> None:
        self._move(session_id, ("kept",), "archived", batch)

    def restore(self, session_id: str, batch: Batch | None) -> None:
        self._move(session_id, ("archived", "trashed"), "kept", batch)

    def purge(self, session_id: str) -> None:
        def make(_: str) -> None:
            with self._holding.borrowed(session_id, "trashed") as (connection, lease, _row):
                if connection.execute(_PURGE, (session_id, lease.epoch)).fetchone() is None:
                    raise self._busy(session_id)
                pictures.free(connection, session_id)
                self._holding.held.drop(lease)

        def is_made(connection: "Connection", _: Sequence[str]) -> bool:
            return row_of(connection, session_id) is None

        self._attempts.once((session_id, "purged"), make, is_made)

    def _move(
        self, session_id: str, places: tuple[Place, ...], place: Place, batch: Batch | None
    ) -> None:
        def make(attempt: str) -> None:
            written: Attempt | None = None
            with self._holding.borrowed(session_id, *places) as (connection, lease, row):
                undone = batch is not None and batch.is_undo
                if place == "kept" and lease.newer is None and not undone:
                    written = self._writer.restore(connection, lease, row.place)
                wanted = {
                    "id": session_id,
                    "epoch": lease.epoch,
                    "left": row.place,
                    "place": place,
                    "attempt": attempt,
                    "line": msgspec.json.encode(self._line(row, place, batch)),
                }
                moved = connection.execute(_MOVE, wanted)
            # Its answer came with that of the commit. Nothing was moved without the lease, or if
            # an attempt that was taken for lost came first.
            if moved.fetchone() is None:
                raise self._busy(session_id)
            if written is not None:
                lease.accept(written)

        def is_made(connection: "Connection", attempts: Sequence[str]) -> bool:
            return is_named(connection, session_id, attempts)

        self._attempts.once((session_id, place), make, is_made)

    def _line(self, row: Row, place: Place, batch: Batch | None) -> Move:
        batch = batch or new_batch("user")
        source, target = PLACES[row.place], PLACES[place]
        return Move(row.id, source, target, self._now(), batch.reason, batch.id)

    def _busy(self, session_id: str) -> SessionBusy:
        """Name the program that was quicker."""
        holder = self._holding.holder(session_id)
        return SessionBusy(session_id, str(holder)) if holder else SessionBusy(session_id)

    def _now(self) -> str:
        return format_utc(self._clock())


def add_moves(connection: "Connection", moves: Sequence[Move]) -> None:
    """Append moves to the log."""
    connection.execute(
        "insert into moves (line) select line from unnest(%s::bytea[]) line",
        ([msgspec.json.encode(move) for move in moves],),
    )


def last_moves(connection: "Connection") -> tuple[Move, ...]:
    """Read the last moves, oldest first; lines that cannot be decoded are skipped."""
    query = "select line from moves order by number desc limit %s"
    rows = connection.execute(query, (_MOST_MOVES,)).fetchall()
    return decoded([row[0] for row in reversed(rows)])
