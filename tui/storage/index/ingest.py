"""Indexes what was appended to journals, and masks messages that are gone."""

import os
import sqlite3
import time
from collections.abc import Collection, Generator, Iterable, Iterator
from math import inf
from operator import itemgetter
from typing import NamedTuple

from tui.domain.journal.records import State
from tui.domain.json_text import ODD_VALUES
from tui.domain.search.query import spaced, time_of
from tui.domain.timestamps import MILLISECOND_NS
from tui.storage.disk import JOURNAL_BYTES, reading
from tui.storage.folders import Folder, Folders
from tui.storage.index.files import (
    SEARCHED,
    JournalStat,
    MessageLine,
    header_of,
    message_key,
    read_searchable,
    settled_end,
    stat_of,
    tail_hash,
)
from tui.storage.index.message_rows import FreeRows, OriginNumbers, OriginTable, as_row

BATCH_BYTES = 16 * 1024 * 1024
"""Size of a transaction: about two seconds, at the end of which its messages are found."""

_REPORT_SECONDS = 0.05
_UNSETTLED = -1
_INSERT = (
    "insert into sessions(id, folder, device, inode, size, mtime, tail, done, project, program)"
    " values(?, ?, 0, 0, ?, 0, ?, 0, ?, ?)"
)
_SETTLE = (
    "update sessions set folder = ?, device = ?, inode = ?, size = ?, mtime = ?, tail = ?, done = ?"
    " where number = ?"
)
_MASK = "update messages set session = 0"
_KNOWN = """
    select id, folder, device, inode, size, mtime, number, tail, done, project, program
    from sessions
"""


class IndexedJournal(NamedTuple):
    """A journal's row: its last stat, and ``done``, the offset up to which it was read."""

    session_id: str
    folder: str
    device: int
    inode: int
    size: int
    mtime_ns: int
    number: int
    tail: bytes
    done: int
    project: int
    program: int


class _Reading(NamedTuple):
    """A session's number, the offset to read its journal from, and the tokens of its origin."""

    number: int
    done: int
    origin: str


Pending = list[tuple[JournalStat, IndexedJournal | None]]
"""Journals that are not wholly indexed, newest use first, with their rows."""


class Ingest:
    """Brings an index up to date. The caller holds the index's lock."""

    def __init__(self, folders: Folders, connection: sqlite3.Connection) -> None:
        self._folders = folders
        self._connection = connection
        self._origins = OriginTable(connection)
        self._free = FreeRows(connection)
        self._rows: list[tuple[int, int, int, int, str, int, int]] = []
        self._words: list[tuple[int, str]] = []
        self._names: dict[int, str] = {}
        self._bytes = 0

    def note(self, files: list[JournalStat], known: dict[str, IndexedJournal]) -> None:
        """Update the folders of moved journals, and mask those that are gone."""
        there = {file.session_id for file in files}
        moved = [
            (file.folder, row.number)
            for file in files
            if (row := known.get(file.session_id)) and row.folder != file.folder
        ]
        gone = [row.number for session_id, row in known.items() if session_id not in there]
        if not moved and not gone:
            return
        self._connection.execute("begin immediate")
        self._connection.executemany("update sessions set folder = ? where number = ?", moved)
        for number in gone:
            self._mask(number)
            self._connection.execute("delete from sessions where number = ?", (number,))
        self._connection.execute("commit")

    def take(self, pending: Pending, deadline: float = inf) -> Generator[int]:
        """Index journals; yields the bytes read so far, after each commit and now and then.

        Closed before its end, it keeps what it has read.
        """
        read, reported = 0, time.monotonic()
        self._connection.execute("begin immediate")
        try:
            for file, known in pending:
                for length in self._follow(file, known, deadline):
                    read += length
                    if self._bytes >= BATCH_BYTES:
                        self._commit()
                        yield read
                        self._connection.execute("begin immediate")
                    elif time.monotonic() > reported + _REPORT_SECONDS:
                        yield read
                        reported = time.monotonic()
                if time.monotonic() >= deadline:
                    break
        except GeneratorExit:
            if self._connection.in_transaction:
                self._commit()
            raise
        self._commit()
        yield read

    def _write_rows(self) -> None:
        self._connection.executemany("insert into messages values(?, ?, ?, ?, ?, ?, ?)", self._rows)
        self._rows = []

    def _commit(self) -> None:
        self._write_rows()
        # Sorted: a row below the last one makes FTS5 flush its memory.
        self._words.sort()
        self._connection.executemany("insert into words(rowid, text) values(?, ?)", self._words)
        self._connection.executemany(
            "update sessions set name = ? where number = ?",
            [(name, number) for number, name in self._names.items()],
        )
        self._connection.execute("commit")
        self._words, self._names, self._bytes = [], {}, 0
        self._free.clear()

    def _follow(
        self, file: JournalStat, known: IndexedJournal | None, deadline: float
    ) -> Iterator[int]:
        path = self._folders.journal(file.session_id, Folder(file.folder))
        try:
            with reading(path) as descriptor:
                now = stat_of(file.session_id, file.folder, os.fstat(descriptor))
                row = self._begin(descriptor, now, known)
                end = settled_end(descriptor, now.size)
                yield from self._read(descriptor, row, now, end, deadline)
        except (OSError, *ODD_VALUES):
            # One journal that was moved meanwhile, cannot be read or is odd hides no other one.
            return

    def _begin(self, descriptor: int, file: JournalStat, known: IndexedJournal | None) -> _Reading:
        """Find or make the session's row."""
        if known is not None and _continues(descriptor, file, known):
            origin = OriginNumbers(known.project, known.program)
            return _Reading(known.number, known.done, origin.tokens)
        origin = self._origins.numbers(header_of(descriptor))
        if known is None:
            row = (file.session_id, file.folder, _UNSETTLED, b"", origin.project, origin.program)
            number = self._connection.execute(_INSERT, row).lastrowid or 0
            return _Reading(number, 0, origin.tokens)
        self._mask(known.number)
        self._names[known.number] = ""
        self._connection.execute(
            "update sessions set project = ?, program = ? where number = ?",
            (origin.project, origin.program, known.number),
        )
        return _Reading(known.number, 0, origin.tokens)

    def _mask(self, number: int) -> None:
        self._connection.execute(f"{_MASK} where session = ?", (number,))
        self._connection.execute("delete from replaced where session = ?", (number,))

    def _read(
        self,
        descriptor: int,
        reading: _Reading,
        file: JournalStat,
        end: int,
        deadline: float,
    ) -> Iterator[int]:
        number, done, origin = reading
        rows = self._connection.execute("select key from replaced where session = ?", (number,))
        replaced = {key for (key,) in rows}
        fresh = set[int]() if done == 0 else None
        written = file.mtime_ns // MILLISECOND_NS
        for found in read_searchable(descriptor, done, end):
            if isinstance(found, State):
                self._names[number] = spaced(found.name)
                continue
            written = time_of(found.message) or written
            key = message_key(found.message.id)
            # Read from the beginning, a journal has only this reading's rows to mask.
            if fresh is None or key in fresh:
                self._hide(number, key)
            else:
                fresh.add(key)
            if found.message.replaces:
                gone = message_key(found.message.replaces)
                replaced.add(gone)
                self._hide(number, gone)
                values = (number, gone)
                self._connection.execute("insert or ignore into replaced values(?, ?)", values)
            if key not in replaced:
                self._add(number, key, found, written, origin)
            after = min(found.offset + found.length + 1, end)
            if self._bytes >= BATCH_BYTES or time.monotonic() >= deadline:
                self._settle(descriptor, number, file._replace(size=_UNSETTLED), after)
                yield after - done
                done = after
                if time.monotonic() >= deadline:
                    return
        self._settle(descriptor, number, file, end)
        yield end - done

    def _add(self, number: int, key: int, found: MessageLine, written: int, origin: str) -> None:
        message = found.message
        words = as_row(message.text)
        self._bytes += found.length
        if not words:
            return
        row = self._free.take(written)
        self._words.append((row, f"{words} {origin}"))
        place = found.offset, found.length
        self._rows.append((row, number, *place, message.role, written, key))

    def _hide(self, number: int, key: int) -> None:
        self._write_rows()
        self._connection.execute(f"{_MASK} where session = ? and key = ?", (number, key))

    def _settle(self, descriptor: int, number: int, file: JournalStat, done: int) -> None:
        # Of the stat, the id stays.
        values = (*file[1:], tail_hash(descriptor, done), done, number)
        self._connection.execute(_SETTLE, values)


def known_sessions(
    connection: sqlite3.Connection, session_ids: Iterable[str]
) -> dict[str, IndexedJournal]:
    """Read the rows of some sessions, by their ids."""
    return _known(connection, "id", session_ids)


def known_in(
    connection: sqlite3.Connection, among: Collection[Folder]
) -> dict[str, IndexedJournal]:
    """Read the rows of all journals in some folders, by their ids."""
    return _known(connection, "folder", [each.value for each in among])


def _known(
    connection: sqlite3.Connection, column: str, values: Iterable[str]
) -> dict[str, IndexedJournal]:
    statement = f"{_KNOWN} where {column} = ?"
    rows = [row for each in values for row in connection.execute(statement, (each,))]
    return dict(zip(map(itemgetter(0), rows), map(IndexedJournal._make, rows), strict=True))


def unread(files: list[JournalStat], known: dict[str, IndexedJournal]) -> Pending:
    """Select the journals that are not wholly indexed; the trash does not count."""
    return [
        (file, row)
        for file in files
        if file.folder in SEARCHED
        and file.size <= JOURNAL_BYTES
        # Device, inode, size and time of both tuples.
        and ((row := known.get(file.session_id)) is None or row[2:6] != file[2:6])
    ]


def unread_bytes(pending: Pending) -> int:
    """Estimate the bytes to be read."""
    return sum(
        file.size - (row.done if row and row.done <= file.size else 0) for file, row in pending
    )


def _continues(descriptor: int, file: JournalStat, known: IndexedJournal) -> bool:
    """Check that a journal is the one read before, perhaps with more at its end."""
    if file.inode != known.inode or file.size < known.done:
        return False
    if tail_hash(descriptor, known.done) != known.tail:
        return False
    # The store sets its own times, to the millisecond; any other means that somebody else has
    # written without adding anything. A device may be numbered anew when it is mounted.
    return file.size != known.size or file.mtime_ns in (
        known.mtime_ns,
        file.mtime_ns // MILLISECOND_NS * MILLISECOND_NS,
    )
