"""A copy of the server takes over; both are named in the address."""

import socket
import time

import psycopg
import pytest

from tests.builders import texts, user
from tests.postgres_server import PostgresServer
from tests.storage.postgres.test_faults import say
from tests.waiting import SECONDS
from tui.errors import ServerUnreachable, SessionDamaged
from tui.storage.postgres.store import PostgresStore

pytestmark = pytest.mark.full


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def wait_until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def servers():
    """A server and its copy, which follows."""
    primary = PostgresServer("-c wal_level=replica -c max_wal_senders=4", free_port())
    primary.start()
    copy = primary.replica(free_port())
    copy.start()
    yield primary, copy
    for each in (copy, primary):
        each.remove()


@pytest.fixture
def store(servers):
    hosts = ",".join(f"127.0.0.1:{each.port}" for each in servers)
    store = PostgresStore(f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write")
    yield store
    store.close()


def let_commits_wait(primary):
    """Let commits wait for the copy."""
    with psycopg.connect(primary.address(), autocommit=True) as connection:
        connection.execute("alter system set synchronous_standby_names = '*'")
        connection.execute("select pg_reload_conf()")
        query = "select sync_state from pg_stat_replication"
        wait_until(lambda: connection.execute(query).fetchall() == [("sync",)])


def wait_for_copy(primary):
    query = "select bool_and(replay_lsn >= pg_current_wal_lsn()) from pg_stat_replication"
    with psycopg.connect(primary.address(), autocommit=True) as connection:
        wait_until(lambda: connection.execute(query).fetchone() == (True,))


def test_what_was_acknowledged_is_at_a_copy_for_which_commits_wait(servers, store):
    primary, copy = servers
    let_commits_wait(primary)
    lease = store.create("project:/shop", "/shop", "m")
    said = [f"m{number}" for number in range(30)]
    for content in said[:20]:
        say(store, lease, content)
    primary.kill()
    with pytest.raises(ServerUnreachable):
        store.append(lease, [user("m20", "m20")])
    copy.promote()
    for content in said[20:]:
        assert say(store, lease, content).ordinal == 1
    assert texts(store.journal(lease.session_id).load().all_messages) == said


def test_what_no_commit_waited_for_is_told_as_gone(servers, store):
    primary, copy = servers
    lease = store.create("project:/shop", "/shop", "m")
    say(store, lease, "kept")
    wait_for_copy(primary)
    copy.stop()
    say(store, lease, "gone")
    primary.kill()
    copy.start()
    copy.promote()
    with pytest.raises(SessionDamaged):
        say(store, lease, "more")
    assert texts(store.journal(lease.session_id).load().all_messages) == ["kept"]
