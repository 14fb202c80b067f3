"""Queries the index; each candidate is read from its journal before it counts as a hit."""

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tui.domain.journal.records import State
from tui.domain.json_limits import ODD_VALUES
from tui.domain.search.filters import origin_of
from tui.domain.search.query import (
    CANDIDATES,
    Candidate,
    Query,
    SessionScan,
    matches,
    matches_name,
    needle,
    rarest_first,
)
from tui.domain.timestamps import MILLISECOND_NS, storable_ns
from tui.errors import SessionNotFound
from tui.storage.disk import open_to_read
from tui.storage.folders import Folder, Folders
from tui.storage.index.files import (
    header_of,
    message_at,
    message_key,
    name_of,
    read_searchable_backward,
)
from tui.storage.index.origins import Passing, passing
from tui.storage.index.row_ids import row_of
from tui.storage.index.words import as_match

_OPEN_FILES = 50
_STEPS = 2000  # of SQLite's machine between two looks at the clock
_Row = tuple[str, str, int, int, int, int]
_NameRow = tuple[str, str, int]
_AnyRow = TypeVar("_AnyRow", _Row, _NameRow)
_Read = TypeVar("_Read")
_ROW = """
    select sessions.id, sessions.folder, offset, length, time, key
    from {source} cross join sessions on sessions.number = messages.session
    where {condition} sessions.folder != 'trash'{passing} order by {order} desc
"""
_MATCHING = (
    "words cross join messages on messages.id = words.rowid",
    "words match ? and words.rowid between ? and ? and",
    "words.rowid",
)
_ALL = "messages", "messages.id between ? and ? and", "messages.id"
_COUNTED = "select 1 from words where words match ? limit ?"
_NAMES = "select id, folder, mtime from sessions where name != '' and folder != 'trash'"
_LAST_ROW = (1 << 63) - 1


class QueryEffort(msgspec.Struct):
    """The limits of a search; ``late`` is set once it had to stop early.

    ``names`` is the number of names that can be shown, ``refused`` collects unreadable sessions.
    """

    deadline: float
    wanted: Callable[[], bool] | None = None
    names: int = CANDIDATES
    late: bool = False
    refused: set[str] = set()

    def half(self) -> "QueryEffort":
        """Make limits that end after half of the time left."""
        now = time.monotonic()
        return msgspec.structs.replace(self, deadline=now + (self.deadline - now) / 2)

    def over(self) -> bool:
        """Check the clock and the caller; true means stop."""
        over = time.monotonic() >= self.deadline or (self.wanted is not None and not self.wanted())
        self.late = self.late or over
        return over


def from_index(
    connection: sqlite3.Connection,
    folders: Folders,
    query: Query,
    without: Collection[str],
    effort: QueryEffort,
) -> list[Candidate]:
    """Find the newest matching names and messages, and one more of each than are ranked.

    Raises ``sqlite3.Error`` for a damaged index.
    """
    allowed = passing(connection, query.filters)

    def count(each: Query) -> int:
        values = [_match(connection, each, allowed), CANDIDATES + 1]
        return sum(1 for _ in _rows(connection, _COUNTED, values, effort))

    with closing(_Journals(folders, effort.refused)) as journals:
        messages = chain.from_iterable(
            _rows(connection, *_messages_with(connection, each, allowed), effort)
            for each in rarest_first(query, count)
        )
        said = _newest(messages, journals.message_candidate, query, without, effort)
        if not query.terms:
            return [*islice(said, effort.names + 1)]
        names = _rows(connection, *_names_with(query, allowed), effort)
        named = _newest(names, journals.name_candidate, query, without, effort)
        return [*islice(named, effort.names + 1), *islice(said, CANDIDATES + 1)]


def _match(connection: sqlite3.Connection, query: Query, allowed: Passing) -> str:
    return " AND ".join(filter(None, (as_match(query, connection), allowed.match)))


def _messages_with(
    connection: sqlite3.Connection, query: Query, allowed: Passing
) -> tuple[str, list[str | int]]:
    match = _match(connection, query, allowed)
    source, condition, order = _MATCHING if match else _ALL
    statement = _ROW.format(
        source=source, condition=condition, passing=allowed.condition, order=order
    )
    until = query.filters.until
    # The first and the last row that a message within the dates can have.
    last = _LAST_ROW if until is None else row_of(until) - 1
    return statement, [*([match] if match else []), row_of(query.filters.since or 0), last]


def _names_with(query: Query, allowed: Passing) -> tuple[str, list[str | int]]:
    named = (" or " if query.some else " and ").join(["instr(name, ?)"] * len(query.terms))
    statement = f"{_NAMES} and ({named}){allowed.condition} order by mtime desc"
    return statement, [*map(needle, query.terms)]


def _newest(
    rows: Iterator[_AnyRow],
    look: Callable[[Query, _AnyRow], Candidate | None],
    query: Query,
    without: Collection[str],
    effort: QueryEffort,
) -> Iterator[Candidate]:
    """Read the candidates of some rows, newest first, from their journals.

    Of a filter alone each session has one.
    """
    done: set[object] = set(without)
    for row in rows:
        if row[0] in done or row in done:
            continue
        done.add(row)
        found = look(query, row)
        if found is not None:
            yield found
            done.update(() if query.terms else row[:1])
        if effort.over():
            return


def _rows(
    connection: sqlite3.Connection, statement: str, values: list[str | int], effort: QueryEffort
) -> Iterator[Any]:
    connection.set_progress_handler(effort.over, _STEPS)
    try:
        yield from connection.execute(statement, values)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
    finally:
        connection.set_progress_handler(None, 0)


class _Journals(msgspec.Struct, eq=False):
    """A cache of open journals, for the candidates in them."""

    _folders: Folders
    _refused: set[str]
    _open: dict[str, int] = {}

    def message_candidate(self, query: Query, row: _Row) -> Candidate | None:
        """Read the message of a row; ``None`` if it is gone or does not match."""
        session_id, folder, offset, length, written, key = row
        message = self._read(session_id, folder, lambda file: message_at(file, offset, length))
        if message is None or message_key(message.id) != key:
            return None
        try:
            count = matches(query, message)
        except ODD_VALUES:
            self._refused.add(session_id)
            return None
        return Candidate(session_id, written, message, count) if count else None

    def name_candidate(self, query: Query, row: _NameRow) -> Candidate | None:
        """Read the name of a row's session; ``None`` if it does not match any more."""
        session_id, folder, used = row
        name = self._read(session_id, folder, name_of)
        last_used = used // MILLISECOND_NS
        if not name or not matches_name(query, name, last_used):
            return None
        return Candidate(session_id, last_used, name=name)

    def _read(self, session_id: str, folder: str, read: Callable[[int], _Read]) -> _Read | None:
        """Read from a journal; ``None`` if it is gone or unreadable."""
        try:
            return read(self._descriptor(session_id, folder))
        except (FileNotFoundError, SessionNotFound, OverflowError):
            return None
        except OSError:
            self._refused.add(session_id)
            return None

    def _descriptor(self, session_id: str, folder: str) -> int:
        if session_id in self._open:
            return self._open[session_id]
        if len(self._open) >= _OPEN_FILES:
            os.close(self._open.pop(next(iter(self._open))))
        try:
            descriptor = open_to_read(self._folders.journal(session_id, Folder(folder)))
        except (FileNotFoundError, ValueError):
            # Moved since it was indexed.
            descriptor = open_to_read(self._folders.find(session_id)[1])
        self._open[session_id] = descriptor
        return descriptor

    def close(self) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)


def from_journals(
    folders: Folders, session_ids: Collection[str], query: Query, effort: QueryEffort
) -> tuple[list[Candidate], set[str]]:
    """Search journals directly, from their ends; return matches and the sessions read.

    The last session may not have been read to its beginning if time ran out.
    """
    candidates: list[Candidate] = []
    read: set[str] = set()
    for session_id in session_ids:
        if effort.over():
            break
        scan = SessionScan(session_id, query)
        try:
            _scan_journal(scan, folders.find(session_id)[1], effort)
        except (FileNotFoundError, SessionNotFound):
            pass  # it has gone meanwhile
        except (OSError, *ODD_VALUES):
            effort.refused.add(session_id)
        candidates += scan.candidates
        read.add(session_id)
    return candidates, read


def _scan_journal(scan: SessionScan, path: Path, effort: QueryEffort) -> None:
    descriptor = open_to_read(path)
    try:
        scan.used = storable_ns(os.fstat(descriptor).st_mtime_ns) // MILLISECOND_NS
        filters = scan.query.filters
        if not filters.are_none and not filters.pass_session(origin_of(header_of(descriptor))):
            return
        for found in read_searchable_backward(descriptor):
            if effort.over():
                return
            if found is not None:
                scan.add(found if isinstance(found, State) else found.message)
    finally:
        os.close(descriptor)
