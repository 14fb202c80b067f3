"""Listens for changes over a connection of its own, which does nothing else.

The tables' triggers notify of each session that is written, leased, released or moved.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.errors import StorageError
from tui.storage.postgres.connection_pool import ConnectionPool
from tui.storage.postgres.hanging import HangWatch, hang_up
from tui.storage.postgres.tables import CHANNEL

if TYPE_CHECKING:
    from psycopg import Connection

_LISTEN = f"listen {CHANNEL}".encode()
_CHECK_SECONDS = 5.0
"""The longest silence, after which the connection is checked."""
_BEGIN_SECONDS = 5.0
"""The longest wait for the server to begin."""
_AGAIN_SECONDS = 1.0
"""Until the next try after a connection was lost."""
_END_SECONDS = 2.0


class Listener:
    """Calls ``changed`` with the id of each session that changed; reconnects by itself."""

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
                for notice in connection.notifies(timeout=_CHECK_SECONDS):
                    self._changed(notice.payload)
        finally:
            self._use(None)

    def _use(self, connection: "Connection | None") -> None:
        with self._lock:
            self._connection = connection
            if self._ended.is_set() and connection is not None:
                hang_up(connection)
