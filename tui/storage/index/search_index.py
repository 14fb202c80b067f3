"""Search over index and journals; without a usable index, over the journals alone.

Each candidate of the index is read from its journal before it counts as a hit.
"""

import logging
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
from tui.domain.json_text import ODD_VALUES
from tui.domain.search.filters import origin_of
from tui.domain.search.query import (
    CANDIDATES,
    Candidate,
    Query,
    SearchResult,
    SessionScan,
    matches,
    matches_name,
    needle,
    parse,
    rank,
    rarest_first,
)
from tui.domain.text import plural
from tui.domain.timestamps import MILLISECOND_NS, storable_ns
from tui.errors import SessionNotFound, StorageError
from tui.logs import milliseconds_since
from tui.storage.disk import open_to_read, reading, storage_errors
from tui.storage.folders import Folder, Folders
from tui.storage.index import files
from tui.storage.index.database import Unusable
from tui.storage.index.ingest import Pending, unread_bytes
from tui.storage.index.maintenance import IndexMaintenance
from tui.storage.index.message_rows import Passing, as_match, passing, row_of
from tui.storage.protocol import SearchLimits

_log = logging.getLogger(__name__)

_MANY = 1000  # files; fewer are stat-ed for each search
_REST = 400  # times the duration of a scan, until the next one
# Other programs index what they write; only copied files are noticed late.
_LONGEST_REST = 30.0
_NOTICES = {
    "locked": "The search index is in use by another window: searching the sessions directly.",
    "newer": "A newer sibyl-tui made the search index: searching the sessions directly.",
    "out of reach": "The search index cannot be used ({0}): searching the sessions directly.",
    "damaged": "The search index was damaged ({0}): it was moved aside and is rebuilt.",
}
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


class QueryEffort(SearchLimits):
    """``names`` is the number of names that can be shown, ``refused`` are unreadable sessions."""

    names: int = CANDIDATES
    refused: set[str] = msgspec.field(default_factory=set[str])

    def half(self) -> "QueryEffort":
        """Make limits that end after half of the time left."""
        now = time.monotonic()
        return msgspec.structs.replace(self, deadline=now + (self.deadline - now) / 2)


class SearchIndex:
    """Searches one data directory. Threads may use it at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders = Folders(root)
        self._maintenance = IndexMaintenance(root)
        self._told: set[str] = set()
        self._pending: Pending = []
        self._rested_at = 0.0
        self.changed: set[str] = set()
        """The journals that this program has changed since the last search."""

    def search(
        self,
        text: str,
        limit: int,
        seconds: float,
        wanted: Callable[[], bool] | None = None,
    ) -> SearchResult:
        """Search as ``SessionStore.search``; an unusable index is no failure."""
        begun = time.perf_counter()
        query = parse(text)
        if query.is_empty or not os.path.lexists(self._root):
            return SearchResult(notice=query.filters.fault)
        effort = QueryEffort(time.monotonic() + seconds, wanted, names=max(limit, 0))
        notice = ""
        with storage_errors("Cannot search the sessions"):
            try:
                found = self._with_index(query, limit, effort)
            except Unusable as error:
                notice = self._notice(error)
                self._pending = [
                    (it, None) for it in files.scan(self._folders) if it.folder in files.SEARCHED
                ]
                self._rested_at = 0.0
                ids = [file.session_id for file, _ in self._pending]
                found = rank(query, from_journals(self._folders, ids, query, effort)[0], limit)
        refused = plural(len(effort.refused), "session")
        refusal = f"{refused} could not be read. Run `sibyl-tui doctor`." if effort.refused else ""
        notices = filter(None, (notice, refusal))
        pending = unread_bytes(self._pending)
        found_count, took = plural(len(found.hits), "hit"), milliseconds_since(begun)
        _log.info("search: %s, %d bytes not indexed yet, %d ms", found_count, pending, took)
        return msgspec.structs.replace(
            found,
            late=effort.late,
            notice=" ".join(notices),
            pending=pending,
            is_behind=self._maintenance.is_behind,
        )

    def _with_index(self, query: Query, limit: int, effort: QueryEffort) -> SearchResult:
        with self._maintenance.opened() as connection:
            self._follow(connection)
            ids = [file.session_id for file, _ in self._pending]
            # Half of the time for journals not indexed yet, the rest for the index.
            first = effort.half()
            candidates, read = from_journals(self._folders, ids, query, first)
            effort.late = first.late
            candidates += from_index(connection, self._folders, query, read, effort)
            return rank(query, candidates, limit)

    def _follow(self, connection: sqlite3.Connection) -> None:
        begun = time.monotonic()
        changed, self.changed = self.changed, set[str]()
        if begun < self._rested_at:
            others = [each for each in self._pending if each[0].session_id not in changed]
            newer = self._maintenance.follow(connection, changed) if changed else []
            self._pending = others + newer
            return
        self._pending = self._maintenance.follow(connection)
        took = time.monotonic() - begun
        rest = min(took * _REST, _LONGEST_REST) if self._maintenance.journals > _MANY else 0.0
        self._rested_at = begun + rest

    def _notice(self, error: Unusable) -> str:
        """Word a notice about an unusable index, once for each kind; set a damaged one aside."""
        # Only a damaged one is away afterwards, and built anew.
        self._maintenance.is_behind = error.kind == "damaged"
        if error.kind == "damaged":
            try:
                self._maintenance.set_aside()
            except (OSError, StorageError):
                return ""
        if error.kind in self._told or error.kind not in _NOTICES:
            return ""
        self._told.add(error.kind)
        return _NOTICES[error.kind].format(error)


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
        named = (" or " if query.some else " and ").join(["instr(name, ?)"] * len(query.terms))
        statement = f"{_NAMES} and ({named}){allowed.condition} order by mtime desc"
        names = _rows(connection, statement, [*map(needle, query.terms)], effort)
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
        message = self._read(
            session_id, folder, lambda file: files.message_at(file, offset, length)
        )
        if message is None or files.message_key(message.id) != key:
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
        name = self._read(session_id, folder, files.name_of)
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
        scanned = SessionScan(session_id, query)
        try:
            _scan_journal(scanned, folders.find(session_id)[1], effort)
        except (FileNotFoundError, SessionNotFound):
            pass  # it has gone meanwhile
        except (OSError, *ODD_VALUES):
            effort.refused.add(session_id)
        candidates += scanned.candidates
        read.add(session_id)
    return candidates, read


def _scan_journal(scanned: SessionScan, path: Path, effort: QueryEffort) -> None:
    with reading(path) as descriptor:
        scanned.used = storable_ns(os.fstat(descriptor).st_mtime_ns) // MILLISECOND_NS
        filters = scanned.query.filters
        if not filters.are_none and not filters.pass_session(
            origin_of(files.header_of(descriptor))
        ):
            return
        for found in files.read_searchable_backward(descriptor):
            if effort.over():
                return
            if found is not None:
                scanned.add(found if isinstance(found, State) else found.message)
