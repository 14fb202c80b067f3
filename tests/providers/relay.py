"""A forward proxy on loopback, and a front that speaks TLS for a server that does not.

Both pass bytes on to one port, whatever host they are asked for, so that a test can use names of
servers that are not on this machine: those on it are never asked through a proxy.
"""

import base64
import select
import socket
import ssl
import threading
from socketserver import StreamRequestHandler, ThreadingTCPServer

from tests.providers.loopback import InThreads, reset

_HELD = "HTTP/1.1 200 Connection established\r\n\r\n"


class _Relay(InThreads):
    dies_after: int | None = None

    def __init__(self, target: int, tls: ssl.SSLContext | None = None):
        super().__init__(_Server(self), threading.Event())
        self.target = target
        self.tls = tls

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def serve(self, client: "_Client") -> None:
        """Serve one connection."""
        client.relay(client.request)


class TlsFront(_Relay):
    """A server that speaks TLS: ``tls`` has its certificate."""

    @property
    def base_url(self) -> str:
        return f"https://{self.place}/v1"

    def serve(self, client: "_Client") -> None:
        client.relay_with_tls()


class ForwardProxy(_Relay):
    """A proxy that logs; with ``tls`` it opens the TLS of others, with certificates of its own.

    ``user`` is the only ``USER:PASSWORD`` that it takes, ``refuses`` a status that it answers
    instead, and after ``dies_after`` bytes of the server it resets the connection.
    """

    def __init__(
        self,
        target: int,
        tls: ssl.SSLContext | None = None,
        *,
        user: str = "",
        refuses: int = 0,
        dies_after: int | None = None,
    ):
        super().__init__(target, tls)
        self.log: list[str] = []
        """The first lines of the requests, without their version."""
        self.heads: list[str] = []
        self._user = user
        self._refuses = refuses
        self.dies_after = dies_after

    @property
    def root(self) -> str:
        return f"http://{self.place}"

    def serve(self, client: "_Client") -> None:
        head = client.head()
        first, _, headers = head.partition("\r\n")
        self.heads.append(head)
        self.log.append(first.rpartition(" ")[0])
        if status := self._refusal(headers):
            page = f"<html>{status} by a proxy</html>"
            kind = "Content-Type: text/html\r\nProxy-Authenticate: Basic"
            answer = f"HTTP/1.1 {status} No\r\n{kind}\r\nContent-Length: {len(page)}\r\n\r\n{page}"
            client.request.sendall(answer.encode())
        elif first.startswith("CONNECT "):
            client.request.sendall(_HELD.encode())
            (client.relay_with_tls if self.tls else client.relay)()
        else:
            client.relay(first=_for_server(first, headers))

    def _refusal(self, headers: str) -> int:
        wanted = base64.b64encode(self._user.encode()).decode()
        if self._user and f"authorization: basic {wanted}".lower() not in headers.lower():
            return 407
        return self._refuses


class SocksProxy(_Relay):
    """A proxy that speaks SOCKS 5, for anybody, and logs where it is asked to connect."""

    def __init__(self, target: int):
        super().__init__(target)
        self.log: list[str] = []

    @property
    def root(self) -> str:
        return f"socks5h://{self.place}"

    def serve(self, client: "_Client") -> None:
        _, methods = client.rfile.read(2)
        client.rfile.read(methods)
        client.request.sendall(b"\x05\x00")
        # Version, command, reserved, and the kind of the address: a name.
        assert client.rfile.read(4) == b"\x05\x01\x00\x03"
        (length,) = client.rfile.read(1)
        name = client.rfile.read(length).decode()
        self.log.append(f"{name}:{int.from_bytes(client.rfile.read(2))}")
        client.request.sendall(b"\x05\x00\x00\x01" + bytes(6))
        client.relay()


def _for_server(first: str, headers: str) -> bytes:
    """A request as the server gets it: with the path alone, and without what is the proxy's."""
    method, address, version = first.split(" ")
    path = "/" + address.split("/", 3)[3]
    kept = [line for line in headers.split("\r\n") if not line.lower().startswith("proxy-")]
    return "\r\n".join([f"{method} {path} {version}", *kept]).encode()


class _Client(StreamRequestHandler):
    server: "_Server"
    request: socket.socket
    # What follows the head is the server's.
    rbufsize = 0

    def handle(self) -> None:
        try:
            self.server.relay.serve(self)
        except OSError:
            # The other side went away, or wants no such certificate.
            return

    def head(self) -> str:
        lines: list[bytes] = []
        while (line := self.rfile.readline()).strip():
            lines.append(line)
        return b"".join([*lines, b"\r\n"]).decode("latin-1")

    def relay_with_tls(self) -> None:
        tls = self.server.relay.tls
        assert tls
        wrapped = tls.wrap_socket(self.request, server_side=True, do_handshake_on_connect=False)
        with wrapped as client:
            try:
                client.do_handshake()
            except ssl.SSLError:
                # A reset could overtake the alert that says why.
                client.shutdown(socket.SHUT_WR)
                while client.recv(65_536):
                    pass
                raise
            self.relay(client)
            # Without this word of farewell, the end of a reply looks like an attack.
            client.unwrap()

    def relay(self, client: socket.socket | None = None, first: bytes = b"") -> None:
        client = client or self.request
        relay = self.server.relay
        left = relay.dies_after
        with socket.create_connection(("127.0.0.1", relay.target)) as server:
            server.sendall(first)
            while not relay.stopped.is_set():
                for side in _readable(client, server):
                    data = side.recv(65_536)
                    if not data:
                        return
                    if side is server and left is not None:
                        data, left = data[:left], left - len(data)
                    (server if side is client else client).sendall(data)
                    if left is not None and left <= 0:
                        reset(client)
                        return


def _readable(*sides: socket.socket) -> list[socket.socket]:
    waiting = [side for side in sides if isinstance(side, ssl.SSLSocket) and side.pending()]
    return waiting or select.select(sides, [], [], 0.01)[0]


class _Server(ThreadingTCPServer):
    def __init__(self, relay: _Relay) -> None:
        self.relay = relay
        super().__init__(("127.0.0.1", 0), _Client)
