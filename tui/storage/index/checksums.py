"""Whether an index still is what was written: SQLite keeps no checksums of its own.

Every leaf of the word lists, row and name has one, made when it is written. A disk that forgets, or
somebody who writes into the file, would otherwise only be seen by what is not found any more.
"""

import os
import sqlite3
import struct
import time
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from zlib import crc32

import msgspec

from tui.files import read_json
from tui.storage.disk import open_to_make

CHECKED = "index.checked"
_NOTE_BYTES = 1024
CHECK_SECONDS = 24 * 3600.0
"""How long an index that nobody else has written to is believed."""

_ROW = struct.Struct("<qqqqq")
_SESSION = 32  # bits below the session's number in a row's checksum
_DATA = "select id, block from words_data order by id"
_DATA_SUMS = "select id, sum from data_sums order by id"
_IDX = "select segid, pgno, term from words_idx order by segid, pgno"
_IDX_SUMS = "select segid, pgno, sum from idx_sums order by segid, pgno"
_ROWS = "select id, session, offset, length, role, time, key, sum from messages"
_NAMES = "select name, name_sum from sessions"
_ORPHANS = """
    select 1 from messages where session != 0
    and session not in (select number from sessions) limit 1
"""


def checksum(value: bytes | str | None) -> int:
    """The function that the triggers of the index call."""
    return crc32(value.encode() if isinstance(value, str) else value or b"")


def row_sum(
    row: int, session: int, place: tuple[int, int], role: str, about: tuple[int, int]
) -> int:
    """The checksum of a message's row; masking takes the session out of it."""
    packed = _ROW.pack(row, *place, *about)
    return crc32(role.encode(), crc32(packed)) | session << _SESSION


def fault(connection: sqlite3.Connection) -> str | None:
    """What is wrong with an index; ``None`` if all of it is as it was written.

    Reads the whole file: 5 s for that of 800 MB of sessions (FTS5's own 'integrity-check' takes
    twice that, and sees less). Raises ``sqlite3.Error`` if it cannot be read.
    """
    found = str(connection.execute("pragma quick_check(1)").fetchone()[0])
    if found != "ok":
        return found
    if not _leaves_are_sound(connection):
        return "its word lists are not what was written"
    if not _rows_are_sound(connection):
        return "its list of messages is not what was written"
    if not _names_are_sound(connection):
        return "its list of names is not what was written"
    return None


def _leaves_are_sound(connection: sqlite3.Connection) -> bool:
    data = connection.execute(_DATA)
    for leaf, known in zip_longest(data, connection.execute(_DATA_SUMS)):
        if leaf is None or known is None or (leaf[0], checksum(leaf[1])) != known:
            return False
    terms = connection.execute(_IDX)
    for term, known in zip_longest(terms, connection.execute(_IDX_SUMS)):
        if term is None or known is None or (*term[:2], checksum(term[2])) != known:
            return False
    return True


def _rows_are_sound(connection: sqlite3.Connection) -> bool:
    for row, session, offset, length, role, written, key, known in connection.execute(_ROWS):
        try:
            found = row_sum(row, session, (offset, length), role, (written, key))
        except (struct.error, AttributeError, TypeError):
            return False
        if found != known:
            return False
    return connection.execute(_ORPHANS).fetchone() is None


def _names_are_sound(connection: sqlite3.Connection) -> bool:
    try:
        return all(checksum(name) == known for name, known in connection.execute(_NAMES))
    except TypeError:
        return False


class Believed(msgspec.Struct, frozen=True):
    """The index as this program left it, and when all of it was looked at."""

    inode: int
    size: int
    mtime_ns: int
    at: float

    @property
    def identity(self) -> tuple[int, int, int]:
        return self.inode, self.size, self.mtime_ns


class Belief:
    """Knows whether an index was changed by nobody but this program, and checked lately."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._note = path.with_name(CHECKED)

    def holds(self) -> bool:
        """Whether there is no reason to look at all of it."""
        known = self._known()
        if known is None or known.identity != self._identity():
            return False
        return 0 <= time.time() - known.at < CHECK_SECONDS

    def keep(self) -> None:
        """The file was changed by this program, while it was believed."""
        known = self._known()
        if known is not None and known.identity != self._identity():
            self._write(known.at)

    def begin(self) -> None:
        """All of it was looked at, or has just been made."""
        self._write(time.time())

    def _identity(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _known(self) -> Believed | None:
        try:
            return msgspec.convert(read_json(self._note, _NOTE_BYTES), Believed)
        except (OSError, msgspec.ValidationError):
            return None

    def _write(self, at: float) -> None:
        identity = self._identity()
        if identity is None:
            return
        # Lost, or half written, it only makes the index be looked at once more.
        with suppress(OSError):
            descriptor = open_to_make(self._note, os.O_WRONLY | os.O_TRUNC)
            try:
                os.write(descriptor, msgspec.json.encode(Believed(*identity, at)))
            finally:
                os.close(descriptor)
