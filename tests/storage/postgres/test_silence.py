"""A server that takes connections and never answers."""

import socket
import threading

import pytest

from tui.errors import ServerUnreachable
from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import SessionFilter


@pytest.fixture
def silent():
    """The port of such a server, and the connections to it."""
    came = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            while True:
                try:
                    came.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], came
        server.shutdown(socket.SHUT_RDWR)
    for each in came:
        each.close()


def test_only_the_first_one_waits_for_it(silent, clock):
    port, came = silent
    store = PostgresStore(f"postgresql://someone@127.0.0.1:{port}/x?connect_timeout=2", clock)
    with pytest.raises(ServerUnreachable):
        store.count(SessionFilter())
    waited = len(came)
    assert waited
    for _ in range(3):
        with pytest.raises(ServerUnreachable, match="no answer"):
            store.count(SessionFilter())
    assert len(came) == waited
    store.close()
