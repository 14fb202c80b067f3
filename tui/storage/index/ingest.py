"""Indexes what was appended to journals, and masks messages that are gone."""

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

from tui.domain.journal.records import State
from tui.domain.search.query import spaced, time_of
from tui.domain.text.tokens import cut
from tui.domain.timestamps import MILLISECOND_NS
from tui.storage.disk import JOURNAL_BYTES, open_to_read
from tui.storage.folders import Folder, Folders
from tui.storage.index.files import (
    SEARCHED,
    JournalStat,
    MessageLine,
    message_key,
    read_searchable,
    settled_end,
    tail_hash,
)
from tui.storage.index.words import as_words

BATCH_BYTES = 16 * 1024 * 1024
"""Size of a transaction: about two seconds, at the end of which its messages are found."""

_SAME_TIME = 15  # bits of a rowid that tell messages of one millisecond apart
_UNSETTLED = -1
_LATEST = (1 << 48) - 1


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


Pending = list[tuple[JournalStat, IndexedJournal | None]]
"""Journals that are not wholly indexed, newest use first, with their rows."""


class Ingest:
    """Brings an index up to date. The caller holds the index's lock."""

    def __init__(self, folders: Folders, connection: sqlite3.Connection) -> None:
        self._folders = folders
        self._connection = connection
        self._free: dict[int, int] = {}
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

    def take(self, pending: Pending, deadline: float | None = None) -> Iterator[int]:
        """Index journals; yields the bytes read so far after each commit."""
        read = 0
        self._connection.execute("begin immediate")
        for file, known in pending:
            for length in self._follow(file, known, deadline):
                read += length
                if self._bytes >= BATCH_BYTES:
                    self._commit()
                    yield read
                    self._connection.execute("begin immediate")
            if _past(deadline):
                break
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
        self, file: JournalStat, known: IndexedJournal | None, deadline: float | None
    ) -> Iterator[int]:
        path = self._folders.journal(file.session_id, Folder(file.folder))
        try:
            descriptor = open_to_read(path)
        except OSError:
            # Moved meanwhile, or not a regular file, which doctor reports.
            return
        try:
            status = os.fstat(descriptor)
            identity = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
            now = JournalStat(file.session_id, file.folder, *identity)
            number, done = self._begin(descriptor, now, known)
            end = settled_end(descriptor, now.size)
            yield from self._read(descriptor, number, now, (done, end), deadline)
        except OSError:
            # A read error in one journal hides no other one.
            return
        finally:
            os.close(descriptor)

    def _begin(
        self, descriptor: int, file: JournalStat, known: IndexedJournal | None
    ) -> tuple[int, int]:
        """Find or make the session's row; return its number and the offset to read from."""
        if known is None:
            row = (file.session_id, file.folder, 0, 0, _UNSETTLED, 0, b"", 0)
            cursor = self._connection.execute(
                "insert into sessions(id, folder, device, inode, size, mtime, tail, done)"
                " values(?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            return cursor.lastrowid or 0, 0
        if _continues(descriptor, file, known):
            return known.number, known.done
        self._mask(known.number)
        self._names[known.number] = ""
        return known.number, 0

    def _mask(self, number: int) -> None:
        self._connection.execute(f"{_MASK} where session = ?", (number,))
        self._connection.execute("delete from replaced where session = ?", (number,))

    def _read(
        self,
        descriptor: int,
        number: int,
        file: JournalStat,
        between: tuple[int, int],
        deadline: float | None,
    ) -> Iterator[int]:
        done, end = between
        replaced = self._replaced(number)
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
            self._add(number, key, found, min(written, _LATEST), replaced)
            after = min(found.offset + found.length + 1, end)
            if self._bytes >= BATCH_BYTES or _past(deadline):
                self._settle(descriptor, number, file._replace(size=_UNSETTLED), after)
                yield after - done
                done = after
                if _past(deadline):
                    return
        self._settle(descriptor, number, file, end)
        yield end - done

    def _replaced(self, number: int) -> set[int]:
        rows = self._connection.execute("select key from replaced where session = ?", (number,))
        return {key for (key,) in rows}

    def _add(
        self, number: int, key: int, found: MessageLine, written: int, replaced: set[int]
    ) -> None:
        message = found.message
        if message.replaces:
            self._replace(number, message_key(message.replaces), replaced)
        if key in replaced:
            return
        tokens = cut(message.text)
        self._bytes += found.length
        if not tokens:
            return
        row = self._free_row(written)
        self._words.append((row, as_words(tokens)))
        place = found.offset, found.length
        self._rows.append((row, number, *place, message.role, written, key))

    def _replace(self, number: int, key: int, replaced: set[int]) -> None:
        replaced.add(key)
        self._hide(number, key)
        self._connection.execute("insert or ignore into replaced values(?, ?)", (number, key))

    def _hide(self, number: int, key: int) -> None:
        self._write_rows()
        self._connection.execute(f"{_MASK} where session = ? and key = ?", (number, key))

    def _free_row(self, written: int) -> int:
        """Find a free rowid in the order of time; masked rows keep theirs."""
        first = written << _SAME_TIME
        row = self._free.get(written)
        if row is None:
            last = first + (1 << _SAME_TIME) - 1
            found = self._connection.execute(
                "select max(id) from messages where id between ? and ?", (first, last)
            ).fetchone()[0]
            row = first if found is None else found + 1
        if row >= first + (1 << _SAME_TIME):
            self._free[written] = row
            return self._free_row(written + 1)
        self._free[written] = row + 1
        return row

    def _settle(self, descriptor: int, number: int, file: JournalStat, done: int) -> None:
        self._connection.execute(
            "update sessions set folder = ?, device = ?, inode = ?, size = ?, mtime = ?,"
            " tail = ?, done = ? where number = ?",
            (
                file.folder,
                file.device,
                file.inode,
                file.size,
                file.mtime_ns,
                tail_hash(descriptor, done),
                done,
                number,
            ),
        )


_MASK = "update messages set session = 0"
_KNOWN = "select id, folder, device, inode, size, mtime, number, tail, done from sessions"


def known_sessions(
    connection: sqlite3.Connection, session_ids: Iterable[str] | None = None
) -> dict[str, IndexedJournal]:
    """Read the rows of all journals, or of some sessions, by their ids."""
    if session_ids is None:
        rows = connection.execute(_KNOWN).fetchall()
    else:
        by_id = f"{_KNOWN} where id = ?"
        rows = [row for each in session_ids for row in connection.execute(by_id, (each,))]
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


def _past(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
