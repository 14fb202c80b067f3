"""Connections to a server, and who waits for whom."""

from contextlib import ExitStack

import psycopg
import pytest

from tui.errors import ServerTooSlow, ServerUnreachable
from tui.storage.postgres import connection_pool as module
from tui.storage.postgres.connection_pool import CONNECTIONS, ConnectionPool


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


def sleep_longer_than_allowed(database):
    with database.connection() as connection:
        connection.execute("set statement_timeout = 10")
        connection.execute("select pg_sleep(60)")


def test_a_statement_that_takes_too_long_is_no_server_that_is_away(database):
    with pytest.raises(ServerTooSlow, match="server is too slow: canceling statement") as raised:
        sleep_longer_than_allowed(database)
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
