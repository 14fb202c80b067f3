"""Reserving of sessions, and taking of leases."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tui.domain.journal.ids import checked_id
from tui.domain.journal.records import VERSION, SessionHeader, encode
from tui.errors import SessionDamaged, SessionExists, SessionNotFound
from tui.storage.open_journal import OpenJournal
from tui.storage.postgres.leases import LEASE_SECONDS, UNRESERVE, PostgresLease
from tui.storage.postgres.pieces import ENDS, PieceReader
from tui.storage.postgres.rows import COLUMNS, Place, Row, row_of
from tui.storage.postgres.text import scope_key
from tui.storage.postgres.words import origin_lexemes

if TYPE_CHECKING:
    from psycopg import Connection

_RESERVE = """
    insert into sessions (id, scope, header, place, epoch, holder, leased_until)
    values (%(id)s, %(scope)s, %(header)s, 'reserved', 1, %(holder)s,
        now() + make_interval(secs => %(seconds)s))
    on conflict (id) do nothing returning epoch
"""
_TAKE = """
    update sessions set epoch = epoch + 1, holder = %(holder)s,
        leased_until = now() + make_interval(secs => %(seconds)s)
    where id = %(id)s and epoch = %(epoch)s and place = any(%(places)s)
        and (holder = %(gone)s or coalesce(leased_until <= now(), true))
    returning epoch
"""
"""Its holder may renew the lease at the last moment."""
_OPENED = f"select {COLUMNS}, {ENDS} from sessions where id = %s"  # noqa: S608 - constants


def reserve(
    connection: "Connection", header: SessionHeader, holder: bytes, unaware: str = ""
) -> int:
    """Reserve an id; gives the epoch. ``unaware`` as in ``is_free``.

    Raises ``SessionBusy``, ``SessionExists``.
    """
    values = {
        "id": header.id,
        "scope": scope_key(header.scope),
        "header": encode(header),
        "holder": holder,
        "seconds": LEASE_SECONDS,
    }
    taken = connection.execute(_RESERVE, values).fetchone()
    if taken is not None:
        return int(taken[0])
    row = row_of(connection, header.id)
    if row is not None and not is_free(row, unaware):
        raise row.busy
    if row is None or row.place != "reserved":
        raise SessionExists(header.id)
    # Whoever had reserved it is gone.
    connection.execute(UNRESERVE, (header.id, row.epoch))
    return reserve(connection, header, holder, unaware)


def take(
    connection: "Connection",
    row: Row,
    places: tuple[Place, ...],
    holder: bytes,
    release: Callable[[PostgresLease], None],
    unaware: str = "",
) -> PostgresLease:
    """Take the lease of a session in one of these places. ``unaware`` as in ``is_free``.

    Raises ``SessionBusy``, ``SessionNotFound``, ``SessionDamaged``.
    """
    if not is_free(row, unaware):
        raise row.busy
    wanted = {
        "id": row.id,
        "epoch": row.epoch,
        "holder": holder,
        "gone": row.holder if row.leased else None,
        "places": list(places),
        "seconds": LEASE_SECONDS,
    }
    with connection.pipeline():
        # In one transaction, and one trip: nobody appends between the two.
        taking = connection.execute(_TAKE, wanted)
        reading = connection.execute(_OPENED.encode(), (row.id,), binary=True)
    taken = taking.fetchone()
    if taken is None:
        # Somebody was quicker.
        raise published_row(connection, row.id, *places).busy
    lease = PostgresLease(row.id, int(taken[0]), release)
    try:
        _look(lease, *_opened(connection, row.id, reading.fetchone()))
    except BaseException:
        lease.release()
        raise
    return lease


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
    found = connection.execute(_OPENED.encode(), (checked_id(session_id),), binary=True).fetchone()
    return _opened(connection, session_id, found)


def is_free(row: Row, unaware: str = "") -> bool:
    """Tell whether nobody holds a session: its lease has run out, or its holder has died here.

    ``unaware`` is a program that does not know of its lease: the answer never came.
    """
    note = row.note
    return note is None or note.program == unaware or note.process.has_ended


def _opened(
    connection: "Connection", session_id: str, found: tuple[Any, ...] | None
) -> tuple[Row, PieceReader]:
    row = Row(*found[:-2]) if found is not None else None
    if found is None or row is None or row.place == "reserved":
        raise SessionNotFound(session_id)
    reader = PieceReader(connection, row.id, row.size, *found[-2:])
    if not reader.read(1, 0):
        raise SessionDamaged(row.id, "its records are gone")
    return row, reader


def _look(lease: PostgresLease, row: Row, reader: PieceReader) -> None:
    """Read what a lease has to know of its journal."""
    end = OpenJournal(reader.read, row.size, row.id, row.header, held=False).tail(0).session
    lease.scope, lease.ordinal, lease.size = row.header().scope, row.ordinal, row.size
    lease.offsets, lease.origin = end.offsets, origin_lexemes(row.header())
    lease.newer = end.header.version if end.header.version > VERSION else None
    lease.torn = reader.read(1, row.size - 1) != b"\n"
