"""Connections to a server, and who waits for whom."""

from contextlib import ExitStack

import pytest

from tui.errors import ServerUnreachable
from tui.storage.postgres import database as module
from tui.storage.postgres.database import CONNECTIONS, Database


@pytest.fixture
def database(postgres):
    database = Database(postgres)
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
