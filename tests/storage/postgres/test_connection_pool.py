"""Connections to a server, and who waits for whom."""

import queue
import select
import socket
import threading
from contextlib import ExitStack

import psycopg
import pytest

from tests.builders import user
from tests.postgres_server import PostgresServer
from tests.storage.contract import SCOPE, new
from tests.storage.postgres.test_faults import say
from tests.waiting import SECONDS, until
from tui.domain.journal.records import Settings
from tui.errors import ServerTooSlow, ServerUnreachable, StorageError
from tui.storage.postgres import connection_pool
from tui.storage.postgres import connection_pool as module
from tui.storage.postgres.connection_pool import CONNECTIONS, ConnectionPool, transaction
from tui.storage.postgres.rows import ask_number
from tui.storage.protocol import SessionFilter


@pytest.fixture
def database(postgres):
    database = ConnectionPool(postgres)
    yield database
    database.close()


def test_a_save_has_a_connection_while_readers_use_all_of_theirs(database):
    with ExitStack() as readers:
        for _ in range(CONNECTIONS):
            readers.enter_context(database.connection())
        with database.saving() as connection:
            assert connection.execute("select 1").fetchone() == (1,)


def test_a_save_may_take_the_longer_the_more_it_sends(database, monkeypatch):
    monkeypatch.setattr(module, "SAVE_SECONDS", 0.1)
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.0)
    with pytest.raises(ServerUnreachable), database.saving() as connection:
        connection.execute("select pg_sleep(60)")
    with database.saving(64 * 1024 * 1024) as connection:
        connection.execute("select pg_sleep(0.5)")
        assert connection.execute("show statement_timeout").fetchone() == ("512s",)
    with database.connection() as connection:
        assert connection.execute("show statement_timeout").fetchone() == ("30s",)


def test_a_connection_is_not_lent_again_that_was_given_up_as_its_use_ended(database, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module, "SAVE_SECONDS", 0.0)
        with database.saving() as connection:
            assert select.select([connection.fileno()], [], [], SECONDS)[0], "it is shut down"
    with database.saving() as connection:
        assert connection.execute("select 1").fetchone() == (1,)


def test_a_statement_that_takes_too_long_is_no_server_that_is_away(database):
    too_slow = pytest.raises(ServerTooSlow, match="server is too slow: canceling statement")
    with too_slow as raised, database.connection() as connection:
        connection.execute("set statement_timeout = 10")
        connection.execute("select pg_sleep(60)")
    assert raised.value.short == "server too slow"


@pytest.mark.parametrize(
    ("setting", "odd", "expected"),
    [
        ("default_transaction_isolation", "serializable", "read committed"),
        ("gin_fuzzy_search_limit", "1", "0"),
    ],
)
def test_a_role_with_settings_of_its_own_has_those_that_the_store_relies_on(
    postgres, setting, odd, expected
):
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute("create role odd login superuser")
        server.execute(f"alter role odd set {setting} = '{odd}'")
    database = ConnectionPool(psycopg.conninfo.make_conninfo(postgres, user="odd"))
    try:
        with database.connection() as connection:
            assert connection.execute(f"show {setting}").fetchone() == (expected,)
    finally:
        database.close()
        with psycopg.connect(postgres, autocommit=True) as server:
            server.execute("drop role odd")


# --- being told of changes by the server


class Told:
    """What a store has told of, in order."""

    def __init__(self, store):
        self._ids = queue.Queue()
        assert store.watch(self._ids.put)
        self.until("")

    def until(self, session_id):
        """Wait until a session is told of, whatever comes before it."""
        while self.next() != session_id:
            pass

    def next(self):
        return self._ids.get(timeout=SECONDS)


def listeners():
    return [each for each in threading.enumerate() if each.name == "listener"]


def test_each_change_by_another_program_is_told(store, other):
    told = Told(store)
    lease = new(other)
    told.until(lease.session_id)
    for change in (
        lambda: other.append(lease, [user("m2")]),
        lambda: other.extend(lease, [user("m3")]),
        lease.release,
        lambda: other.archive(lease.session_id),
        lambda: other.restore(lease.session_id),
        lambda: other.lease(lease.session_id).release(),
        lambda: other.delete(lease.session_id),
        lambda: other.purge(lease.session_id),
    ):
        change()
        told.until(lease.session_id)


def test_neither_reading_nor_the_renewal_of_a_lease_is_a_change(store, other):
    first, last = new(other), new(other)
    told = Told(store)
    other.entry(first.session_id)
    other.journal(first.session_id).tail(9)
    other._leases._renew([first, last])
    other.append(last, [Settings(pinned=True)])
    assert told.next() == last.session_id


@pytest.mark.full
def test_all_may_have_changed_while_the_server_was_away(open_store):
    server = PostgresServer()
    server.start()
    try:
        store, other = open_store(server.address()), open_store(server.address())
        told = Told(store)
        server.stop()
        server.start()
        told.until("")
        told.until(new(other).session_id)
    finally:
        store.close()
        server.remove()


async def test_a_server_that_does_not_begin_to_notify_is_asked_again(store, postgres, monkeypatch):
    told = queue.Queue()
    with psycopg.connect(postgres, autocommit=True) as connection:
        with monkeypatch.context() as patch:
            asleep = b"set statement_timeout = 0; select pg_sleep(3600)"
            patch.setattr(connection_pool, "_LISTEN", asleep)
            patch.setattr(connection_pool, "_BEGIN_SECONDS", 0.5)
            assert store.watch(told.put)
            active = "from pg_stat_activity where query like '%(3600)' and state = 'active'"
            await until(lambda: connection.execute(f"select {active}").rowcount)
        assert told.get(timeout=SECONDS) == ""
        # It would sleep on without its client, and whoever waits for a quiet server with it.
        connection.execute(f"select pg_terminate_backend(pid) {active}")


def test_closing_ends_the_connection_and_its_thread_also_of_a_server_that_is_away(
    store, open_store, tmp_path
):
    Told(store)
    store.close()
    assert not listeners()
    away = open_store(f"postgresql:///none?host={tmp_path}")
    assert away.watch(lambda _: None)
    away.close()
    assert not listeners()


# --- a server that takes connections and never answers


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


def test_only_the_first_one_waits_for_it(silent, open_store):
    port, came = silent
    store = open_store(f"postgresql://someone@127.0.0.1:{port}/x?connect_timeout=2")
    with pytest.raises(ServerUnreachable):
        store.count(SessionFilter())
    waited = len(came)
    assert waited
    for _ in range(3):
        with pytest.raises(ServerUnreachable, match="no answer"):
            store.count(SessionFilter())
    assert len(came) == waited


# --- a program that is stopped in the middle of a transaction


@pytest.mark.full
def test_it_does_not_keep_a_scope_from_others(store, database):
    lease = store.create(SCOPE, "/shop", "m")

    def stop():
        with database.connection() as stopped, transaction(stopped):
            assert ask_number(stopped, SCOPE).fetchone() == (1,)
            found.append(say(store, lease, "m").ordinal)

    found = []
    with pytest.raises(StorageError):
        # The server has ended its transaction.
        stop()
    assert found == [1]
