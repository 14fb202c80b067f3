"""Lists of sessions: pages by key, and entries that are made once for each state of a journal."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from tui.domain.journal.records import is_session_id
from tui.domain.journal.session import SessionEntry, Status, describe
from tui.domain.json_text import converted, decode_json, journal_json, parse
from tui.domain.timestamps import parse_utc
from tui.errors import StorageError
from tui.storage.disk import odd_values
from tui.storage.journal import OpenJournal
from tui.storage.postgres.rows import COLUMNS, ENDS, LEASED, PieceReader, Row
from tui.storage.postgres.tables import moment_ns, scope_key
from tui.storage.protocol import Listing, Order, SessionFilter

if TYPE_CHECKING:
    from psycopg import Connection

_ENTRIES = msgspec.json.Decoder(SessionEntry)
_PLACES: dict[Status, str] = {
    "open": "kept",
    "closed": "kept",
    "archived": "archived",
    "trashed": "trashed",
}
# After the last row of a page; an index serves the first comparison.
_AFTER_USED = "used_ns <= %(used)s and (used_ns < %(used)s or id > %(id)s)"
_AFTER_CLOSED = "closed_ns <= %(closed)s and (closed_ns < %(closed)s or id > %(id)s)"
# The session that was opened last in its scope, or else used last.
_ACTIVE = """
    sessions.place = 'kept' and sessions.id = coalesce(
        (select chosen.id from scopes join sessions chosen on chosen.id = scopes.active
         where scopes.scope = sessions.scope and chosen.place = 'kept'),
        (select newest.id from sessions newest
         where newest.scope = sessions.scope and newest.place = 'kept'
         order by newest.used_ns desc, newest.id limit 1))
"""
ACTIVE_OF = """
    select coalesce(
        (select chosen.id from scopes join sessions chosen on chosen.id = scopes.active
         where scopes.scope = %(scope)s and chosen.place = 'kept'),
        (select id from sessions where scope = %(scope)s and place = 'kept'
         order by used_ns desc, id limit 1),
        (select chosen.id from scopes join sessions chosen on chosen.id = scopes.active
         where scopes.scope = %(scope)s and chosen.place = 'archived' and not exists (
             select from moves where position(chosen.id::bytea in line) > 0)))
"""
_LISTED = f"select {COLUMNS}, {_ACTIVE} as active from sessions"  # noqa: S608 - constants
_SOME = f"{_LISTED} where id = any(%s) and place <> 'reserved'"
_ENDS = f"select {COLUMNS}, {ENDS} from sessions where id = any(%s)"  # noqa: S608 - constants
_STORE_ENTRIES = """
    with free as (
        select sessions.id, new.size, new.described
        from sessions join unnest(%s::text[], %s::bigint[], %b::bytea[]) new(id, size, described)
        on sessions.id = new.id and sessions.size = new.size for update of sessions skip locked)
    update sessions set described_at = free.size, described = free.described
    from free where sessions.id = free.id
"""
SIZES = "select id, size from sessions where place <> 'reserved' order by used_ns desc, id"
"""All sessions with the sizes of their journals, newest use first."""
_INVALID_CURSOR = "This list cannot be continued: its cursor is invalid."
_MOST_CACHED = 1000
_TITLE = {"titles": 2}
"""Stored with each entry: one that another version has titled in its way is made anew."""


class Listed(Row, frozen=True):
    """A session's row in a list."""

    active: bool


class _Key(msgspec.Struct, frozen=True):
    pinned: bool
    used: int
    closed: int
    id: str


class Lister(msgspec.Struct, eq=False):
    """Lists sessions; caches the entries of those that are open."""

    _cached: dict[str, tuple[int, SessionEntry]] = {}
    _may_store: bool = True

    def page(
        self, connection: "Connection", wanted: SessionFilter, cursor: str | None, limit: int
    ) -> Listing:
        """Read a page of sessions. Raises ``StorageError`` for an invalid cursor."""
        rows = _rows(connection, wanted, cursor, limit + 1)
        more = None
        if len(rows) > limit and limit:
            last = rows[limit - 1]
            more = json.dumps([int(last.pinned), last.used_ns, last.closed_ns, last.id])
        return Listing(self._entries(connection, rows[:limit]), more)

    def entries(
        self, connection: "Connection", session_ids: Sequence[str]
    ) -> tuple[SessionEntry, ...]:
        """Read the entries of the sessions that are there, in the order of their ids."""
        there = {row.id: row for row in _listed(connection, _SOME, (list(session_ids),))}
        return self._entries(connection, [there[each] for each in session_ids if each in there])

    def _entries(
        self, connection: "Connection", rows: Sequence[Listed]
    ) -> tuple[SessionEntry, ...]:
        made = {row.id: entry for row in rows if (entry := self._entry(row)) is not None}
        new = [row.id for row in rows if row.id not in made]
        if new:
            made |= self._describe(connection, new)
        return tuple(
            msgspec.structs.replace(
                made[row.id],
                ordinal=row.ordinal,
                status=row.status,
                closed_at=None if row.status == "open" else made[row.id].closed_at,
                active=row.active,
            )
            for row in rows
            if row.id in made
        )

    def _entry(self, row: Row) -> SessionEntry | None:
        described = row.described or b""
        if row.described_at == row.size and described.startswith(journal_json(_TITLE)[:-1]):
            # Another version of the program may have written another kind of entry.
            with suppress(ValueError):
                return decode_json(described, _ENTRIES)
        size, entry = self._cached.get(row.id, (None, None))
        return entry if size == row.size else None

    def _describe(self, connection: "Connection", ids: list[str]) -> dict[str, SessionEntry]:
        """Make entries from the ends of the journals, and store those of closed sessions."""
        found = connection.execute(_ENDS.encode(), (ids,), binary=True).fetchall()
        made: dict[str, SessionEntry] = {}
        closed: list[tuple[str, int, bytes]] = []
        for values in found:
            row = Row(*values[:-2])
            reader = PieceReader(connection, row.id, row.size, *values[-2:])
            entry = made[row.id] = _described(row, reader)
            if row.leased or not self._may_store:
                # One that is open changes soon: a stored entry would be out of date.
                if len(self._cached) >= _MOST_CACHED:
                    self._cached = {}
                self._cached[row.id] = row.size, entry
            else:
                closed.append((row.id, row.size, journal_json(_TITLE | msgspec.to_builtins(entry))))
        if closed:
            self._store(connection, closed)
        return made

    def _store(self, connection: "Connection", entries: list[tuple[str, int, bytes]]) -> None:
        from psycopg.errors import InsufficientPrivilege, ReadOnlySqlTransaction

        try:
            connection.execute(
                _STORE_ENTRIES, [list(column) for column in zip(*entries, strict=True)]
            )
        except (InsufficientPrivilege, ReadOnlySqlTransaction):
            # A role that may only read, or a replica: the entries are made again.
            self._may_store = False


def _listed(connection: "Connection", query: str, values: Any) -> list[Listed]:
    found = connection.execute(query.encode(), values, binary=True)
    return [Listed(*row) for row in found.fetchall()]


def _rows(
    connection: "Connection", wanted: SessionFilter, cursor: str | None, limit: int
) -> list[Listed]:
    key = _read_cursor(cursor) if cursor is not None else None
    # One walk of an index for each part: a condition on two of them would sort all sessions.
    parts: list[str] = []
    values: dict[str, Any] = msgspec.structs.asdict(key) if key is not None else {}
    for place in sorted({_PLACES[status] for status in wanted.statuses}):
        statuses = frozenset[Status](each for each in wanted.statuses if _PLACES[each] == place)
        condition, more = condition_of(wanted, statuses)
        values |= more
        parts += [f"{condition} and {each}" for each in _walks(wanted.order, key)]
    order = "closed_ns desc, id" if wanted.order == "closed" else "used_ns desc, id"
    walks = [f"({_LISTED} where {part} order by {order} limit {limit})" for part in parts]
    found = _listed(connection, " union all ".join(walks), values) if walks else []
    found.sort(
        key=lambda row: (
            -row.pinned if wanted.order == "pinned" else 0,
            -row.closed_ns if wanted.order == "closed" else -row.used_ns,
            row.id,
        )
    )
    return found[:limit]


def _walks(order: Order, key: _Key | None) -> Sequence[str]:
    """Make the conditions of the walks that together have all that follows a key."""
    if order == "closed":
        return (_AFTER_CLOSED if key else "true",)
    if order == "used":
        return (_AFTER_USED if key else "true",)
    if key is None:
        return "pinned", "not pinned"
    if key.pinned:
        return f"pinned and {_AFTER_USED}", "not pinned"
    return (f"not pinned and {_AFTER_USED}",)


def condition_of(wanted: SessionFilter, statuses: frozenset[Status]) -> tuple[str, dict[str, Any]]:
    """Make the condition for the sessions that a filter passes, and its values."""
    places = sorted({_PLACES[status] for status in statuses})
    values: dict[str, Any] = {"places": places}
    parts = ["place = any(%(places)s)" if len(places) != 1 else f"place = '{places[0]}'"]
    if ("open" in statuses) != ("closed" in statuses):
        wanted_kept = LEASED if "open" in statuses else f"not {LEASED}"
        parts.append(wanted_kept if len(places) == 1 else f"(place <> 'kept' or {wanted_kept})")
    if wanted.scope is not None:
        parts.append("scope = %(scope)s")
        values["scope"] = scope_key(wanted.scope)
    if wanted.used_before is not None:
        parts.append("used_ns < %(before)s")
        before = parse_utc(wanted.used_before)
        values["before"] = moment_ns(before) if before else 0
    return " and ".join(parts), values


def _described(row: Row, reader: PieceReader) -> SessionEntry:
    # Late: the directory of files brings modules that this one does not need.
    from tui.storage.directory import describe_unreadable

    try:
        with odd_values(row.id):
            journal = OpenJournal(reader.read, row.size, row.id, row.header, held=False)
            return describe(*journal.ends(), row.status, row.used, active=False)
    except StorageError:
        return describe_unreadable(row.header(), row.status, row.used, active=False)


def _read_cursor(cursor: str) -> _Key:
    try:
        pinned, used, closed, session_id = converted(
            parse(cursor.encode()), tuple[int, int, int, str]
        )
    except ValueError as error:
        raise StorageError(_INVALID_CURSOR) from error
    if not is_session_id(session_id):
        raise StorageError(_INVALID_CURSOR)
    return _Key(bool(pinned), used, closed, session_id)
