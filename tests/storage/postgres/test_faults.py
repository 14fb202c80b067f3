"""Lost answers, killed servers and many writers: nothing acknowledged is lost, nothing is twice."""

import itertools
import os
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest
from psycopg import conninfo

from tests.builders import texts, user
from tests.postgres_server import PostgresServer
from tests.storage.contract import SCOPE, closed
from tests.waiting import wait_for
from tui.domain.journal.message import Message
from tui.errors import ReadOnly, ServerUnreachable, SessionBusy, SessionDamaged, StorageFull


def said(store, session_id):
    """The messages as they are written: what is there twice is not folded into one."""
    return [each.text for each in store.journal(session_id).records() if isinstance(each, Message)]


def say(store, lease, text):
    """Append until it is acknowledged, as the program does."""
    while True:
        try:
            return store.append(lease, (user(text, text),))
        except ServerUnreachable:
            # A server that is killed is away for a moment.
            time.sleep(0.05)


def end_leases(address):
    """Let the leases of all programs run out."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("update sibyl.sessions set leased_until = now() - interval '1 second'")


def test_sixteen_writers_in_one_scope_get_sixteen_numbers(postgres, open_store):
    stores = [open_store(postgres) for _ in range(4)]
    with ThreadPoolExecutor(16) as threads:
        names = list(threads.map(lambda number: closed(stores[number % 4]), range(16)))
    ordinals = sorted(stores[0].entry(name).ordinal for name in names)
    assert ordinals == list(range(1, 17))


@pytest.mark.full
def test_sixteen_writers_of_one_session_lose_and_double_nothing(postgres, open_store, store):
    """Each takes the session over from the one before, which goes on writing until it is told."""
    session_id = closed(store)
    acknowledged = []
    stores = [open_store(postgres) for _ in range(16)]
    ended = threading.Event()

    def write(number):
        texts = (f"{number}.{count}" for count in itertools.count())
        while not ended.is_set():
            with suppress(SessionBusy, ReadOnly):
                lease = stores[number].lease(session_id)
                while not ended.is_set():
                    text = next(texts)
                    stores[number].append(lease, (user(text, text),))
                    acknowledged.append(text)

    with ThreadPoolExecutor(16) as threads:
        writing = [threads.submit(write, number) for number in range(16)]
        for _ in range(60):
            end_leases(postgres)
            time.sleep(0.02)
        ended.set()
        for each in writing:
            each.result()
    found = said(store, session_id)[1:]
    assert len(set(found)) == len(found)
    assert set(acknowledged) <= set(found)
    for number in range(16):
        own = [int(text.split(".")[1]) for text in found if text.startswith(f"{number}.")]
        assert own == sorted(own)


@pytest.mark.full
def test_a_server_killed_while_four_write_loses_and_doubles_nothing(open_store):
    server = PostgresServer()
    server.start()
    stores = [open_store(server.address()) for _ in range(4)]
    leases = [store.create(SCOPE, "/home/me", "a:b") for store in stores]
    acknowledged = [[] for _ in stores]
    ended = threading.Event()

    def write(number):
        while not ended.is_set():
            text = str(len(acknowledged[number]))
            say(stores[number], leases[number], text)
            acknowledged[number].append(text)

    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(write, number) for number in range(4)]
        for _ in range(5):
            before = sum(map(len, acknowledged))
            while sum(map(len, acknowledged)) < before + 100:
                ended.wait(0.01)
            server.kill()
            server.start()
        ended.set()
        for each in writing:
            each.result()
    for store, lease, written in zip(stores, leases, acknowledged, strict=True):
        assert said(store, lease.session_id) == written
        store.close()
    server.remove()


# --- a copy of the server takes over; both are named in the address


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


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
def far(servers, open_store):
    hosts = ",".join(f"127.0.0.1:{each.port}" for each in servers)
    return open_store(f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write")


def let_commits_wait(primary):
    """Let commits wait for the copy."""
    with psycopg.connect(primary.address(), autocommit=True) as connection:
        connection.execute("alter system set synchronous_standby_names = '*'")
        connection.execute("select pg_reload_conf()")
        query = "select sync_state from pg_stat_replication"
        wait_for(lambda: connection.execute(query).fetchall() == [("sync",)])


def wait_for_copy(primary):
    query = "select bool_and(replay_lsn >= pg_current_wal_lsn()) from pg_stat_replication"
    with psycopg.connect(primary.address(), autocommit=True) as connection:
        wait_for(lambda: connection.execute(query).fetchone() == (True,))


@pytest.mark.full
def test_what_was_acknowledged_is_at_a_copy_for_which_commits_wait(servers, far):
    primary, copy = servers
    let_commits_wait(primary)
    lease = far.create("project:/shop", "/shop", "m")
    said = [f"m{number}" for number in range(30)]
    for content in said[:20]:
        say(far, lease, content)
    primary.kill()
    with pytest.raises(ServerUnreachable):
        far.append(lease, [user("m20", "m20")])
    copy.promote()
    for content in said[20:]:
        assert say(far, lease, content).ordinal == 1
    assert texts(far.journal(lease.session_id).load().all_messages) == said


@pytest.mark.full
def test_what_no_commit_waited_for_is_told_as_gone(servers, far):
    primary, copy = servers
    lease = far.create("project:/shop", "/shop", "m")
    say(far, lease, "kept")
    wait_for_copy(primary)
    copy.stop()
    say(far, lease, "gone")
    primary.kill()
    copy.start()
    copy.promote()
    with pytest.raises(SessionDamaged):
        say(far, lease, "more")
    assert texts(far.journal(lease.session_id).load().all_messages) == ["kept"]


# --- a server whose disk is full: it is told, nothing is lost, and it goes on when there is room


MEGABYTE = 1024 * 1024


@pytest.fixture
def small(postgres_server):
    """A file system with little room, which only root can make."""
    folder = postgres_server.folder / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m,mode=0777", "none", str(folder)]
    if os.getuid() or subprocess.run(mount, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("a small file system takes the rights of root")
    postgres_server.own(folder / "space")
    yield folder
    postgres_server.stop()
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def cramped(postgres_server, small, open_store):
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute(f"create tablespace small location '{small / 'space'}'".encode())
        connection.execute("create database small template template0 tablespace small")
    return open_store(conninfo.make_conninfo(postgres_server.address(), dbname="small"))


@pytest.mark.full
def test_a_full_disk_is_told_and_nothing_is_lost(cramped, small):
    lease = cramped.create("project:/shop", "/shop", "m")
    cramped.append(lease, [user("m0", "m0")])
    filler = small / "filler"
    filler.write_bytes(bytes(16 * MEGABYTE))
    said = ["m0"]

    def say(*numbers):
        for number in numbers:
            content = f"m{number} " + "x" * MEGABYTE
            cramped.append(lease, [user(f"m{number}", content)])
            said.append(content)

    with pytest.raises(StorageFull) as raised:
        say(*range(1, 40))
    assert raised.value.short == "disk full"
    failed = len(said)
    for _ in range(3):
        with pytest.raises(StorageFull):
            say(failed)
    assert texts(cramped.journal(lease.session_id).load().all_messages) == said
    filler.unlink()
    say(failed, failed + 1, failed + 2)
    assert texts(cramped.journal(lease.session_id).load().all_messages) == said


@pytest.mark.full
def test_a_first_message_that_finds_no_room_is_saved_later(cramped, small):
    cramped.append(cramped.create("project:/shop", "/shop", "m"), [user("m0", "m0")])
    filler, free = small / "filler", os.statvfs(small)
    filler.write_bytes(bytes(free.f_bavail * free.f_frsize))
    new, content = cramped.create("project:/shop", "/shop", "m"), "x" * MEGABYTE
    for _ in range(2):
        with pytest.raises(StorageFull):
            cramped.append(new, [user("m", content)])
    filler.unlink()
    assert cramped.append(new, [user("m", content)]).ordinal == 2
    assert texts(cramped.journal(new.session_id).load().all_messages) == [content]
