"""The contract, for a store at a server."""

import psycopg
import pytest

from tests.builders import header
from tests.storage.contract import StoreContract
from tui.domain.journal.records import encode
from tui.errors import StorageFull
from tui.storage.postgres import appending as module
from tui.storage.postgres.store import PostgresStore


class PostgresBackend:
    def __init__(self, address, clock):
        self._address, self._clock = address, clock
        self._stores = []
        self.store = self.another_program()

    def another_program(self):
        self._stores.append(PostgresStore(self._address, self._clock))
        return self._stores[-1]

    def close(self):
        for store in self._stores:
            store.close()

    def _execute(self, *statement):
        with psycopg.connect(self._address, autocommit=True, options="-c search_path=sibyl") as c:
            return (
                c.execute(*statement).fetchall()
                if "select" in statement[0]
                else c.execute(*statement)
            )

    def fail_next(self):
        encode_lines = module.encode_lines

        def no_room(*_):
            module.encode_lines = encode_lines
            raise StorageFull("no room")

        module.encode_lines = no_room

    def slip_in(self, session_id, record):
        line = encode(record)
        ((size,),) = self._execute("select size from sessions where id = %s", (session_id,))
        self._execute("insert into pieces values (%s, %s, %s)", (session_id, size, line))
        self._execute(
            "update sessions set size = size + %s, changed = changed + 1 where id = %s",
            (len(line), session_id),
        )

    def make_newer(self, session_id):
        rows = self._execute(
            "select data from pieces where session = %s order by at", (session_id,)
        )
        _, rest = b"".join(row[0] for row in rows).split(b"\n", 1)
        data = encode(header(session_id, version=2)) + rest
        self._execute("delete from pieces where session = %s", (session_id,))
        self._execute("insert into pieces values (%s, 0, %s)", (session_id, data))
        self._execute("update sessions set size = %s where id = %s", (len(data), session_id))

    def spoil(self, session_id):
        self._execute("delete from pieces where session = %s", (session_id,))


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def backend(self, postgres, clock):
        backend = PostgresBackend(postgres, clock)
        yield backend
        backend.close()
