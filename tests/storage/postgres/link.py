"""A line to a server that counts the trips along it, and may lose an answer."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from psycopg import conninfo

from tests.storage.postgres.wire import Trips, connected, listen_before, received


class Link:
    """Passes everything on between programs and a server, and counts what they wait for."""

    def __init__(self, server: str) -> None:
        self._server = conninfo.conninfo_to_dict(server)
        self.trips = 0
        self.loses_answer = False
        """True to lose what the server says next, and the connection with it."""
        self._listening, self.address = listen_before(server)
        self._ends: list[socket.socket] = [self._listening]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for end in self._ends:
            # Whoever reads there is woken.
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                near = self._listening.accept()[0]
            except OSError:
                return
            far = connected(self._server)
            self._ends += [near, far]
            for end in (near, far):
                if end.family != socket.AF_UNIX:
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            trips = Trips()
            for way in (
                (near, far, lambda data, trips=trips: self._count(trips, data)),
                (far, near, self._is_passed),
            ):
                threading.Thread(target=_pass, args=way, daemon=True).start()

    def _count(self, trips: Trips, data: bytes) -> bool:
        self.trips += len(trips.take(data))
        return True

    def _is_passed(self, _: bytes) -> bool:
        passed = not self.loses_answer
        self.loses_answer = False
        return passed


def _pass(source: socket.socket, target: socket.socket, is_passed: Callable[[bytes], bool]) -> None:
    how = socket.SHUT_WR
    with suppress(OSError):
        while data := received(source):
            if not is_passed(data):
                source.shutdown(socket.SHUT_RDWR)
                how = socket.SHUT_RDWR
                break
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(how)
