"""Programs that come too late: with a lease that they lost, or with a request that was held up."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from datetime import timedelta

import msgspec
import psycopg
import pytest

from tests.builders import texts, user
from tui.domain.timestamps import format_utc, utc_now
from tui.errors import LeaseLost, ServerUnreachable, SessionBusy
from tui.storage.file_store import FileStore
from tui.storage.postgres import rows
from tui.storage.postgres.leases import ServerLeases
from tui.storage.postgres.rows import Row, this_process
from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import SessionFilter

SCOPE = "project:/shop"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.fixture
def store(cutter, open_store):
    return open_store(cutter.address)


def say(store, *contents):
    lease = store.create(SCOPE, "/shop", "m")
    store.append(lease, [user(each, each) for each in contents])
    return lease


def expire(postgres, session_id):
    with psycopg.connect(postgres) as connection:
        connection.execute(
            "update sibyl.sessions set leased_until = now() where id = %s", (session_id,)
        )


@pytest.fixture
def take_over(postgres, other):
    """Let another program take a session whose lease has run out."""

    def take(session_id):
        expire(postgres, session_id)
        return other.lease(session_id)

    return take


def said(store, session_id):
    return texts(store.journal(session_id).load().all_messages)


def test_an_append_that_was_made_gives_no_lease_back_that_was_taken_meanwhile(
    cutter, store, other, take_over
):
    lease = say(store, "first")
    taken = []
    cutter.between = lambda: taken.append(take_over(lease.session_id))
    cutter.cut(1, "answer", stays_away=False)
    store.append(lease, [user("second", "second")])
    cutter.heal()
    with pytest.raises(LeaseLost):
        store.append(lease, [user("third", "third")])
    other.append(taken[0], [user("theirs", "theirs")])
    assert said(other, lease.session_id) == ["first", "second", "theirs"]


def test_what_another_program_has_read_stays_and_nothing_is_added(cutter, store, other, take_over):
    lease = say(store, "first")
    cutter.cut(1, "answer", stays_away=True)
    with pytest.raises(ServerUnreachable):
        store.append(lease, [user("second", "second")])
    taken = take_over(lease.session_id)
    cutter.heal()
    with pytest.raises(LeaseLost):
        store.append(lease, [user("second", "second"), user("third", "third")])
    other.append(taken, [user("theirs", "theirs")])
    assert said(other, lease.session_id) == ["first", "second", "theirs"]


@pytest.mark.parametrize("comes_between", [True, False])
def test_an_append_that_comes_late_is_not_made_beside_its_repetition(
    cutter, store, other, comes_between
):
    lease = say(store, "first")
    cutter.cut(1, "late", stays_away=False)
    with pytest.raises(ServerUnreachable):
        store.append(lease, [user("second", "second")])
    if comes_between:
        cutter.deliver()
        store.append(lease, [user("second", "second"), user("third", "third")])
    else:
        store.append(lease, [user("second", "second")])
        cutter.deliver()
        store.append(lease, [user("third", "third")])
    assert said(other, lease.session_id) == ["first", "second", "third"]


@pytest.mark.parametrize("verb", ["archive", "delete"])
def test_a_move_whose_session_has_moved_since_it_was_read_is_made_once(store, monkeypatch, verb):
    """As one of a request that was taken for lost does, while it is repeated."""
    lease = say(store, "first")
    read = rows.published_row

    def late(*arguments):
        row = read(*arguments)
        monkeypatch.setattr(rows, "published_row", read)
        getattr(store, verb)(lease.session_id)
        return row

    monkeypatch.setattr(rows, "published_row", late)
    with pytest.raises(SessionBusy):
        getattr(store, verb)(lease.session_id)
    assert [move.id for move in store.moves()] == [lease.session_id]


def test_a_lease_that_is_renewed_at_the_last_moment_is_not_taken(
    store, other, postgres, monkeypatch
):
    lease = say(store, "first")
    expire(postgres, lease.session_id)

    def late(row, *rest):
        with psycopg.connect(postgres) as connection:
            connection.execute("update sibyl.sessions set leased_until = now() + interval '1min'")
        return is_free(row, *rest)

    is_free = Row.is_free
    monkeypatch.setattr(Row, "is_free", late)
    with pytest.raises(SessionBusy):
        other.lease(lease.session_id)
    store.append(lease, [user("second", "second")])


def test_a_renewal_on_its_way_while_a_lease_is_released_keeps_nobody_out(store, other):
    lease = say(store, "first")
    lease.release()
    store._leases._renew([lease])
    assert store.entry(lease.session_id).status == "closed"
    other.lease(lease.session_id).release()


def test_an_append_on_its_way_while_a_lease_is_released_keeps_nobody_out(store, other, monkeypatch):
    def released(leases, lease):
        held = own(leases, lease)
        lease.release()
        return held

    lease, own = say(store, "first"), ServerLeases.own
    monkeypatch.setattr(ServerLeases, "own", released)
    store.append(lease, [user("second", "second")])
    assert other.entry(lease.session_id).status == "closed"
    assert other.report()["sessions"] == "1, 0 open"
    assert said(other, other.lease(lease.session_id).session_id) == ["first", "second"]


@pytest.mark.parametrize("verb", ["archive", "delete"])
@pytest.mark.parametrize("meanwhile", [True, False])
def test_who_lost_the_lease_moves_nothing(verb, meanwhile, store, other, take_over, monkeypatch):
    lease = say(store, "first")
    taken = []

    def lose(*_):
        taken.append(take_over(lease.session_id))
        return "now"

    if meanwhile:
        monkeypatch.setattr(PostgresStore, "now", lose)
    else:
        lose()
    with pytest.raises(SessionBusy):
        getattr(store, verb)(lease.session_id)
    assert store.moves() == ()
    other.append(taken[0], [user("theirs", "theirs")])
    assert said(other, lease.session_id) == ["first", "theirs"]


def test_who_lost_the_lease_frees_no_pictures(store, other, take_over):
    lease = say(store, "first")
    sha256 = store.add_attachment(lease.session_id, PICTURE)
    take_over(lease.session_id)
    other.delete(lease.session_id)
    with pytest.raises(SessionBusy):
        store.purge(lease.session_id)
    assert other.attachment(lease.session_id, sha256) == PICTURE
    assert said(other, lease.session_id) == ["first"]


CLIENT = """
import sys
from tests.builders import user
from tui.errors import LeaseLost
from tui.storage.postgres.store import PostgresStore
store = PostgresStore(sys.argv[1])
lease = store.create("project:/shop", "/shop", "m")
store.append(lease, [user("first", "first")])
print(lease.session_id, flush=True)
sys.stdin.readline()
try:
    store.append(lease, [user("stale", "stale")])
except LeaseLost:
    print("lost", flush=True)
else:
    print("written", flush=True)
"""


def test_a_client_that_was_stopped_longer_than_its_lease_writes_nothing(
    other, postgres, take_over, program
):
    client = program(CLIENT, postgres)
    session_id = client.read()
    os.kill(client.pid, signal.SIGSTOP)
    taken = take_over(session_id)
    other.append(taken, [user("theirs", "theirs")])
    os.kill(client.pid, signal.SIGCONT)
    client.tell("go")
    assert client.read() == "lost"
    assert said(other, session_id) == ["first", "theirs"]
    other.append(taken, [user("more", "more")])


# --- telling that the process of a holder has ended


PRINT = """
import msgspec
from tui.storage.postgres.rows import this_process
print(msgspec.json.encode(this_process()).decode())
"""


@pytest.fixture
def ended():
    """A process of this machine that has ended."""
    done = subprocess.run([sys.executable, "-c", PRINT], stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=type(this_process()))


def test_a_process_is_known_to_run_until_it_has_ended_on_this_machine(ended):
    assert not this_process().has_ended
    assert ended.has_ended
    for elsewhere in ("another", ""):
        assert not msgspec.structs.replace(ended, namespace=elsewhere).has_ended
    # A number that is used again is another process.
    assert msgspec.structs.replace(this_process(), started="1").has_ended


@pytest.mark.parametrize("here", [True, False])
def test_only_what_has_ended_here_is_taken_over_at_once(here, ended, store, other, monkeypatch):
    holder = ended if here else msgspec.structs.replace(ended, namespace="another")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(rows, "this_process", lambda: holder)
        session_id = say(other, "first").session_id
    if here:
        assert store.lease(session_id)
    else:
        with pytest.raises(SessionBusy, match=r"is open on .+ since") as busy:
            store.lease(session_id)
        assert str(store.holder(session_id)) == busy.value.holder


# --- clients whose clocks are an hour off: leases follow the server's clock only


HOUR = timedelta(hours=1)


@pytest.fixture(params=[HOUR, -HOUR], ids=["ahead", "behind"])
def skewed(request):
    """The clock of a machine that is an hour off."""
    return lambda: utc_now() + request.param


def test_nobody_takes_over_because_of_a_clock(postgres, skewed):
    with closing(PostgresStore(postgres)) as right, closing(PostgresStore(postgres, skewed)) as off:
        for holder, other in ((right, off), (off, right)):
            lease = say(holder, "hello")
            with pytest.raises(SessionBusy):
                other.lease(lease.session_id)
            expire(postgres, lease.session_id)
            other.append(other.lease(lease.session_id), [user("more", "more")])
            assert said(right, lease.session_id) == ["hello", "more"]


def test_lists_are_in_the_order_of_the_messages_as_in_files(postgres, skewed, tmp_path):
    in_files = FileStore(tmp_path, utc_now), FileStore(tmp_path, skewed)
    with closing(PostgresStore(postgres)) as right, closing(PostgresStore(postgres, skewed)) as off:
        assert order_of(right, off, skewed) == order_of(*in_files, skewed)


def order_of(right, off, skewed):
    """Say something at each machine in turn, and list the sessions."""
    for number, (store, clock) in enumerate([(right, utc_now), (off, skewed), (right, utc_now)]):
        lease = store.create("project:/shop", "/shop", "m")
        now = format_utc(clock() + timedelta(seconds=number))
        store.append(lease, [msgspec.structs.replace(user("m", str(number)), timestamp=now)])
        lease.release()
    return [each.label for each in right.list(SessionFilter(), None, 10).entries]
