"""The making of the tables."""

from concurrent.futures import ThreadPoolExecutor

import psycopg

from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import SessionFilter


def test_programs_that_start_at_once_make_the_tables_once(postgres, clock):
    stores = [PostgresStore(postgres, clock) for _ in range(8)]
    with ThreadPoolExecutor(len(stores)) as threads:
        for _ in range(5):
            with psycopg.connect(postgres, autocommit=True) as connection:
                connection.execute("drop schema if exists sibyl cascade")
            for store in stores:
                store.close()
                store._database._migrated = False
            counts = threads.map(lambda store: store.count(SessionFilter()), stores)
            assert list(counts) == [0] * len(stores)
    for store in stores:
        store.close()
