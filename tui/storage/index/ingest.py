"""Following the journals: what was added to them goes into the index, what is gone is masked."""

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
    Saying,
    Seen,
    message_key,
    sayings,
    settled_end,
    tail_hash,
)
from tui.storage.index.words import as_words

BATCH_BYTES = 16 * 1024 * 1024
"""How much goes into one transaction: until its end, two seconds, nobody finds any of it."""

_SAME_TIME = 15  # bits of a rowid that tell messages of one millisecond apart
_UNSETTLED = -1
_LATEST = (1 << 48) - 1


class Known(NamedTuple):
    """A journal as the index knows it: as it was seen, and ``done``, how far it was read."""

    session_id: str
    folder: str
    device: int
    inode: int
    size: int
    mtime_ns: int
    number: int
    tail: bytes
    done: int


Pending = list[tuple[Seen, Known | None]]
"""Journals of which something is not in the index, newest use first, and what is known of them."""


class Ingest:
    """Brings an index up to date. Only who holds its lock may use one."""

    def __init__(self, folders: Folders, connection: sqlite3.Connection) -> None:
        self._folders = folders
        self._connection = connection
        self._free: dict[int, int] = {}
        self._rows: list[tuple[int, int, int, int, str, int, int]] = []
        self._words: list[tuple[int, str]] = []
        self._names: dict[int, str] = {}
        self._bytes = 0

    def note(self, files: list[Seen], known: dict[str, Known]) -> None:
        """Note what was moved, and mask what is gone."""
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
        """Read journals; gives how many bytes of them are in the index, after each commit."""
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
        # In order: a row before the last one makes the table write all it holds in memory.
        self._words.sort()
        self._connection.executemany("insert into words(rowid, text) values(?, ?)", self._words)
        self._connection.executemany(
            "update sessions set name = ? where number = ?",
            [(name, number) for number, name in self._names.items()],
        )
        self._connection.execute("commit")
        self._words, self._names, self._bytes = [], {}, 0
        self._free.clear()

    def _follow(self, file: Seen, known: Known | None, deadline: float | None) -> Iterator[int]:
        path = self._folders.journal(file.session_id, Folder(file.folder))
        try:
            descriptor = open_to_read(path)
        except OSError:
            # Moved meanwhile, or no plain file: doctor names it.
            return
        try:
            status = os.fstat(descriptor)
            identity = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
            now = Seen(file.session_id, file.folder, *identity)
            number, done = self._begin(descriptor, now, known)
            end = settled_end(descriptor, now.size)
            yield from self._read(descriptor, number, now, (done, end), deadline)
        except OSError:
            # A disk that fails in the middle of one journal hides no other one.
            return
        finally:
            os.close(descriptor)

    def _begin(self, descriptor: int, file: Seen, known: Known | None) -> tuple[int, int]:
        """The session's number, and from where on it is to be read."""
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
        file: Seen,
        between: tuple[int, int],
        deadline: float | None,
    ) -> Iterator[int]:
        done, end = between
        replaced = self._replaced(number)
        fresh = set[int]() if done == 0 else None
        written = file.mtime_ns // MILLISECOND_NS
        for saying in sayings(descriptor, done, end):
            if isinstance(saying, State):
                self._names[number] = spaced(saying.name)
                continue
            written = time_of(saying.message) or written
            key = message_key(saying.message.id)
            # What is read from its beginning has nothing to be hidden yet but what came just now.
            if fresh is None or key in fresh:
                self._hide(number, key)
            else:
                fresh.add(key)
            self._add(number, key, saying, min(written, _LATEST), replaced)
            after = min(saying.offset + saying.length + 1, end)
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

    def _add(self, number: int, key: int, saying: Saying, written: int, replaced: set[int]) -> None:
        message = saying.message
        if message.replaces:
            self._replace(number, message_key(message.replaces), replaced)
        if key in replaced:
            return
        tokens = cut(message.text)
        self._bytes += saying.length
        if not tokens:
            return
        row = self._free_row(written)
        self._words.append((row, as_words(tokens)))
        place = saying.offset, saying.length
        self._rows.append((row, number, *place, message.role, written, key))

    def _replace(self, number: int, key: int, replaced: set[int]) -> None:
        replaced.add(key)
        self._hide(number, key)
        self._connection.execute("insert or ignore into replaced values(?, ?)", (number, key))

    def _hide(self, number: int, key: int) -> None:
        self._write_rows()
        self._connection.execute(f"{_MASK} where session = ? and key = ?", (number, key))

    def _free_row(self, written: int) -> int:
        """A rowid in the order of time that no row has, masked ones neither."""
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

    def _settle(self, descriptor: int, number: int, file: Seen, done: int) -> None:
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
) -> dict[str, Known]:
    """The journals that an index knows, or those of some sessions."""
    if session_ids is None:
        rows = connection.execute(_KNOWN).fetchall()
    else:
        by_id = f"{_KNOWN} where id = ?"
        rows = [row for each in session_ids for row in connection.execute(by_id, (each,))]
    return dict(zip(map(itemgetter(0), rows), map(Known._make, rows), strict=True))


def unread(files: list[Seen], known: dict[str, Known]) -> Pending:
    """The journals of which something is not in the index; what is in the trash is not missed."""
    return [
        (file, row)
        for file in files
        if file.folder in SEARCHED
        and file.size <= JOURNAL_BYTES
        # Identity, size and time: where each of the two has them.
        and ((row := known.get(file.session_id)) is None or row[2:6] != file[2:6])
    ]


def unread_bytes(pending: Pending) -> int:
    """About how much is to be read."""
    return sum(
        file.size - (row.done if row and row.done <= file.size else 0) for file, row in pending
    )


def _continues(descriptor: int, file: Seen, known: Known) -> bool:
    """Whether a journal is still the one that was read, perhaps with more at its end."""
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
