"""Being told of changes by the server."""

import queue
import threading

import psycopg
import pytest

from tests.builders import user
from tests.postgres_server import PostgresServer
from tests.storage.contract import new
from tests.waiting import SECONDS, until
from tui.domain.journal.records import Settings
from tui.storage.postgres import connection_pool


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
    with monkeypatch.context() as patch, psycopg.connect(postgres, autocommit=True) as connection:
        patch.setattr(
            connection_pool, "_LISTEN", b"set statement_timeout = 0; select pg_sleep(3600)"
        )
        patch.setattr(connection_pool, "_BEGIN_SECONDS", 0.5)
        assert store.watch(told.put)
        asked = "select from pg_stat_activity where query like '%(3600)' and state = 'active'"
        await until(lambda: connection.execute(asked).rowcount)
    assert told.get(timeout=SECONDS) == ""


def test_closing_ends_the_connection_and_its_thread(store):
    Told(store)
    store.close()
    assert not listeners()


def test_a_server_that_is_away_hinders_neither_watching_nor_closing(open_store, tmp_path):
    store = open_store(f"postgresql:///none?host={tmp_path}")
    assert store.watch(lambda _: None)
    store.close()
    assert not listeners()
