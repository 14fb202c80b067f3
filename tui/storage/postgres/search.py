"""Search in the store: names and messages of all sessions, newest first.

The newest rows are scanned first: a common word is among them. A rarer one is looked up in the
index, one slice of time after another; each row has its slices as lexemes. The slices grow while
they hold few rows, and shrink if they hold too many. So no statement collects more rows than a page
or two, however many match in all.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from psycopg.errors import QueryCanceled

from tui.domain.journal.message import Message
from tui.domain.journal.records import SessionHeader
from tui.domain.search.filters import Filters, origin_of
from tui.domain.search.query import (
    CANDIDATES,
    Candidate,
    Query,
    SearchResult,
    matches,
    matches_name,
    needle,
    parse,
    rank,
    rarest_first,
)
from tui.domain.text import as_bytes, as_text
from tui.domain.timestamps import MILLISECOND_NS, storable_ns
from tui.storage.journal_lines import decoded
from tui.storage.postgres import words
from tui.storage.postgres.rows import PieceReader
from tui.storage.protocol import SearchLimits

if TYPE_CHECKING:
    from psycopg import Connection

_WALKED = 2000
_MOST = 4000
"""The most rows of a slice that can be divided."""
_MESSAGES = 2
"""The factor for a filter alone, which has only the newest message of each session."""
_NAMED = 1000
"""The page size of named sessions if a filter may not pass them."""
_AFTER_IDS = "~"
_GROWTH = 32
_ALL = 1 << 62
_LINE_BYTES = 64 * 1024
"""The part of a line that is read with its row."""
_LONGEST_SECONDS = 30.0
_EVER = 1 << 48

_NEWEST = """
    select session, written, at, length
    from (select * from words where written < %(before)s and written >= %(since)s
        order by written desc limit %(walked)s) newest
    where words @@ %(query)s::tsquery and session <> all(%(without)s)
"""
_SLICE = """
    select session, written, at, length from words
    where words @@ %(query)s::tsquery and session <> all(%(without)s)
        and written < %(before)s and written >= %(since)s
    limit %(most)s
"""
# Not by a join with the sessions: the planner expects so many rows that it reads all of them.
_ROWS = """
    with found as materialized ({found}), newest as (
        select * from (select {once} * from found {order}) ordered
        order by written desc offset 0)
    select count, there.session, there.written, there.at, there.length, line
    from (select count(*) from found) counted
    left join (
        select * from newest
        where (select count(*) from found) < %(most)s and (
            select place from sessions where id = newest.session) in ('kept', 'archived')
        limit %(wanted)s) there on true
    left join lateral (
        select substring(data from (there.at - pieces.at + 1)::integer
            for least(there.length, %(line)s)) line
        from pieces where pieces.session = there.session and pieces.at <= there.at
        order by pieces.at desc limit 1) pieces on true
    order by written desc
"""
_OLDEST = """
    select min(written), count(*) from (
        select written from words where written < %(before)s and written >= %(since)s
        order by written desc limit %(walked)s) newest
"""
_COUNTED = b"""
    select count(*) from (
        select from words where words @@ %(query)s::tsquery limit %(most)s) counted
"""
_NAMES = """
    select id, name, used_ns, header from sessions
    where name <> '' and place in ('kept', 'archived')
        and used_ns >= %(since)s and (used_ns, id) < (%(before)s, %(id)s)
        and ({named})
    order by used_ns desc, id desc limit %(page)s
"""


def search(
    connection: "Connection",
    text: str,
    limit: int,
    seconds: float,
    wanted: Callable[[], bool] | None,
) -> SearchResult:
    """Search sessions as ``SessionStore.search``."""
    query = parse(text)
    if query.is_empty:
        return SearchResult(notice=query.filters.fault)
    limits = SearchLimits(time.monotonic() + seconds, wanted)
    found: list[Candidate] = []
    # Each statement is bounded, and no scan of all rows allowed, which a limit makes look cheap.
    milliseconds = max(1, int(min(seconds, _LONGEST_SECONDS) * 1000))
    connection.execute(
        "select set_config('statement_timeout', %s, false),"
        " set_config('enable_seqscan', 'off', false)",
        (str(milliseconds),),
    )
    try:
        # Those that come before the end of the time stay.
        found.extend(_candidates(connection, query, max(limit, 0), limits))
    except QueryCanceled:
        limits.late = True
    finally:
        connection.execute("reset statement_timeout; reset enable_seqscan")
    return msgspec.structs.replace(rank(query, found, limit), late=limits.late)


class _Found(NamedTuple):
    """A row of ``words``, with its line or the beginning of a long one."""

    session_id: str
    written: int
    at: int
    length: int
    line: bytes | None


def _candidates(
    connection: "Connection", query: Query, room: int, limits: SearchLimits
) -> Iterator[Candidate]:
    """Find the newest matching names and messages, one more of each than is ranked."""
    if limits.over():
        return
    allowed = _allowed(connection, query.filters)
    if allowed is None:
        return
    if query.terms:
        yield from _names(connection, query, room, limits)

    def count(each: Query) -> int:
        asked = {"query": _condition(each, allowed), "most": CANDIDATES + 1}
        return (connection.execute(_COUNTED, asked).fetchone() or (0,))[0]

    known = set[tuple[str, str]]()
    for each in rarest_first(query, count):
        condition = _condition(each, allowed)
        for candidate in _messages(_MessageSearch(connection, query, condition, room), limits):
            message_id = candidate.message.id if candidate.message else ""
            if (place := (candidate.session_id, message_id)) not in known:
                known.add(place)
                yield candidate


def _condition(query: Query, allowed: Sequence[str]) -> str:
    return " & ".join((words.as_tsquery(query), *allowed))


def _messages(search: "_MessageSearch", limits: SearchLimits) -> Iterator[Candidate]:
    while not (search.is_done or limits.over()):
        for row in search.next_rows():
            candidate = search.candidate(row)
            if candidate is not None:
                yield candidate
            if limits.over():
                return


def _allowed(connection: "Connection", filters: Filters) -> Sequence[str] | None:
    """Make the conditions for the projects and programs that pass; ``None`` if none does."""
    if not (filters.projects or filters.programs):
        return ()
    passing = [origin for origin in words.origins(connection) if filters.pass_session(origin)]
    if not passing:
        return None
    projects, programs = zip(*map(words.lexemes_of, passing), strict=True)
    conditions: list[str] = []
    if filters.projects:
        conditions.append(words.one_of(set(projects)))
    if filters.programs:
        conditions.append(words.one_of(set(programs)))
    return conditions


def _names(
    connection: "Connection", query: Query, room: int, limits: SearchLimits
) -> Iterator[Candidate]:
    # Projects and programs are in the header alone: of many names few may pass.
    page = _NAMED if query.filters.projects or query.filters.programs else room + 1
    found = 0
    for session_id, encoded_name, used_ns, header in _named(connection, query, page):
        name, used = as_text(encoded_name), used_ns // MILLISECOND_NS
        if _passes(query.filters, header) and matches_name(query, name, used):
            found += 1
            yield Candidate(session_id, used, name=name)
        if found > room or limits.over():
            return


def _named(connection: "Connection", query: Query, page: int) -> Iterator[tuple[Any, ...]]:
    """Read the sessions whose names have the words of a query, newest use first, page by page."""
    since, before = (storable_ns(moment * MILLISECOND_NS) for moment in _times(query.filters))
    needles = {f"needle{at}": as_bytes(needle(term)) for at, term in enumerate(query.terms)}
    named = (" or " if query.some else " and ").join(
        f"position(%({each})s in name_words) > 0" for each in needles
    )
    values = {**needles, "since": since, "before": before, "id": _AFTER_IDS, "page": page}
    while True:
        rows = connection.execute(_NAMES.format(named=named).encode(), values).fetchall()
        yield from rows
        if len(rows) < page:
            return
        values["id"], _, values["before"], _ = rows[-1]


def _passes(filters: Filters, header: bytes) -> bool:
    if not (filters.projects or filters.programs):
        return True
    record = decoded(header.rstrip(b"\n"))
    return filters.pass_session(origin_of(record if isinstance(record, SessionHeader) else None))


def _times(filters: Filters) -> tuple[int, int]:
    # An unknown time, 0, is on no date.
    first = 0 if filters.since is None and filters.until is None else 1
    return max(first, filters.since or 0), _EVER if filters.until is None else filters.until


class _MessageSearch:
    """The messages that match, newest first, page by page."""

    def __init__(self, connection: "Connection", query: Query, condition: str, room: int) -> None:
        self._connection = connection
        self._query = query
        self._condition = condition
        # Of a filter alone each session has one.
        self._missing = CANDIDATES + 1 if query.terms else room + 1
        self._pages = 1
        self._most = _MOST if query.terms else _MOST * _MESSAGES
        self._since, self._before = _times(query.filters)
        self._seen: set[tuple[str, int]] = set()
        self._without: list[str] = []
        self._slice: int | None = None
        self._full = ""
        self.is_done = self._before <= self._since

    def next_rows(self) -> list[_Found]:
        """Find the next rows, without those that were found before."""
        rows = self._newest() if self._slice is None else self._in_slice(self._slice)
        new = [row for row in rows if (row.session_id, row.at) not in self._seen]
        self._seen.update((row.session_id, row.at) for row in new)
        return new

    def candidate(self, row: _Found) -> Candidate | None:
        """Read the message of a row; ``None`` if it does not match."""
        record = decoded(self._line(row))
        count = matches(self._query, record) if isinstance(record, Message) else 0
        if not count or not isinstance(record, Message):
            return None
        self._missing -= 1
        self.is_done = self.is_done or self._missing <= 0
        if not self._query.terms:
            self._without.append(row.session_id)
        return Candidate(row.session_id, row.written, record, count)

    def _line(self, row: _Found) -> bytes:
        line = row.line or b""
        if line and len(line) < row.length:
            reader = PieceReader(self._connection, row.session_id, row.at + row.length)
            return reader.read(row.length, row.at)
        return line

    def _newest(self) -> list[_Found]:
        _, rows = self._rows(_NEWEST, self._condition)
        if not self._is_cut(rows):
            found = self._connection.execute(_OLDEST, self._values()).fetchone()
            oldest, count = found or (None, 0)
            self.is_done = count < _WALKED
            # Rows of the same time may have been left.
            self._before = self._before if oldest is None else oldest + 1
        self._slice = 0
        return rows

    def _in_slice(self, place: int) -> list[_Found]:
        bits = words.SLICES[place]
        lexeme = words.slice_lexeme(bits, self._before - 1)
        most = self._most if place else _ALL
        count, rows = self._rows(_SLICE, f"{self._condition} & '{lexeme}'", most)
        if count == most:
            self._slice, self._full = place - 1, lexeme
            return []
        if not self._is_cut(rows):
            self._before = (self._before - 1) >> bits << bits
            self.is_done = self._before <= self._since
        if count * _GROWTH < self._most:
            # Larger slices, unless the next of them is known to hold too many rows.
            larger = min(place + 1, len(words.SLICES) - 1)
            lexeme = words.slice_lexeme(words.SLICES[larger], self._before - 1)
            self._slice = place if lexeme == self._full else larger
        return rows

    @property
    def _wanted(self) -> int:
        return self._missing * self._pages

    def _is_cut(self, rows: Sequence[_Found]) -> bool:
        """Continue at the last row if the page is full: some of its rows may not match."""
        if len(rows) < self._wanted:
            return False
        behind = rows[-1].written + 1
        # A page may be full of rows of one time, all of them seen.
        self._pages = 2 * self._pages if behind == self._before else 1
        self._before = behind
        return True

    def _rows(self, found: str, condition: str, most: int = _ALL) -> tuple[int, list[_Found]]:
        is_filter = not self._query.terms
        statement = _ROWS.format(
            found=found,
            once="distinct on (session)" if is_filter else "",
            order="order by session, written desc" if is_filter else "",
        )
        values = {**self._values(), "query": condition, "most": most}
        # Planned each time: a plan for any word walks all rows.
        rows = self._connection.execute(statement.encode(), values, prepare=False).fetchall()
        return rows[0][0], [_Found(*row[1:]) for row in rows if row[1] is not None]

    def _values(self) -> dict[str, Any]:
        return {
            "before": self._before,
            "since": self._since,
            "walked": _WALKED,
            "without": self._without,
            "wanted": self._wanted,
            "line": _LINE_BYTES,
        }
