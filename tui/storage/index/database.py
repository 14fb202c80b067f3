"""The SQLite file of the index: schema, opening, checking, and setting a damaged one aside.

``words`` (FTS5, contentless) holds the tokens of each message, cut by ``tui.domain.search.tokens``
and joined by blanks, so that SQLite's tokenizer has nothing to split or fold. ``messages`` maps
its rows to offsets in journals; ``session`` 0 masks a row, as a contentless table cannot delete.
Rowids grow with the messages' times. ``projects`` and ``programs`` are what sessions are from, by
the numbers that ``message_rows`` writes into ``words``. ``sessions`` holds the tokens of each
name: ten thousand are scanned in a few milliseconds.
"""

import os
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from tui.domain.json_text import ODD_VALUES
from tui.files import open_regular
from tui.storage.disk import open_to_make

NAME = "index.sqlite3"
DAMAGED = ".damaged-"
VERSION = 8
"""Version of schema and tokens; an index of an earlier one is built anew."""

_APPLICATION = 0x5369_6279  # "Siby"
_BESIDE = ("-wal", "-shm", "-journal")
_BUSY_SECONDS = 0.05
_GATHERED = 32 * 1024 * 1024  # bytes of words in memory before they are written: fewer merges
_MERGED = 8  # segments that become one: twice what SQLite takes builds a seventh faster
_TABLES = """
begin;
create virtual table words using fts5(
    text, content='', columnsize=0, prefix='2 3', tokenize='unicode61 remove_diacritics 2');
create table messages(
    id integer primary key, session integer not null, offset integer not null,
    length integer not null, role text not null, time integer not null, key integer not null);
create index messages_of on messages(session, key);
create table sessions(
    number integer primary key, id text not null unique, folder text not null,
    device integer not null, inode integer not null, size integer not null,
    mtime integer not null, tail blob not null, done integer not null,
    name text not null default '', project integer not null, program integer not null);
create index sessions_by_use on sessions(folder, mtime desc, id, project);
create index sessions_named on sessions(mtime desc, name, id, folder, project, program)
    where name != '';
create table archive(inode integer not null, changed integer not null);
create table projects(
    number integer primary key, scope blob not null, project blob not null, unique(scope, project));
create table programs(number integer primary key, program blob not null unique);
create table replaced(
    session integer not null, key integer not null, primary key(session, key)) without rowid;
"""
_SCHEMA = f"""
{_TABLES}
insert into words(words, rank) values('hashsize', {_GATHERED});
insert into words(words, rank) values('automerge', {_MERGED});
pragma application_id = {_APPLICATION};
pragma user_version = {VERSION};
commit;
"""

Kind = Literal["missing", "older", "newer", "damaged", "locked", "out of reach"]
"""Reasons: a missing or older index is built anew, a damaged one is set aside."""


class Unusable(Exception):
    """The index cannot be used."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def connect(path: Path) -> sqlite3.Connection:
    """Open an existing index for reading and writing. Raises ``Unusable``."""
    try:
        os.close(open_regular(path))
    except FileNotFoundError as error:
        raise Unusable("missing", "there is none") from error
    except OSError as error:
        raise Unusable("out of reach", os.strerror(error.errno or 0)) from error
    try:
        connection = _opened(path)
        try:
            _check_version(connection)
            connection.execute("pragma synchronous = normal")
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, *ODD_VALUES) as error:
        raise unusable(error) from error
    return connection


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)


def _check_version(connection: sqlite3.Connection) -> None:
    made_by = connection.execute("pragma application_id").fetchone()[0]
    version = connection.execute("pragma user_version").fetchone()[0]
    tables = connection.execute("select count(*) from sqlite_schema").fetchone()[0]
    if not tables:
        raise Unusable("missing", "it is empty")
    if made_by != _APPLICATION:
        raise Unusable("damaged", "it is not an index of this program")
    if version != VERSION:
        raise Unusable("older" if version < VERSION else "newer", f"it has version {version}")


def unusable(error: Exception) -> Unusable:
    """Classify an error of SQLite, or of a value that it gave."""
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    # The second: there is no room for the file that shares the index with other processes.
    if extended in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE):
        return Unusable("out of reach", "the disk is full")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Unusable("locked", "another window holds it")
    if code in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_IOERR,
    ):
        return Unusable("out of reach", str(error))
    return Unusable("damaged", str(error))


def create(path: Path) -> sqlite3.Connection:
    """Create an empty index, private to the user. Raises ``Unusable``."""
    try:
        os.close(open_to_make(path, os.O_RDWR))
        connection = _opened(path)
    except OSError as error:
        raise Unusable("out of reach", os.strerror(error.errno or 0)) from error
    except sqlite3.Error as error:
        raise unusable(error) from error
    try:
        # On network file systems, SQLite stays with DELETE.
        with suppress(sqlite3.OperationalError):
            connection.execute("pragma journal_mode = wal")
        connection.executescript(_SCHEMA)
    except sqlite3.Error as error:
        connection.close()
        raise unusable(error) from error
    connection.execute("pragma synchronous = normal")
    return connection


def clear(connection: sqlite3.Connection) -> None:
    """Empty the index in place: another program may be searching the same file."""
    connection.execute("pragma secure_delete = on")
    connection.execute("begin immediate")
    connection.execute("insert into words(words) values('delete-all')")
    for table in ("messages", "sessions", "replaced", "projects", "programs", "archive"):
        connection.execute(f"delete from {table}")  # noqa: S608 - no name from outside
    connection.execute("commit")
    # Purged words must not stay in the write-ahead log either.
    connection.execute("pragma wal_checkpoint(truncate)")


def set_aside(path: Path) -> None:
    """Rename a damaged index, in the place of an earlier one. Raises ``OSError``."""
    remove_set_aside(path)
    os.replace(path, path.with_name(f"{path.name}{DAMAGED}{datetime.now(UTC):%Y%m%d-%H%M%S}"))
    _remove_beside(path)


def remove_set_aside(path: Path) -> None:
    """Remove the index that was set aside."""
    for earlier in path.parent.glob(f"{path.name}{DAMAGED}*"):
        with suppress(OSError):
            os.unlink(earlier)


def remove(path: Path) -> None:
    """Delete an index with its log. Raises ``OSError``."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    _remove_beside(path)


def _remove_beside(path: Path) -> None:
    for ending in _BESIDE:
        with suppress(FileNotFoundError):
            os.unlink(path.with_name(path.name + ending))
    # Earlier versions kept a note about their checksums.
    with suppress(OSError):
        os.unlink(path.with_name("index.checked"))


def check(path: Path) -> str | None:
    """Describe the damage of an index; ``None`` if it has none, or is missing or older.

    Finds a broken structure, not a changed word. That only hides messages until a rebuild: every
    hit is read from its journal before it counts. Reads the whole file, a second per gigabyte.
    Raises ``Unusable`` for an index that cannot be read.
    """
    try:
        with closing(connect(path)) as connection:
            found = str(connection.execute("pragma quick_check(1)").fetchone()[0])
            return None if found == "ok" else found
    except (sqlite3.Error, *ODD_VALUES) as error:
        if unusable(error).kind == "damaged":
            return str(error)
        raise unusable(error) from error
    except Unusable as error:
        if error.kind in ("missing", "older"):
            return None
        if error.kind == "damaged":
            return str(error)
        raise
    return None
