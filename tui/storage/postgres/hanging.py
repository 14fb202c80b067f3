"""Ends connections that hang: a proxy or a tunnel may live and yet hold an answer back for ever.

No time-out of TCP sees that. Shutting the socket down, from another thread, ends the wait at once.
"""

import os
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import Connection


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
