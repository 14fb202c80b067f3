"""Clients whose clocks are an hour off: leases follow the server's clock only."""

from datetime import timedelta

import msgspec
import psycopg
import pytest

from tests.builders import texts, user
from tui.domain.timestamps import format_utc, utc_now
from tui.errors import SessionBusy
from tui.storage.file_store import FileStore
from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import SessionFilter

HOUR = timedelta(hours=1)


@pytest.fixture(params=[HOUR, -HOUR], ids=["ahead", "behind"])
def skewed(request):
    """The clock of a machine that is an hour off."""
    return lambda: utc_now() + request.param


def test_nobody_takes_over_because_of_a_clock(postgres, skewed):
    right, off = PostgresStore(postgres), PostgresStore(postgres, skewed)
    for holder, other in ((right, off), (off, right)):
        lease = holder.create("project:/shop", "/shop", "m")
        holder.append(lease, [user("hello", "hello")])
        with pytest.raises(SessionBusy):
            other.lease(lease.session_id)
        with psycopg.connect(postgres) as connection:
            connection.execute("update sibyl.sessions set leased_until = now()")
        other.append(other.lease(lease.session_id), [user("more", "more")])
        assert texts(right.journal(lease.session_id).load().all_messages) == ["hello", "more"]
    for each in (right, off):
        each.close()


def test_lists_are_in_the_order_of_the_messages_as_in_files(postgres, skewed, tmp_path):
    at_server = PostgresStore(postgres), PostgresStore(postgres, skewed)
    in_files = FileStore(tmp_path, utc_now), FileStore(tmp_path, skewed)
    assert order_of(*at_server, skewed) == order_of(*in_files, skewed)
    for each in at_server:
        each.close()


def order_of(right, off, skewed):
    """Say something at each machine in turn, and list the sessions."""
    for number, (store, clock) in enumerate([(right, utc_now), (off, skewed), (right, utc_now)]):
        lease = store.create("project:/shop", "/shop", "m")
        now = format_utc(clock() + timedelta(seconds=number))
        store.append(lease, [msgspec.structs.replace(user("m", str(number)), timestamp=now)])
        lease.release()
    return [each.label for each in right.list(SessionFilter(), None, 10).entries]
