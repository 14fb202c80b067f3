"""A pooler that lends its one connection to each client for a transaction, as PgBouncer may."""

import os
import socket
import struct
import threading
from contextlib import suppress

from psycopg import conninfo

from tests.storage.postgres.wire import connected, listen_before


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


class TransactionPooler:
    """Speaks the protocol as far as a simple request and its answer; sets what its role would."""

    def __init__(self, server: str) -> None:
        wanted = conninfo.conninfo_to_dict(server)
        self._server = connected(wanted)
        self._lending = threading.Lock()
        options = "-c search_path=sibyl -c synchronous_commit=on"
        names = {"user": wanted["user"], "database": wanted["dbname"], "options": options}
        fields = b"".join(f"{key}\0{value}\0".encode() for key, value in names.items())
        self._server.sendall(message(b"", struct.pack("!I", 3 << 16) + fields + b"\0"))
        greeting = self._answer()
        self._greeting = [each for each in greeting if each[:1] != b"K"]
        self._listening, self.address = listen_before(server)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for end in (self._listening, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listening.accept()[0]
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65536)
            key = message(b"K", os.urandom(8))
            client.sendall(b"".join([*self._greeting[:-1], key, self._greeting[-1]]))
            while (asked := client.recv(65536)) and asked[:1] != b"X":
                with self._lending:
                    self._server.sendall(asked)
                    client.sendall(b"".join(self._answer()))

    def _answer(self) -> list[bytes]:
        """The messages of the server up to the one that says that no transaction is open."""
        found: list[bytes] = []
        while not found or found[-1] != message(b"Z", b"I"):
            kind = self._received(1)
            length = self._received(4)
            found.append(kind + length + self._received(struct.unpack("!I", length)[0] - 4))
        return found

    def _received(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._server.recv(size - len(data))
            if not more:
                raise ConnectionResetError
            data += more
        return data
