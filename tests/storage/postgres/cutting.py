"""A proxy before a server that counts trips, and breaks off or falls silent at one of them."""

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from psycopg import conninfo

from tests.storage.postgres.wire import FLUSH, Messages, Trips, connected, listen_before, received

if TYPE_CHECKING:
    from collections.abc import Callable

Moment = Literal["request", "answer", "late"]
"""The trip's request never comes to the server, its answer never comes back, or the request comes
only when the client has long gone."""
_READY = b"Z"


class Cutter:
    """Passes everything on and counts the trips, until the one at which it cuts the connection."""

    def __init__(self, server: str) -> None:
        self._server = conninfo.conninfo_to_dict(server)
        self._listening, self.address = listen_before(server)
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.trips = 0
        self._at = 0
        self._moment: Moment = "request"
        self._stays_away = False
        self._away = False
        self._late: list[tuple[socket.socket, bytes]] = []
        self.has_cut = threading.Event()
        self.between: Callable[[], None] = lambda: None
        """Done once a connection is cut, before its client notices."""
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, trip: int, moment: Moment, *, stays_away: bool) -> None:
        """Cut at a trip from now on; the server may be away then until ``heal``."""
        with self._lock:
            self.trips, self._at, self._moment = 0, trip, moment
            self._stays_away = stays_away
            self.has_cut.clear()

    def heal(self) -> None:
        with self._lock:
            self._at, self._away = 0, False

    def deliver(self) -> None:
        """Let the late request arrive, and wait until the server is through with it."""
        while self._late:
            far, data = self._late.pop()
            far.sendall(data)
            far.shutdown(socket.SHUT_WR)
            while received(far):
                pass
            far.close()

    def close(self) -> None:
        self.heal()
        for far, _ in self._late:
            far.close()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._hang_up()

    def counted(self) -> Moment | None:
        """Count a trip; gives the moment at which it is to be cut."""
        with self._lock:
            self.trips += 1
            if self.trips != self._at:
                return None
            return self._moment

    def cut_now(self) -> None:
        with self._lock:
            self._away = self._stays_away
        self.has_cut.set()
        if self._stays_away:
            self._hang_up()
        self.between()

    def keep_late(self, far: socket.socket, data: bytes) -> None:
        with self._lock:
            self._sockets.discard(far)
            self._late.append((far, data))

    def _accept(self) -> None:
        while True:
            try:
                near = self._listening.accept()[0]
            except OSError:
                return
            if self._away:
                near.close()
                continue
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                far = connected(self._server)
            except OSError:
                near.close()
                continue
            with self._lock:
                self._sockets |= {near, far}
            _Line(self, near, far).start()

    def _hang_up(self) -> None:
        with self._lock:
            ends, self._sockets = self._sockets, set()
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class _Line:
    """One connection: its requests are counted, and the answer of the one to be cut is kept."""

    def __init__(self, cutter: Cutter, near: socket.socket, far: socket.socket) -> None:
        self._cutter = cutter
        self._near, self._far = near, far
        self._trips, self._answers = Trips(), Messages(begun=True)
        self._holds_answers = self._waits = self._late = False

    def start(self) -> None:
        for work in (self._ask, self._answer):
            threading.Thread(target=work, daemon=True).start()

    def _ask(self) -> None:
        while data := received(self._near):
            for kind in self._trips.take(data):
                moment = self._cutter.counted()
                if moment in ("request", "late"):
                    if moment == "late":
                        self._keep_late(data)
                    self._cutter.cut_now()
                    self._end()
                    return
                if moment == "answer":
                    # A flush ends with no message of its own; nothing is committed by it.
                    self._holds_answers, self._waits = True, kind != FLUSH
            if not _sent(self._far, data):
                break
        self._end()

    def _answer(self) -> None:
        while not self._late and (data := received(self._far)):
            kinds = list(self._answers.take(data))
            if not self._holds_answers:
                if not _sent(self._near, data):
                    break
            elif _READY in kinds or not self._waits:
                # The server is through with it.
                self._cutter.cut_now()
                self._end()
                return
        self._end()

    def _keep_late(self, data: bytes) -> None:
        # A socket of its own, which the end of this line does not shut.
        self._late = True
        self._cutter.keep_late(self._far, data)

    def _end(self) -> None:
        for end in (self._near,) if self._late else (self._near, self._far):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _sent(target: socket.socket, data: bytes) -> bool:
    try:
        target.sendall(data)
    except OSError:
        return False
    return True
