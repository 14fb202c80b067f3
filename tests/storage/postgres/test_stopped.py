"""A program that is stopped in the middle of a transaction."""

import pytest

from tests.builders import user
from tui.errors import ServerUnreachable, StorageError
from tui.storage.postgres.connection_pool import ConnectionPool, transaction
from tui.storage.postgres.rows import ask_number
from tui.storage.postgres.store import PostgresStore

TRIES = 5
SCOPE = "project:/shop"


def publish(store):
    """Publish a session, as the program does: again after an error."""
    lease = store.create(SCOPE, "/shop", "m")
    for _ in range(TRIES):
        try:
            return store.append(lease, [user("m")]).ordinal
        except ServerUnreachable:
            continue
    return None


@pytest.mark.full
def test_it_does_not_keep_a_scope_from_others(postgres):
    store, database = PostgresStore(postgres), ConnectionPool(postgres)
    found = []

    def stop():
        with database.connection() as stopped, transaction(stopped):
            assert ask_number(stopped, SCOPE).fetchone() == (1,)
            found.append(publish(store))

    with pytest.raises(StorageError):
        # The server has ended its transaction.
        stop()
    assert found == [1]
    database.close()
    store.close()
