"""The row of a session, and what its journal's reader needs."""

import socket
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tui.domain.journal.ids import checked_id
from tui.domain.journal.records import Record, SessionHeader, Settings, State
from tui.domain.journal.session import Holder, Status
from tui.domain.moves import Place as MovePlace
from tui.domain.timestamps import MILLISECOND_NS, format_milliseconds
from tui.errors import SessionBusy, SessionDamaged, SessionNotFound
from tui.storage.journal_window import decoded
from tui.storage.postgres.pieces import ENDS, PieceReader
from tui.storage.postgres.processes import Process
from tui.storage.postgres.tables import as_bytes

if TYPE_CHECKING:
    from psycopg import Connection

Place = Literal["reserved", "kept", "archived", "trashed"]

PLACES: dict[Place, MovePlace] = {"kept": "sessions", "archived": "archive", "trashed": "trash"}
COLUMNS = """id, number, scope, ordinal, header, place, used_ns, closed_ns, pinned, size, changed,
    last_append::text, epoch, holder,
    coalesce(leased_until > now(), false) as leased, described_at, described"""

_ROW = f"select {COLUMNS} from sessions where id = %s"  # noqa: S608 - constants
OPENED = f"select {COLUMNS}, {ENDS} from sessions where id = %s"  # noqa: S608 - constants
"""With both ends of its journal."""


class HolderNote(msgspec.Struct, frozen=True):
    """The holder of a lease, as it is written into the row."""

    process: Process
    host: str
    since: datetime
    program: str
    """Of the store object that holds it."""

    @property
    def is_here(self) -> bool:
        """True if it is a process of this machine."""
        known = self.process.namespace
        return self.process.is_here if known else self.host == socket.gethostname()


class Row(msgspec.Struct, frozen=True):
    """A session's row.

    ``scope`` is the key of its scope, and ``beginning`` its header as it was when it was created.
    """

    id: str
    number: int
    scope: bytes
    ordinal: int
    beginning: bytes
    place: Place
    used_ns: int
    closed_ns: int
    pinned: bool
    size: int
    changed: int
    last_append: str | None
    epoch: int
    holder: bytes | None
    leased: bool
    described_at: int | None
    described: bytes | None

    @property
    def status(self) -> Status:
        if self.place in ("archived", "trashed"):
            return self.place
        return "open" if self.leased else "closed"

    @property
    def used(self) -> str:
        return format_milliseconds(self.used_ns // MILLISECOND_NS)

    @property
    def note(self) -> HolderNote | None:
        """The holder of a lease that has not run out."""
        if not self.leased or self.holder is None:
            return None
        return msgspec.json.decode(self.holder, type=HolderNote)

    @property
    def held_by(self) -> Holder | None:
        note = self.note
        if note is None:
            return None
        return Holder(note.process.pid, note.host, note.since, note.is_here)

    @property
    def busy(self) -> SessionBusy:
        """The error of a session that another program holds, or held just now."""
        held = self.held_by
        return SessionBusy(self.id, str(held)) if held else SessionBusy(self.id)

    def is_free(self, unaware: str = "") -> bool:
        """Tell whether nobody holds it: its lease has run out, or its holder has died here.

        ``unaware`` is a program that does not know of its lease: the answer never came.
        """
        note = self.note
        return note is None or note.program == unaware or note.process.has_ended

    def header(self) -> SessionHeader:
        """Read the header as the row has it. Raises ``SessionDamaged``."""
        header = decoded(self.beginning.rstrip(b"\n"))
        if not isinstance(header, SessionHeader):
            raise SessionDamaged(self.id, "its header is gone")
        return msgspec.structs.replace(header, ordinal=self.ordinal)


def row_of(connection: "Connection", session_id: str) -> Row | None:
    """Read the row of a session that was published or is reserved."""
    found = rows_of(connection, _ROW, (session_id,))
    return found[0] if found else None


def published_row(connection: "Connection", session_id: str, *places: Place) -> Row:
    """Read the row of a session, in one of these places if any are given.

    Raises ``SessionNotFound``.
    """
    row = row_of(connection, checked_id(session_id))
    if row is None or row.place == "reserved" or (places and row.place not in places):
        raise SessionNotFound(session_id)
    return row


def opened(connection: "Connection", session_id: str) -> tuple[Row, PieceReader]:
    """Begin to read a journal: its row and both its ends come at once.

    Raises ``SessionNotFound``, and ``SessionDamaged`` if its pieces are gone.
    """
    found = connection.execute(OPENED.encode(), (checked_id(session_id),), binary=True).fetchone()
    return opened_row(connection, session_id, found)


def opened_row(
    connection: "Connection", session_id: str, found: tuple[Any, ...] | None
) -> tuple[Row, PieceReader]:
    """Begin to read a journal with its row of ``OPENED``. Raises as ``opened``."""
    row = Row(*found[:-2]) if found is not None else None
    if found is None or row is None or row.place == "reserved":
        raise SessionNotFound(session_id)
    reader = PieceReader(connection, row.id, row.size, *found[-2:])
    if not reader.read(1, 0):
        raise SessionDamaged(row.id, "its records are gone")
    return row, reader


def rows_of(connection: "Connection", query: str, values: Any = ()) -> list[Row]:
    """Read the rows of a query for ``COLUMNS``."""
    # The statements are made of constants of this package.
    found = connection.execute(query.encode(), values, binary=True)
    return [Row(*row) for row in found.fetchall()]


def noted(records: Sequence[Record]) -> tuple[bytes | None, bool | None]:
    """Find the last name and pin among records: the columns that they change."""
    name: bytes | None = None
    pinned: bool | None = None
    for record in records:
        match record:
            case State():
                name = as_bytes(record.name)
            case Settings():
                pinned = record.pinned
            case _:
                pass
    return name, pinned
