"""Lost answers, killed servers and many writers: nothing acknowledged is lost, nothing is twice."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest

from tests.builders import user
from tests.postgres_server import PostgresServer
from tests.storage.contract import SCOPE, closed
from tui.domain.journal.message import Message
from tui.errors import ReadOnly, ServerUnreachable, SessionBusy
from tui.storage.postgres.store import PostgresStore


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

    def begin(number):
        store = stores[number % 4]
        return closed(store)

    with ThreadPoolExecutor(16) as threads:
        names = list(threads.map(begin, range(16)))
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
def test_a_server_killed_while_four_write_loses_and_doubles_nothing(clock):
    server = PostgresServer()
    server.start()
    stores = [PostgresStore(server.address(), clock) for _ in range(4)]
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
    for store, lease, texts in zip(stores, leases, acknowledged, strict=True):
        assert said(store, lease.session_id) == texts
        store.close()
    server.remove()
