"""SQLite databases of programs that may be running, read without a trace in them.

A database is copied with its log to a private folder, and the copy is read. To open the original
would lock it for its program, or leave ``-shm`` and ``-wal`` files beside it, also read-only.

A database may be made to hurt: nothing of it runs but reads of its tables, no longer and with no
more bytes than tables of its size can need.
"""

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tui.domain.json_text import LINE_BYTES
from tui.files import UnfitFile, open_regular, read_beginning
from tui.importers.archives import DATABASE, room
from tui.importers.protocol import Ledger, Source
from tui.importers.stopping import Stopped, check

MAGIC = DATABASE
DAMAGED = "damaged row"
LOGS = ("-wal", "-journal")
COPIED_BYTES = 1024**3
"""A larger database is copied only if its user wants that."""
_ATTEMPTS = 5
# SQLite quotes in its errors what is damaged.
_ERRORS = (sqlite3.Error, UnicodeError)
_SMALL_BYTES = 64 * 1024 * 1024
_WAL_HEADER = 32
_JOURNAL_END = bytes.fromhex("d9d505f920a163d7")
"""Ends a journal that names another file, which SQLite would delete."""
_TABLE = "CREATE TABLE "
"""Begins the definition of a table, as SQLite writes it: of no view and of no virtual table."""
_BLOCK = 4 * 1024 * 1024
_TABLES = 1000
_SETTINGS = (
    # Exclusive: else the index of the log would be a file, which is deleted.
    "locking_mode = EXCLUSIVE",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "mmap_size = 0",
)
_VALUE_BYTES = 4 * LINE_BYTES
_SQL_BYTES = 1024 * 1024
_STEPS = 2000
"""Of SQLite's machine, between two looks at the limits."""
_FIRST_STEPS = 2_000_000
_STEPS_PER_BYTE = 40
_FIRST_BYTES = 64 * 1024
_ROW_BYTES = 32
"""Of each row, beside its texts: it has no less than half of it in its file."""
_SECONDS = 120.0

Row = dict[str, Any]
Schema = Mapping[str, frozenset[str]]
"""The columns of each table."""


class _StatementLimits:
    """Ends a statement that takes more than tables of this size can need, or is not wanted.

    After one such statement, no other is made: pages that lead to each other never come to an end.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._left = self._bytes = 0
        self._spent = self._began = 0.0
        self._is_over = False
        self.begin()

    def begin(self) -> None:
        """Begin a statement. Raises ``sqlite3.Error`` if none is made any more."""
        if self._is_over:
            raise sqlite3.DataError
        self._left = (_FIRST_STEPS + _STEPS_PER_BYTE * self._size) // _STEPS
        self._bytes = 2 * self._size + _FIRST_BYTES
        self._spent, self._began = 0.0, time.monotonic()

    def fetched(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Fetch the rows of a statement; the time between two of them does not count."""
        for values in rows:
            self._spent += time.monotonic() - self._began
            self._bytes -= _ROW_BYTES
            self._bytes -= sum(len(value) for value in values if isinstance(value, str | bytes))
            if self._bytes < 0:
                self._is_over = True
                raise sqlite3.DataError
            yield values
            self._began = time.monotonic()

    def __call__(self) -> bool:
        """Look at the limits: for SQLite, which stops if this is true."""
        self._left -= 1
        spent = self._spent + time.monotonic() - self._began
        self._is_over = self._is_over or self._left < 0 or spent > _SECONDS
        try:
            check()
        except Stopped:
            return True
        return self._is_over


class OpenDatabase:
    """A database, or its copy, that is open; one read transaction from beginning to end."""

    def __init__(self, connection: sqlite3.Connection, limits: _StatementLimits) -> None:
        self._connection = connection
        self._limits = limits
        self.schema = _schema(connection)
        self.close = connection.close

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        ledger: Ledger,
        *,
        equal: Mapping[str, Any] | None = None,
        beginning: Mapping[str, str] | None = None,
        order: Sequence[str] = (),
    ) -> Iterator[Row]:
        """Read rows of a table; columns and tables that it has not are passed over.

        Of a column, values may be given: the one that it has, or its first characters.
        Damage ends the rows and is counted. A value over 64 MiB is ``None``.
        """
        known = self.schema.get(table)
        if known is None:
            return
        wanted = [column for column in columns if column in known]
        given = {f"{_q(key)} IS ?": value for key, value in (equal or {}).items() if key in known}
        for key, value in (beginning or {}).items():
            # A range, which an index answers; LIKE would read the whole table.
            after = value[:-1] + chr(ord(value[-1]) + 1)
            given |= {f"{_q(key)} >= ?": value, f"{_q(key)} < ?": after} if key in known else {}
        query = _query(table, wanted, list(given), [name for name in order if name in known])
        try:
            self._limits.begin()
            found = self._connection.execute(query, list(given.values()))
            for values in self._limits.fetched(found):
                yield dict(zip(wanted, values, strict=True))
        except (*_ERRORS, OverflowError):
            check()
            ledger.skipped[DAMAGED] += 1


def has(schema: Schema, table: str, *columns: str) -> bool:
    """True if there is such a table with all of these columns."""
    return table in schema and schema[table] >= set(columns)


def is_database(path: Path) -> bool:
    """True for a file that begins as a database does. Raises ``OSError``."""
    return read_beginning(path, len(MAGIC), follow=True)[0] == MAGIC


def source(path: Path) -> Source:
    """The source of a database; it changes when its log does. Raises ``OSError``."""
    path.stat()
    return Source.of(path, path, *(_beside(path, log) for log in LOGS))


def found(*paths: Path) -> Iterator[Source]:
    """The sources of those databases that are there. Raises ``OSError``."""
    for path in paths:
        with suppress(FileNotFoundError):
            yield source(path)


@contextmanager
def opened(path: Path) -> Generator[OpenDatabase]:
    """Open a copy of a database.

    Raises ``UnfitFile`` for one that is being written all the time, or is damaged or none, and
    ``OSError``.
    """
    with TemporaryDirectory(prefix="sibyl-tui-", dir=room()) as folder:
        copy = Path(folder) / "copy.db"
        _copy_unchanged(path, copy)
        try:
            database = _opened(copy, source(copy).size)
        except _ERRORS as error:
            check()
            why = f"the database cannot be read now: {error}"
            raise UnfitFile(errno.EILSEQ, why, str(path)) from error
    # The copy is deleted here, and read until the connection is closed: it never stays behind.
    with closing(database):
        yield database


def schema(path: Path, head: bytes) -> Schema:
    """The tables of a file; none if it is no database."""
    if not head.startswith(MAGIC):
        return {}
    try:
        return _schema_of(source(path))
    except OSError:
        return {}


@lru_cache(maxsize=1)
def _schema_of(found: Source) -> Schema:
    """The same for each reader that asks for a file."""
    # The log is not read, which may have all tables.
    with suppress(*_ERRORS), closing(_looked_at(found.path)) as database:
        if database.schema:
            return database.schema
    if found.size > _SMALL_BYTES:
        return {}
    with opened(found.path) as database:
        return database.schema


def beginnings_in(path: Path, table: str, column: str, wanted: Iterable[str]) -> set[str]:
    """Those of some beginnings that a value of a column has.

    The database is looked at as it is: what was written last, or is being written, may be missing.
    """
    found: set[str] = set()
    with suppress(*_ERRORS, OSError), closing(_looked_at(path)) as database:
        for each in wanted:
            rows = database.rows(table, [column], Ledger(), beginning={column: each})
            found |= {each} if next(rows, None) else set()
    return found


def _looked_at(path: Path) -> OpenDatabase:
    """Open a database itself, without a lock and without a file beside it."""
    return _opened(f"{path.absolute().as_uri()}?mode=ro&immutable=1", 0)


def _query(table: str, wanted: list[str], given: list[str], order: list[str]) -> str:
    # Names come from the schema, and are quoted.
    columns = ", ".join(
        f"CASE WHEN length({_q(name)}) <= {LINE_BYTES} THEN {_q(name)} END" for name in wanted
    )
    where = " AND ".join(given)
    by = ", ".join(_q(name) for name in order)
    query = f"SELECT {columns or 'NULL'} FROM {_q(table)}"  # noqa: S608
    return query + (f" WHERE {where}" if where else "") + (f" ORDER BY {by}" if by else "")


def _q(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _schema(connection: sqlite3.Connection) -> Schema:
    """Read the tables, and allow no more from then on than to read them."""
    query = f"SELECT name, sql FROM sqlite_master WHERE type = 'table' LIMIT {_TABLES}"  # noqa: S608
    found = connection.execute(query).fetchall()
    tables = [name for name, sql in found if isinstance(sql, str) and sql.startswith(_TABLE)]
    connection.set_authorizer(_authorizer(set(tables)))
    return {name: _columns(connection, name) for name in tables}


def _authorizer(tables: set[str]) -> Callable[..., int]:
    """Allow reads of tables, and nothing that a view or a trigger of theirs would do."""

    def allowed(action: int, *names: str | None) -> int:
        first, second, _, within = names
        match action:
            case sqlite3.SQLITE_SELECT:
                fits = True
            case sqlite3.SQLITE_READ:
                fits = first in tables
            case sqlite3.SQLITE_PRAGMA:
                fits = first == "table_xinfo"
            case _:
                fits = (action, second) == (sqlite3.SQLITE_FUNCTION, "length")
        return sqlite3.SQLITE_OK if fits and within is None else sqlite3.SQLITE_DENY

    return allowed


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    found = connection.execute(f"PRAGMA table_xinfo({_q(table)})").fetchall()
    # Hidden ones are computed when they are read.
    columns = {str(name) for _, name, *_, hidden in found if not hidden}
    if "rowid" not in {str(name).lower() for _, name, *_ in found}:
        with suppress(*_ERRORS):
            connection.execute(f"SELECT rowid FROM {_q(table)} LIMIT 0").close()  # noqa: S608
            columns.add("rowid")
    return frozenset(columns)


def _opened(address: Path | str, size: int) -> OpenDatabase:
    """Open a database so that no statement is without an end, and begin to read."""
    limits = _StatementLimits(size)
    connection = sqlite3.connect(address, isolation_level=None, uri=isinstance(address, str))
    try:
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        connection.set_progress_handler(limits, _STEPS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _SQL_BYTES)
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}").close()
        connection.execute("BEGIN")
        connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
        return OpenDatabase(connection, limits)
    except _ERRORS:
        connection.close()
        raise


def _copy_unchanged(path: Path, copy: Path) -> None:
    """Copy a database and its log as they are at one moment."""
    for _ in range(_ATTEMPTS):
        before = _state(path)
        _copy(path, copy)
        for log in LOGS:
            _beside(copy, log).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                _copy(_beside(path, log), _beside(copy, log))
        if _names_a_file(_beside(copy, "-journal")):
            break
        if _state(path) == before:
            return
    raise UnfitFile(errno.EBUSY, "it is being written; try again later", str(path))


def _names_a_file(journal: Path) -> bool:
    """Tell whether a journal is part of a change of several databases, as its end says."""
    with suppress(FileNotFoundError), journal.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - len(_JOURNAL_END)))
        return file.read() == _JOURNAL_END
    return False


def _state(path: Path) -> tuple[object, ...]:
    """Whatever changes when pages of the database do; its log may grow meanwhile."""
    status, wal = path.stat(), b""
    with suppress(OSError):
        wal, _ = read_beginning(_beside(path, "-wal"), _WAL_HEADER)
    is_logged = _beside(path, "-journal").exists()
    return status.st_ino, status.st_size, status.st_mtime_ns, wal, is_logged


def _copy(path: Path, copy: Path) -> None:
    """Copy a file as long as it was when it was opened: it may grow."""
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with (
        os.fdopen(descriptor, "wb") as target,
        os.fdopen(open_regular(path, follow=True), "rb") as original,
    ):
        left = os.fstat(original.fileno()).st_size
        while block := original.read(min(_BLOCK, left)):
            check()
            target.write(block)
            left -= len(block)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
