"""The messages between a client and a PostgreSQL server, as a proxy between them sees them.

Source: the frontend/backend protocol, version 3: a byte for the kind, then the length.
"""

import socket
from pathlib import Path

from psycopg import conninfo

SIMPLE, SYNC, FLUSH = b"Q", b"S", b"H"
_ENDS = (SIMPLE, SYNC, FLUSH)


class Messages:
    """The kinds of the messages in a stream of bytes; the first one of a client has none."""

    def __init__(self, *, begun: bool = False) -> None:
        self._unread = bytearray()
        self._begun = begun

    def take(self, data: bytes) -> list[bytes]:
        self._unread += data
        kinds = []
        while (kind := self._next()) is not None:
            kinds.append(kind)
        return kinds

    def _next(self) -> bytes | None:
        length = int(self._begun)
        if len(self._unread) < length + 4:
            return None
        end = length + int.from_bytes(self._unread[length : length + 4])
        if len(self._unread) < end:
            return None
        kind = bytes(self._unread[:length])
        del self._unread[:end]
        self._begun = True
        return kind


class Trips:
    """The messages of a client behind which it waits for the server."""

    def __init__(self) -> None:
        self._messages = Messages()
        self._last = b""

    def take(self, data: bytes) -> list[bytes]:
        return [kind for kind in self._messages.take(data) if self._is_end(kind)]

    def _is_end(self, kind: bytes) -> bool:
        # The end of a pipeline says it twice.
        is_end = kind == SIMPLE or (kind in _ENDS and self._last not in _ENDS)
        self._last = kind
        return is_end


def listen_before(server: str) -> tuple[socket.socket, str]:
    """Listen in the place of a server; gives the socket and its address for clients."""
    listening = socket.create_server(("127.0.0.1", 0))
    host, port = listening.getsockname()
    unencrypted = {"sslmode": "disable", "gssencmode": "disable"}
    return listening, conninfo.make_conninfo(server, host=host, port=port, **unencrypted)


def connected(server: dict[str, str]) -> socket.socket:
    """Connect to the server of an address, over TCP or its socket file."""
    host, port = str(server.get("host", "127.0.0.1")), server.get("port", 5432)
    if not host.startswith("/"):
        return socket.create_connection((host, int(port)))
    far = socket.socket(socket.AF_UNIX)
    try:
        far.connect(str(Path(host) / f".s.PGSQL.{port}"))
    except OSError:
        far.close()
        raise
    return far


def received(source: socket.socket) -> bytes:
    """Receive bytes; none at the end, however it came."""
    try:
        return source.recv(65536)
    except OSError:
        return b""
