"""The contract, for a store at a server."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.builders import header, user
from tests.storage.contract import StoreContract, closed
from tests.storage.copy_contract import CopyContract
from tui.domain.journal.records import encode
from tui.errors import SessionDamaged, StorageError, StorageFull
from tui.storage.postgres import appending as module
from tui.storage.postgres.connection_pool import CONNECTIONS
from tui.storage.protocol import SessionFilter


class PostgresBackend:
    def __init__(self, address, open_store):
        self._address = address
        self.another_program = lambda: open_store(address)
        self.store = self.another_program()

    def _execute(self, *statement):
        with psycopg.connect(self._address, autocommit=True, options="-c search_path=sibyl") as c:
            cursor = c.execute(*statement)
            return cursor.fetchall() if cursor.description else []

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
        found = "select data from pieces where session = %s order by at"
        data = b"".join(row[0] for row in self._execute(found, (session_id,)))
        data = encode(header(session_id, version=2)) + data.split(b"\n", 1)[1]
        self.spoil(session_id)
        self._execute("insert into pieces values (%s, 0, %s)", (session_id, data))
        self._execute("update sessions set size = %s where id = %s", (len(data), session_id))

    def spoil(self, session_id):
        self._execute("delete from pieces where session = %s", (session_id,))


@pytest.fixture
def backend(postgres, open_store):
    return PostgresBackend(postgres, open_store)


class TestPostgresStore(StoreContract):
    pass


# --- the journals as bytes


class TestPostgresJournals(CopyContract):
    pass


def test_records_that_are_gone_are_an_error_of_their_session(backend):
    session_id = closed(backend.store)
    backend.spoil(session_id)
    journals = backend.store.journals
    found = journals.find(session_id)
    with pytest.raises(StorageError, match="gone"):
        list(journals.read(session_id, found.size))


# --- sessions at a server, read slowly


LONG = "x" * 1_000_000


def talk(store, count=8):
    said = [user(f"m{number}", LONG) for number in range(count)]
    return closed(store, *said), said


def test_whoever_takes_records_slowly_keeps_no_connection(store):
    name, said = talk(store)
    slow = [store.journal(name).records() for _ in range(CONNECTIONS + 1)]
    for each in slow:
        next(each)
    assert store.count(SessionFilter()) == 1
    assert [list(each) for each in slow] == [said] * len(slow)


def test_records_that_are_purged_while_they_are_read_do_not_just_end(store):
    name, _ = talk(store)
    reading = store.journal(name).records()
    next(reading)
    store.delete(name)
    store.purge(name)
    with pytest.raises(SessionDamaged, match="records are gone"):
        list(reading)


def test_a_move_of_a_newer_version_is_passed_over(store, postgres):
    name = closed(store)
    store.archive(name)
    moves = store.moves()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("insert into sibyl.moves (line) values (%s)", (b'{"newer": 1}',))
    assert [each.id for each in moves] == [name]
    assert store.moves() == moves


# --- the making of the tables


def test_programs_that_start_at_once_make_the_tables_once(postgres, open_store):
    stores = [open_store(postgres) for _ in range(8)]
    with ThreadPoolExecutor(len(stores)) as threads:
        for _ in range(5):
            with psycopg.connect(postgres, autocommit=True) as connection:
                connection.execute("drop schema if exists sibyl cascade")
            for store in stores:
                store.close()
                store._database._migrated = False
            counts = threads.map(lambda store: store.count(SessionFilter()), stores)
            assert list(counts) == [0] * len(stores)
