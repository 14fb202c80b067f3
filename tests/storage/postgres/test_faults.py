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
from tui.errors import LeaseLost, ReadOnly, ServerUnreachable, SessionBusy
from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import KEPT_OR_ARCHIVED, SessionFilter


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


@pytest.fixture
def store(link, clock):
    store = PostgresStore(link.address, clock)
    yield store
    store.close()


@pytest.fixture
def other(postgres, clock):
    """A program with a way of its own to the server."""
    other = PostgresStore(postgres, clock)
    yield other
    other.close()


def end_leases(address):
    """Let the leases of all programs run out."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("update sibyl.sessions set leased_until = now() - interval '1 second'")


@pytest.fixture
def begun(store):
    """A session with a message, and its lease."""
    lease = store.create(SCOPE, "/home/me", "a:b")
    store.append(lease, (user("first", "first"),))
    return lease


def test_an_append_whose_answer_is_lost_counts_once(store, link, begun):
    link.cuts = "answer"
    store.append(begun, (user("second", "second"),))
    store.append(begun, (user("third", "third"),))
    assert said(store, begun.session_id) == ["first", "second", "third"]


def test_an_append_that_is_lost_on_its_way_can_be_repeated(store, link, begun):
    link.cuts = "request"
    with pytest.raises(ServerUnreachable):
        store.append(begun, (user("second", "second"),))
    store.append(begun, (user("second", "second"),))
    assert said(store, begun.session_id) == ["first", "second"]


@pytest.mark.parametrize("cuts", ["answer", "request"])
def test_a_first_append_that_is_cut_off_counts_once(store, link, cuts):
    lease = store.create(SCOPE, "/home/me", "a:b")
    # The connection is there, and its settings were looked at.
    store.count(SessionFilter())
    link.cuts = cuts
    say(store, lease, "first")
    say(store, lease, "second")
    assert said(store, lease.session_id) == ["first", "second"]
    assert store.count(SessionFilter(statuses=KEPT_OR_ARCHIVED)) == 1


@pytest.mark.full
@pytest.mark.parametrize("spared", range(10))
def test_an_append_that_restores_a_session_and_is_cut_off_anywhere_counts_once(
    store, link, begun, spared
):
    store.archive(begun.session_id)
    link.cuts, link.spared = "answer", spared
    say(store, begun, "second")
    link.cuts = ""
    say(store, begun, "third")
    assert said(store, begun.session_id) == ["first", "second", "third"]
    assert store.entry(begun.session_id).status == "open"


def test_whoever_is_in_doubt_takes_nothing_back_from_a_session_that_was_taken_over(
    store, link, begun, other, postgres, monkeypatch
):
    settled = PostgresStore._settled
    monkeypatch.setattr(PostgresStore, "_settled", lambda *_: None)
    link.cuts = "answer"
    with pytest.raises(ServerUnreachable):
        store.append(begun, (user("second", "second"),))
    monkeypatch.setattr(PostgresStore, "_settled", settled)
    end_leases(postgres)
    taken = other.lease(begun.session_id)
    with pytest.raises(LeaseLost):
        store.append(begun, (user("second", "second"), user("third", "third")))
    other.append(taken, (user("other", "other"),))
    assert said(other, begun.session_id) == ["first", "second", "other"]
    with pytest.raises(ReadOnly):
        store.append(begun, (user("third", "third"),))


def test_a_lost_answer_gives_nobody_the_lease_of_another(store, link, begun, other, postgres):
    """It is settled after another program has taken the session."""
    settle = store._settled

    def late(*arguments):
        end_leases(postgres)
        other.lease(begun.session_id)
        return settle(*arguments)

    store._settled = late
    link.cuts = "answer"
    store.append(begun, (user("second", "second"),))
    with pytest.raises(LeaseLost):
        store.append(begun, (user("third", "third"),))
    assert said(other, begun.session_id) == ["first", "second"]


def test_a_holder_whose_session_was_taken_moves_it_nowhere(store, begun, other, postgres):
    end_leases(postgres)
    other.lease(begun.session_id)
    with pytest.raises(SessionBusy):
        store.delete(begun.session_id)
    assert store.entry(begun.session_id).status == "open"
    assert store.moves() == ()


def test_sixteen_writers_in_one_scope_get_sixteen_numbers(postgres, clock):
    stores = [PostgresStore(postgres, clock) for _ in range(4)]

    def begin(number):
        store = stores[number % 4]
        return closed(store)

    with ThreadPoolExecutor(16) as threads:
        names = list(threads.map(begin, range(16)))
    ordinals = sorted(stores[0].entry(name).ordinal for name in names)
    assert ordinals == list(range(1, 17))
    for store in stores:
        store.close()


@pytest.mark.full
def test_sixteen_writers_of_one_session_lose_and_double_nothing(postgres, clock, begun, store):
    """Each takes the session over from the one before, which goes on writing until it is told."""
    begun.release()
    acknowledged = []
    stores = [PostgresStore(postgres, clock) for _ in range(16)]
    ended = threading.Event()

    def write(number):
        texts = (f"{number}.{count}" for count in itertools.count())
        while not ended.is_set():
            with suppress(SessionBusy, ReadOnly):
                lease = stores[number].lease(begun.session_id)
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
    found = said(store, begun.session_id)[1:]
    assert len(set(found)) == len(found)
    assert set(acknowledged) <= set(found)
    for number in range(16):
        own = [int(text.split(".")[1]) for text in found if text.startswith(f"{number}.")]
        assert own == sorted(own)
    for each in stores:
        each.close()


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
