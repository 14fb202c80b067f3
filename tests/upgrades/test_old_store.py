"""Today's store with the sessions of an earlier program at a PostgreSQL server.

``c0f0c5ed.sql.xz`` has the tables as that program had made and filled them: a copy of all sessions
of its home, and one that was asked there.
"""

import lzma
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from msgspec.structs import replace

from tests.builders import Clock, user
from tests.postgres_server import TestDatabase
from tests.upgrades.conftest import HERE
from tui.domain.journal.session import SessionEntry
from tui.storage.file_store import FileStore
from tui.storage.postgres.store import PostgresStore
from tui.storage.protocol import SessionFilter

ALL = SessionFilter(statuses=frozenset({"open", "closed", "archived", "trashed"}))


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    """The store as that program has left it."""
    database = TestDatabase(postgres_url, "SQL_ASCII")
    tables = lzma.decompress((HERE / "c0f0c5ed.sql.xz").read_bytes())
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute(tables)
    with closing(PostgresStore(database.address, Clock())) as store:
        yield store
    database.remove()


@pytest.fixture
def files(newest):
    """The same sessions in files."""
    return FileStore(newest.data)


def entries(store) -> dict[str, SessionEntry]:
    return {entry.id: entry for entry in store.list(ALL, None, 100).entries}


def messages(store, session_id):
    return store.journal(session_id).load().all_messages


def test_every_session_is_listed_found_and_opens_as_from_its_file(store, files):
    there, here = entries(store), entries(files)
    (asked,) = set(there) - set(here)
    assert messages(store, asked)[0].text == "A question to the server about puffins"
    assert there[asked].active
    for session_id, entry in here.items():
        is_active = entry.active and entry.scope != there[asked].scope
        assert there[session_id] == replace(entry, active=is_active)
        assert messages(store, session_id) == messages(files, session_id)
    assert store.moves() == files.moves()

    for session_id, entry in entries(files).items():
        said = messages(files, session_id)
        if said and entry.status != "trashed":
            hits = store.search(f'"{said[0].typed_text}"', 99).hits
            assert session_id in {hit.session_id for hit in hits}


def test_every_session_goes_on(store):
    for session_id, entry in entries(store).items():
        if entry.status == "trashed":
            store.restore(session_id)
        before = messages(store, session_id)
        lease = store.lease(session_id)
        store.append(lease, [user("one-more", "One more.")])
        lease.release()
        assert messages(store, session_id)[-1].text == "One more."
        assert messages(store, session_id)[: len(before)] == before
    assert {hit.session_id for hit in store.search("more", 99).hits} == set(entries(store))
