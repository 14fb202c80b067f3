"""SQLite databases of programs that may be running, read without a trace in them.

A database is copied with its log to a private folder, and the copy is read. To open the original
would lock it for its program, or leave ``-shm`` and ``-wal`` files beside it, also read-only.
"""

import errno
import os
import shutil
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tui.domain.json_limits import LINE_BYTES
from tui.files import UnfitFile, open_regular
from tui.importers.protocol import Ledger, Source

MAGIC = b"SQLite format 3\x00"
DAMAGED = "damaged row"
LOGS = ("-wal", "-journal")
_ATTEMPTS = 5
# SQLite quotes in its errors what is damaged.
_ERRORS = (sqlite3.Error, UnicodeError)
_SMALL_BYTES = 64 * 1024 * 1024
_WAL_HEADER = 32
# Not /tmp, which may be in memory.
_ROOM = Path("/var/tmp")  # noqa: S108

Row = dict[str, Any]
Schema = Mapping[str, frozenset[str]]
"""The columns of each table."""


class Database:
    """A copy that is open; one read transaction from beginning to end."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.schema = _schema(connection)

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        ledger: Ledger,
        *,
        equal: Mapping[str, Any] | None = None,
        order: Sequence[str] = (),
    ) -> Iterator[Row]:
        """Read rows of a table; columns and tables that it has not are passed over.

        Damage ends the rows and is counted. A value over 64 MiB is ``None``.
        """
        known = self.schema.get(table)
        if known is None:
            return
        wanted = [column for column in columns if column in known]
        given = {key: value for key, value in (equal or {}).items() if key in known}
        query = _query(table, wanted, list(given), [name for name in order if name in known])
        try:
            for values in self._connection.execute(query, list(given.values())):
                yield dict(zip(wanted, values, strict=True))
        except (*_ERRORS, OverflowError):
            ledger.skipped[DAMAGED] += 1

    def has(self, table: str, *columns: str) -> bool:
        return has(self.schema, table, *columns)


def has(schema: Schema, table: str, *columns: str) -> bool:
    """True if there is such a table with all of these columns."""
    return table in schema and schema[table] >= set(columns)


def is_database(path: Path) -> bool:
    """True for a file that begins as a database does. Raises ``OSError``."""
    descriptor = open_regular(path, follow=True)
    try:
        return os.read(descriptor, len(MAGIC)) == MAGIC
    finally:
        os.close(descriptor)


def source(path: Path) -> Source:
    """The source of a database; it changes when its log does. Raises ``OSError``."""
    path.stat()
    return Source.of(path, path, *(_beside(path, log) for log in LOGS))


@contextmanager
def opened(path: Path) -> Generator[Database]:
    """Open a copy of a database.

    Raises ``UnfitFile`` for one that is being written all the time, or is damaged or none, and
    ``OSError``.
    """
    with closing(_connected(path)) as connection:
        try:
            database = Database(connection)
        except _ERRORS as error:
            raise _unfit(path, error) from error
        yield database


def schema(path: Path, head: bytes) -> Schema:
    """The tables of a file; none if it is no database."""
    if not head.startswith(MAGIC):
        return {}
    # Immutable: no lock and no file beside it. Its log is not read, which may have all tables.
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with suppress(*_ERRORS), closing(sqlite3.connect(address, uri=True)) as connection:
        connection.text_factory = _decoded
        if found := _schema(connection):
            return found
    try:
        if source(path).size > _SMALL_BYTES:
            return {}
        with opened(path) as database:
            return database.schema
    except OSError:
        return {}


def _query(table: str, wanted: list[str], given: list[str], order: list[str]) -> str:
    # Names come from the schema, and are quoted.
    columns = ", ".join(
        f"CASE WHEN length({_q(name)}) <= {LINE_BYTES} THEN {_q(name)} END" for name in wanted
    )
    where = " AND ".join(f"{_q(name)} IS ?" for name in given)
    by = ", ".join(_q(name) for name in order)
    query = f"SELECT {columns or 'NULL'} FROM {_q(table)}"  # noqa: S608
    return query + (f" WHERE {where}" if where else "") + (f" ORDER BY {by}" if by else "")


def _q(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _schema(connection: sqlite3.Connection) -> Schema:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name: _columns(connection, name) for (name,) in tables if isinstance(name, str)}


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    found = connection.execute(f"PRAGMA table_info({_q(table)})").fetchall()
    columns = {str(row[1]) for row in found}
    with suppress(*_ERRORS):
        connection.execute(f"SELECT rowid FROM {_q(table)} LIMIT 0").close()  # noqa: S608
        columns.add("rowid")
    return frozenset(columns)


def _connected(path: Path) -> sqlite3.Connection:
    room = _ROOM if os.access(_ROOM, os.W_OK | os.X_OK) else None
    with TemporaryDirectory(prefix="sibyl-tui-", dir=room) as folder:
        copy = Path(folder) / "copy.db"
        _copy_unchanged(path, copy)
        try:
            return _begun(copy)
        except _ERRORS as error:
            raise _unfit(path, error) from error
    # The copy is deleted here, and read until the connection is closed: it never stays behind.


def _begun(copy: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(copy, isolation_level=None)
    try:
        connection.text_factory = _decoded
        # Exclusive: else the index of the log would be a file, which is deleted.
        for setting in ("locking_mode = EXCLUSIVE", "trusted_schema = OFF", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {setting}").close()
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA query_only = ON").close()
    except _ERRORS:
        connection.close()
        raise
    return connection


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _copy_unchanged(path: Path, copy: Path) -> None:
    """Copy a database and its log as they are at one moment."""
    for _ in range(_ATTEMPTS):
        before = _state(path)
        _copy(path, copy)
        for log in LOGS:
            _beside(copy, log).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                _copy(_beside(path, log), _beside(copy, log))
        if _state(path) == before:
            return
    raise UnfitFile(errno.EBUSY, "it is being written; try again later", str(path))


def _state(path: Path) -> tuple[object, ...]:
    """Whatever changes when pages of the database do; its log may grow meanwhile."""
    status = path.stat()
    return (
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        _head(_beside(path, "-wal")),
        _beside(path, "-journal").exists(),
    )


def _head(path: Path) -> bytes:
    try:
        descriptor = open_regular(path)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _WAL_HEADER)
    finally:
        os.close(descriptor)


def _copy(path: Path, copy: Path) -> None:
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with (
        os.fdopen(descriptor, "wb") as target,
        os.fdopen(open_regular(path, follow=True), "rb") as original,
    ):
        shutil.copyfileobj(original, target, 4 * 1024 * 1024)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _unfit(path: Path, error: Exception) -> UnfitFile:
    return UnfitFile(errno.EILSEQ, f"the database cannot be read now: {error}", str(path))
