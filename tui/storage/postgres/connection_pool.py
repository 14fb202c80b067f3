"""Connections to the server: lent, watched, listened to; its errors as those of a store.

A proxy or a tunnel may live and yet hold an answer back for ever, which no time-out of TCP sees:
shutting the socket down, from another thread, ends the wait at once.
"""

import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tui.errors import ServerRefused, ServerTooSlow, ServerUnreachable, StorageError, StorageFull
from tui.storage.postgres.tables import CHANNEL, SCHEMA, migrate

if TYPE_CHECKING:
    # The library is slow to import, and the first screen does not need it.
    from psycopg import Connection, Cursor, Error, Pipeline

# Without a handler its warnings would go to standard error, which is the screen.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

CONNECTIONS = 5
"""At most, of one program; its screen has one of them for notifications alone."""
SAVING = 2
"""Connections beside them, for saves and leases alone: no save waits for a search."""
WAIT_SECONDS = 5.0
"""For a free connection of the pool."""
USE_SECONDS = 35.0
"""Of one use: longer than a statement may take at the server."""
SAVE_SECONDS = 8.0
"""Of an append: the user is told after that. One of many bytes may take longer."""
_STATEMENT_SECONDS = 30
_SLOW_LINE = 128 * 1024
"""Bytes a second."""
_FRESH_SECONDS = 4.0
"""Longer than the time between two renewals of leases: a save there asks nothing first."""
_CHECK_SECONDS = 3.0
_SILENT_SECONDS = 1.5
"""A connection that fails after so long got no answer; another reason is known at once."""
_PAUSE_SECONDS = 7.0
"""Longer than the screen's listener takes to try again."""
_LISTEN = f"listen {CHANNEL}".encode()
_LISTEN_SECONDS = 5.0
"""The longest silence, after which the connection is checked."""
_BEGIN_SECONDS = 5.0
"""The longest wait for the server to begin."""
_AGAIN_SECONDS = 1.0
"""Until the next try after a connection was lost."""
_END_SECONDS = 2.0
_OPTIONS = (
    f"-c search_path={SCHEMA} -c client_min_messages=warning -c synchronous_commit=on"
    " -c tcp_user_timeout=5000 -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2"
    " -c tcp_keepalives_count=2 -c idle_in_transaction_session_timeout=5000 -c lock_timeout=4000"
    f" -c statement_timeout={_STATEMENT_SECONDS}s"
    # A role may have others: a stricter level fails beside other writers, a limit hides results.
    r" -c default_transaction_isolation=read\ committed -c gin_fuzzy_search_limit=0"
)
_DEFAULTS = {
    "application_name": "sibyl-tui",
    "client_encoding": "utf8",
    "connect_timeout": "4",
    "tcp_user_timeout": "4000",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "2",
}
_CONNECTING = re.compile("^connection (failed|is bad): (connection to server .+? failed: )?")
"""The user knows the address; the reason behind it must fit on the screen."""
_SETTINGS = (
    "select current_setting('search_path'), current_setting('synchronous_commit'), pg_backend_pid()"
)
_POOLERS = ("unsupported startup parameter", "unrecognized configuration parameter")
_REFUSALS = (
    "authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "is not permitted to log in",
    "permission denied for database",
)
"""Of a connection, which has no code of the error; a server may say them in another language."""
_NO_RIGHT = "42501"
_NO_ADDRESS = (
    "This is not the address of a store. Expected: postgresql://[USER@]HOST[:PORT]/DATABASE"
)
_NOT_INSTALLED = (
    'The library for PostgreSQL is not installed. Run: python3 -m pip install "sibyl-tui[postgres]"'
)
_POOLER = (
    "A pooler before the store's server drops the settings of the connection. Name the server"
    " itself in the address, or a pooler for whole sessions that passes options on."
)
_TRANSACTION_POOLER = (
    "A pooler before the store's server lends a connection for each transaction only. Set its"
    " pool_mode to session, or name the server itself in the address."
)
_MARK = "sibyl.mark"
_POOLER_TRIALS = 3
"""Another program may come between the two connections of one."""
_NOT_DURABLE = (
    "The store's server would lose messages in a crash: synchronous_commit is off. Remove it from"
    " the address and from the pooler."
)
_FULL = ("53100", "53200")
_TOO_SLOW = ("55P03", "57014")
"""A lock was not free in time; a statement took too long."""


class ConnectionPool:
    """A few connections, opened when they are needed and kept for the next use; thread-safe."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._idle: list[tuple[float, Connection]] = []
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._saving = threading.BoundedSemaphore(SAVING)
        self._watch = HangWatch()
        self._migrated = False
        self._is_closed = False
        self._silent_until = 0.0

    @contextmanager
    def connection(self, seconds: float = USE_SECONDS) -> Generator["Connection"]:
        """Lend a connection, in autocommit, for so many seconds.

        Raises ``StorageError``, whatever the server says, and ``ServerUnreachable`` if it is late.
        """
        with self._place(self._free), self._lent(seconds) as connection:
            yield connection

    def execute(self, query: str, values: Any = None) -> list[Any]:
        """Execute one statement, made of constants; gives its rows. Raises as ``connection``."""
        with self.connection() as connection:
            cursor = connection.execute(query.encode(), values)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def saving(self, size: int = 0) -> Generator["Connection"]:
        """Lend a connection as ``connection`` does, for what must not wait for readers.

        ``size`` is that of the bytes to be sent.
        """
        seconds = SAVE_SECONDS + size / _SLOW_LINE
        with self._place(self._saving), self._lent(seconds) as connection:
            if seconds <= _STATEMENT_SECONDS:
                yield connection
                return
            # The server counts from the first of the bytes.
            connection.execute(f"set statement_timeout = '{int(seconds)}s'".encode())
            yield connection
            connection.execute("reset statement_timeout")

    @contextmanager
    def lasting(self) -> Generator["Connection"]:
        """Lend a new connection for as long as it works. Raises as ``connection``."""
        with self._place(self._free), self._connect() as connection:
            self._silent_until = 0.0
            yield connection

    def answers(self, connection: "Connection") -> bool:
        """Ask a connection if it works."""
        import psycopg

        try:
            with self._watch.over(connection, _CHECK_SECONDS):
                connection.execute("")
        except psycopg.Error:
            return False
        return not connection.closed

    def close(self) -> None:
        """Close the connections, those in use as soon as they are given back."""
        self._is_closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop()[1].close()

    @contextmanager
    def _place(self, free: threading.BoundedSemaphore) -> Generator[None]:
        if not free.acquire(timeout=WAIT_SECONDS):
            raise ServerUnreachable("all connections are busy")
        try:
            import psycopg
        except ImportError as error:
            free.release()
            raise StorageError(_NOT_INSTALLED) from error
        try:
            yield
        except psycopg.Error as error:
            raise storage_error(error) from error
        finally:
            free.release()

    @contextmanager
    def _lent(self, seconds: float) -> Generator["Connection"]:
        from psycopg.pq import TransactionStatus

        connection = self._taken()
        try:
            with self._silence_noted(), self._watch.over(connection, seconds):
                yield connection
        finally:
            # Not one that broke, nor one that was left in the middle of something.
            is_idle = connection.info.transaction_status is TransactionStatus.IDLE
            if is_idle and not self._is_closed:
                self._idle.append((time.monotonic(), connection))
            else:
                connection.close()

    def _taken(self) -> "Connection":
        """Take a connection that works: one that lay idle is asked first."""
        while self._idle:
            with suppress(IndexError):
                since, connection = self._idle.pop()
                if time.monotonic() - since < _FRESH_SECONDS or self.answers(connection):
                    return connection
                connection.close()
                # The others lay idle for longer.
                self._close_idle()
        if time.monotonic() < self._silent_until:
            raise ServerUnreachable("no answer")
        return self._connect()

    @contextmanager
    def _silence_noted(self) -> Generator[None]:
        """Let nobody else wait for a server that was waited for in vain just now."""
        import psycopg

        begun = time.monotonic()
        try:
            yield
        except psycopg.Error as error:
            if error.sqlstate is None and time.monotonic() - begun >= _SILENT_SECONDS:
                self._close_idle()
                self._silent_until = time.monotonic() + _PAUSE_SECONDS
            raise

    def _connect(self) -> "Connection":
        import psycopg

        with self._silence_noted():
            connection = self._opened()
        if not self._migrated:
            try:
                with self._watch.over(connection, USE_SECONDS):
                    self._check_pooler(connection)
                    migrate(connection)
            except (psycopg.Error, StorageError):
                connection.close()
                raise
            self._migrated = True
        return connection

    def _opened(self) -> "Connection":
        import psycopg

        text = connection_text(self._address)
        return psycopg.connect(text, autocommit=True, cursor_factory=_cursor_type())

    def _check_pooler(self, connection: "Connection") -> None:
        """Refuse a pooler that drops our settings, or lends a connection for each transaction.

        The last is found out by a trial with two, where another process than the server's answers.
        """
        path, commit, process = connection.execute(_SETTINGS).fetchone() or ("", "", 0)
        if SCHEMA not in path:
            raise StorageError(_POOLER)
        if commit == "off":
            raise StorageError(_NOT_DURABLE)
        if process == connection.info.backend_pid:
            return
        mark = f"select current_setting('{_MARK}', true)"
        with self._opened() as other, self._watch.over(other, _CHECK_SECONDS):
            for number in map(str, range(_POOLER_TRIALS)):
                connection.execute("select set_config(%s, %s, false)", (_MARK, number))
                seen = other.execute(mark).fetchone(), connection.execute(mark).fetchone()
                if seen[0] == (number,) or seen[1] != (number,):
                    raise StorageError(_TRANSACTION_POOLER)


_pipelines: "WeakKeyDictionary[Connection, Pipeline]" = WeakKeyDictionary()
"""Of the transactions under way."""


@cache
def _cursor_type() -> "type[Cursor]":
    """Make the type of our cursors; its base is slow to import."""
    from psycopg import Cursor

    class SyncedCursor(Cursor[Any]):
        """A cursor that ends its request, also in a pipeline, before it reads the answer.

        Otherwise the server knows of no pause, and a program that is stopped between two requests
        of a transaction would keep its locks: no time-out of an idle transaction would run.
        """

        def fetchone(self) -> Any:
            self._end_request()
            return super().fetchone()

        def fetchall(self) -> list[Any]:
            self._end_request()
            return super().fetchall()

        def _end_request(self) -> None:
            pipeline = _pipelines.get(self.connection)
            if pipeline is not None:
                pipeline.sync()

    return SyncedCursor


@contextmanager
def transaction(connection: "Connection") -> Generator[None]:
    """Run statements as one transaction, and wait for the server only where a result is read.

    The library's own transactions wait for the server at their beginning and at their end.
    """
    try:
        with connection.pipeline() as pipeline:
            _pipelines[connection] = pipeline
            try:
                connection.execute("begin")
                yield
                connection.execute("commit")
            finally:
                del _pipelines[connection]
    except BaseException:
        from psycopg import Error

        with suppress(Error):
            connection.rollback()
        raise


def connection_text(address: str) -> str:
    """Complete an address by our time-outs; what it says itself wins."""
    from psycopg import ProgrammingError, conninfo

    try:
        parsed = conninfo.conninfo_to_dict(address)
    except ProgrammingError:
        # Not its words, nor the error: they quote parts of the address, and it may have a password.
        raise StorageError(_NO_ADDRESS) from None
    given = {key: str(value) for key, value in parsed.items() if value}
    options = f"{_OPTIONS} {given.pop('options', '')}".strip()
    return conninfo.make_conninfo(**{**_DEFAULTS, **given, "options": options})


def storage_error(error: "Error") -> StorageError:
    """Convert an error of the library, by its code, else by its words."""
    from psycopg import OperationalError

    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if error.sqlstate in _FULL:
        return StorageFull(f"The store's server has no room: {reason}")
    if error.sqlstate in _TOO_SLOW:
        return ServerTooSlow(reason)
    if error.sqlstate == _NO_RIGHT:
        return ServerRefused(f"{reason}. docs/postgres.md names the rights that it takes")
    if any(words in reason for words in _POOLERS):
        return StorageError(_POOLER)
    if any(words in reason for words in _REFUSALS):
        return ServerRefused(_CONNECTING.sub("", reason).removeprefix("FATAL:").strip())
    if isinstance(error, OperationalError):
        return ServerUnreachable(_CONNECTING.sub("", reason))
    return ServerRefused(reason)


class HangWatch:
    """Shuts down each connection that is used for longer than it may be; thread-safe."""

    def __init__(self) -> None:
        self._uses: dict[int, tuple[float, int]] = {}
        self._changed = threading.Condition()
        self._number = 0
        self._watching = False

    @contextmanager
    def over(self, connection: "Connection", seconds: float) -> Generator[None]:
        """Watch over one use of a connection."""
        # A descriptor of its own: the library may close its own one meanwhile.
        try:
            watched = os.dup(connection.fileno())
        except OSError as error:
            from psycopg import OperationalError

            # As the library says it where it has none left to connect with.
            raise OperationalError(str(error)) from error
        with self._changed:
            number = self._number = self._number + 1
            self._uses[number] = time.monotonic() + seconds, watched
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._watch, daemon=True, name="server").start()
        try:
            yield
        finally:
            with self._changed:
                use = self._uses.pop(number, None)
            if use is not None:
                os.close(watched)
            else:
                # It is shut down, or is about to be: nobody else may get it.
                connection.close()

    def _watch(self) -> None:
        while True:
            with self._changed:
                if not self._uses:
                    self._watching = False
                    return
                first = min(deadline for deadline, _ in self._uses.values())
                late = [key for key, (at, _) in self._uses.items() if at <= time.monotonic()]
                ended = [self._uses.pop(key)[1] for key in late]
                if not ended:
                    self._changed.wait(max(0.05, min(first - time.monotonic(), 1.0)))
            for descriptor in ended:
                _shut_down(descriptor)


def hang_up(connection: "Connection") -> None:
    """End a connection that another thread waits for."""
    from psycopg import OperationalError

    with suppress(OperationalError):
        # It may have ended by itself.
        _shut_down(os.dup(connection.fileno()))


def _shut_down(descriptor: int) -> None:
    # The socket takes the descriptor over, and closes it.
    with suppress(OSError), socket.socket(fileno=descriptor) as connected:
        connected.shutdown(socket.SHUT_RDWR)


class Listener:
    """Calls ``changed`` with the id of each session that changed; reconnects by itself.

    It has a connection of its own; the tables' triggers notify of each session that is written,
    leased, released or moved.
    """

    def __init__(self, database: ConnectionPool, changed: Callable[[str], None]) -> None:
        self._database = database
        self._changed = changed
        self._watch = HangWatch()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="listener")
        self._thread.start()

    def close(self) -> None:
        """End the connection and its thread."""
        self._ended.set()
        with self._lock:
            if self._connection is not None:
                hang_up(self._connection)
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                with self._database.lasting() as connection:
                    self._listen(connection)
            except StorageError:
                # Followers poll meanwhile.
                self._ended.wait(_AGAIN_SECONDS)

    def _listen(self, connection: "Connection") -> None:
        self._use(connection)
        try:
            with self._watch.over(connection, _BEGIN_SECONDS):
                connection.execute(_LISTEN)
            # Nothing was heard of earlier changes.
            self._changed("")
            while not self._ended.is_set() and self._database.answers(connection):
                for notice in connection.notifies(timeout=_LISTEN_SECONDS):
                    self._changed(notice.payload)
        finally:
            self._use(None)

    def _use(self, connection: "Connection | None") -> None:
        with self._lock:
            self._connection = connection
            if self._ended.is_set() and connection is not None:
                hang_up(connection)
