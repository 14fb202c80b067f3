"""Answers that come late or never, locks that others hold: nothing is lost, nothing waits."""

import errno
import os
import threading

import psycopg
import pytest

from tests.builders import user
from tests.storage.contract import SCOPE, new
from tests.storage.postgres.test_faults import said
from tests.waiting import wait_for
from tui.domain.journal.records import SessionHeader
from tui.errors import ServerUnreachable, StorageError
from tui.storage.postgres import connection_pool
from tui.storage.postgres.appending import JournalAppender
from tui.storage.postgres.leases import ServerLeases

_SLOW = """
create function sibyl.slow() returns trigger language plpgsql set lock_timeout = 0 as $$
begin perform pg_advisory_xact_lock(42); return null; end $$;
create constraint trigger slow after insert on sibyl.pieces deferrable initially deferred
    for each row execute function sibyl.slow();
"""


@pytest.fixture
def admin(postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


@pytest.fixture
def begun(store):
    return new(store, user("first", "first"))


@pytest.fixture
def stalling(admin, begun):
    """Commits stall until the disk goes on."""
    admin.execute(_SLOW)
    admin.execute("select pg_advisory_lock(42)")
    yield lambda: admin.execute("select pg_advisory_unlock(42)")
    admin.execute("select pg_advisory_unlock_all()")
    _quiet(admin)
    admin.execute("drop function sibyl.slow() cascade")


def _quiet(admin):
    query = (
        "select count(*) from pg_stat_activity where application_name = 'sibyl-tui'"
        " and state <> 'idle' and datname = current_database()"
    )
    wait_for(lambda: not admin.execute(query).fetchone()[0])


@pytest.mark.parametrize("first", [pytest.param(False, marks=pytest.mark.full), True])
def test_an_append_whose_commit_stalls_counts_once(
    store, begun, stalling, admin, monkeypatch, first
):
    monkeypatch.setattr(connection_pool, "SAVE_SECONDS", 0.5)
    monkeypatch.setattr(connection_pool, "_PAUSE_SECONDS", 0.0)
    lease = store.create(SCOPE, "/home/me", "a:b") if first else begun
    for _ in range(2):
        with pytest.raises(StorageError):
            store.append(lease, (user("second", "second"),))
    stalling()
    _quiet(admin)
    store.append(lease, (user("second", "second"),))
    assert said(store, lease.session_id) == (["second"] if first else ["first", "second"])


def test_a_locked_session_does_not_end_the_leases_of_others(store, begun, admin, postgres):
    second = new(store)
    held = store._leases
    with psycopg.connect(postgres) as locking:
        locking.execute("select from sibyl.sessions where id = %s for update", (begun.session_id,))
        admin.execute(
            "update sibyl.sessions set leased_until = now() + interval '1 s' where id = %s",
            (second.session_id,),
        )
        held._renew(list(held._leases.values()))
        left = admin.execute(
            "select leased_until > now() + interval '5 s' from sibyl.sessions where id = %s",
            (second.session_id,),
        ).fetchone()[0]
    assert left


@pytest.mark.full
def test_a_renewal_goes_on_after_no_descriptor_was_left(begun, monkeypatch):
    failed = threading.Event()
    real = os.dup

    def dup(descriptor):
        if threading.current_thread().name == "leases" and not failed.is_set():
            failed.set()
            raise OSError(errno.EMFILE, "Too many open files")
        return real(descriptor)

    renewed = threading.Event()
    renew = ServerLeases._renew

    def renewing(held, leases):
        was_failed = failed.is_set()
        renew(held, leases)
        if was_failed:
            renewed.set()

    monkeypatch.setattr(ServerLeases, "_renew", renewing)
    monkeypatch.setattr(os, "dup", dup)
    assert renewed.wait(60)


@pytest.mark.parametrize("ordinal", [0, 7])
def test_an_import_keeps_no_new_session_waiting(store, other, ordinal):
    waiting, go_on = threading.Event(), threading.Event()
    header = SessionHeader(
        version=1,
        id="20250101-000000-0000",
        created_at="2025-01-01T00:00:00Z",
        scope=SCOPE,
        ordinal=ordinal,
        project_path="/p",
        model="m:n",
    )

    def records():
        waiting.set()
        go_on.wait(30)
        yield user("i", "i"), b""

    importing = threading.Thread(target=lambda: other.add_imported(header, records(), active=True))
    importing.start()
    try:
        assert waiting.wait(10)
        new = store.create(SCOPE, "/home/me", "a:b")
        store.append(new, (user("one", "one"),))
    finally:
        go_on.set()
        importing.join()


@pytest.fixture
def far(cutter, open_store):
    return open_store(cutter.address)


def in_doubt(store, cutter, monkeypatch):
    """A session whose second message is there, and its holder does not know it."""
    lease = new(store, user("first", "first"))
    with monkeypatch.context() as patch:
        patch.setattr(JournalAppender, "settle", lambda *_: None)
        cutter.cut(1, "answer", stays_away=False)
        with pytest.raises(ServerUnreachable):
            store.append(lease, (user("second", "second"),))
    return lease


def test_a_retry_that_is_cut_off_acknowledges_nothing_of_its_own(far, cutter, monkeypatch):
    lease = in_doubt(far, cutter, monkeypatch)
    both = (user("second", "second"), user("third", "third"))
    cutter.cut(1, "answer", stays_away=False)
    try:
        far.append(lease, both)
    except ServerUnreachable:
        far.append(lease, both)
    assert said(far, lease.session_id) == ["first", "second", "third"]


@pytest.mark.parametrize("verbs", [["archive"], ["archive", "restore"]], ids="-".join)
def test_a_session_in_doubt_that_is_moved_counts_once(far, cutter, monkeypatch, verbs):
    lease = in_doubt(far, cutter, monkeypatch)
    for verb in verbs:
        getattr(far, verb)(lease.session_id)
    far.append(lease, (user("second", "second"), user("third", "third")))
    assert said(far, lease.session_id) == ["first", "second", "third"]
