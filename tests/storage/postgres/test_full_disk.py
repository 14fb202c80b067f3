"""A server whose disk is full: it is told, nothing is lost, and it goes on when there is room."""

import os
import subprocess

import psycopg
import pytest
from psycopg import conninfo

from tests.builders import texts, user
from tui.errors import StorageFull
from tui.storage.postgres.store import PostgresStore

pytestmark = pytest.mark.full
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
def store(postgres_server, small):
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute(f"create tablespace small location '{small / 'space'}'".encode())
        connection.execute("create database small template template0 tablespace small")
    store = PostgresStore(conninfo.make_conninfo(postgres_server.address(), dbname="small"))
    yield store
    store.close()


def test_a_full_disk_is_told_and_nothing_is_lost(store, small):
    lease = store.create("project:/shop", "/shop", "m")
    store.append(lease, [user("m0", "m0")])
    filler = small / "filler"
    filler.write_bytes(bytes(16 * MEGABYTE))
    said = ["m0"]

    def say(*numbers):
        for number in numbers:
            content = f"m{number} " + "x" * MEGABYTE
            store.append(lease, [user(f"m{number}", content)])
            said.append(content)

    with pytest.raises(StorageFull) as raised:
        say(*range(1, 40))
    assert raised.value.short == "disk full"
    failed = len(said)
    for _ in range(3):
        with pytest.raises(StorageFull):
            say(failed)
    assert texts(store.journal(lease.session_id).load().all_messages) == said
    filler.unlink()
    say(failed, failed + 1, failed + 2)
    assert texts(store.journal(lease.session_id).load().all_messages) == said


def test_a_first_message_that_finds_no_room_is_saved_later(store, small):
    store.append(store.create("project:/shop", "/shop", "m"), [user("m0", "m0")])
    filler, free = small / "filler", os.statvfs(small)
    filler.write_bytes(bytes(free.f_bavail * free.f_frsize))
    new, content = store.create("project:/shop", "/shop", "m"), "x" * MEGABYTE
    for _ in range(2):
        with pytest.raises(StorageFull):
            store.append(new, [user("m", content)])
    filler.unlink()
    assert store.append(new, [user("m", content)]).ordinal == 2
    assert texts(store.journal(new.session_id).load().all_messages) == [content]
