"""Moves of sessions between the lists, the archive and the trash, and the log of them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from tui.domain.moves import Batch, Move
from tui.domain.moves import Place as MovePlace
from tui.domain.timestamps import format_utc
from tui.errors import SessionBusy
from tui.storage.moves import new_batch
from tui.storage.postgres import pictures
from tui.storage.postgres.appending import JournalAppender
from tui.storage.postgres.attempts import PURGED, Attempts
from tui.storage.postgres.leases import Attempt, ServerLeases
from tui.storage.postgres.rows import Place

if TYPE_CHECKING:
    from psycopg import Connection

_MOVE = """
    with moved as (
        update sessions set place = %(place)s, changed = changed + 1, last_move = %(attempt)s
        where id = %(id)s and epoch = %(epoch)s and place = %(left)s returning id)
    insert into moves (line) select %(line)s from moved returning number
"""
_PURGE = "delete from sessions where id = %s and epoch = %s returning id"
PLACES: dict[Place, MovePlace] = {
    "kept": "sessions",
    "archived": "archive",
    "trashed": "trash",
}


class Mover(msgspec.Struct, eq=False):
    """Moves sessions, each in one transaction with its line in the log."""

    _leases: ServerLeases
    _writer: JournalAppender
    _attempts: Attempts
    _clock: Callable[[], datetime]

    def purge(self, session_id: str) -> None:
        """Purge a session. Raises as ``SessionStore.purge``."""

        def make(_: str) -> None:
            with self._leases.borrowed(session_id, "trashed") as (connection, lease, _row):
                if connection.execute(_PURGE, (session_id, lease.epoch)).fetchone() is None:
                    raise self._busy(session_id)
                pictures.free(connection, session_id)
                self._leases.drop(lease)

        self._attempts.once(session_id, PURGED, make)

    def move(
        self, session_id: str, places: tuple[Place, ...], place: Place, batch: Batch | None
    ) -> None:
        """Move a session from one of several places to another.

        Raises ``SessionNotFound``, ``SessionBusy``.
        """
        moves = batch or new_batch("user")

        def make(attempt: str) -> None:
            written: Attempt | None = None
            with self._leases.borrowed(session_id, *places) as (connection, lease, row):
                if place == "kept" and lease.newer is None and not moves.is_undo:
                    written = self._writer.restore(connection, lease, row.place)
                now, source = format_utc(self._clock()), PLACES[row.place]
                line = Move(row.id, source, PLACES[place], now, moves.reason, moves.id)
                wanted = {
                    "id": session_id,
                    "epoch": lease.epoch,
                    "left": row.place,
                    "place": place,
                    "attempt": attempt,
                    "line": msgspec.json.encode(line),
                }
                moved = connection.execute(_MOVE, wanted)
            # Its answer came with that of the commit. Nothing was moved without the lease, or if
            # an attempt that was taken for lost came first.
            if moved.fetchone() is None:
                raise self._busy(session_id)
            if written is not None:
                lease.accept(written)

        self._attempts.once(session_id, place, make)

    def _busy(self, session_id: str) -> SessionBusy:
        """Name the program that was quicker."""
        holder = self._leases.holder(session_id)
        return SessionBusy(session_id, str(holder)) if holder else SessionBusy(session_id)


def add_moves(connection: "Connection", moves: Sequence[Move]) -> None:
    """Append moves to the log."""
    connection.execute(
        "insert into moves (line) select line from unnest(%s::bytea[]) line",
        ([msgspec.json.encode(move) for move in moves],),
    )
