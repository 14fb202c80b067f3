"""A line to a server which is as long as a test wants it, and counts the trips along it."""

import queue
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from psycopg import conninfo

from tests.storage.postgres.wire import Trips, connected, received


class Link:
    """Passes everything on between programs and a server, and counts what they wait for."""

    def __init__(self, server: str, seconds: float = 0.0) -> None:
        self._server = conninfo.conninfo_to_dict(server)
        self._seconds = seconds
        self.trips = 0
        self.cuts = ""
        """``request`` loses the next request on its way, ``answer`` what the server says to it."""
        self.spared = 0
        """How many of them pass before that."""
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = [self._listening]
        self.address = conninfo.make_conninfo(
            server,
            host="127.0.0.1",
            port=self._listening.getsockname()[1],
            sslmode="disable",
            gssencmode="disable",
        )
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
            self._pass(near, far, self._count(Trips()), "request")
            self._pass(far, near, lambda _: None, "answer")

    def _count(self, trips: Trips) -> Callable[[bytes], None]:
        def count(data: bytes) -> None:
            self.trips += len(trips.take(data))

        return count

    def _is_cut(self, kind: str) -> bool:
        if self.cuts != kind:
            return False
        self.spared -= 1
        if self.spared >= 0:
            return False
        self.cuts = ""
        return True

    def _pass(self, source, target, note, kind) -> None:
        waiting = queue.Queue()

        def read():
            while data := received(source):
                if self._is_cut(kind):
                    for end in (source, target):
                        end.shutdown(socket.SHUT_RDWR)
                    return
                note(data)
                waiting.put((time.monotonic() + self._seconds, data))
            waiting.put((0, b""))

        def write():
            while (item := waiting.get())[1]:
                time.sleep(max(0.0, item[0] - time.monotonic()))
                try:
                    target.sendall(item[1])
                except OSError:
                    return
            try:
                target.shutdown(socket.SHUT_WR)
            except OSError:
                return

        for work in (read, write):
            threading.Thread(target=work, daemon=True).start()
