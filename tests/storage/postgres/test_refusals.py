"""Sentences for a server that is away or refuses; none has a password."""

import socket
import struct
import subprocess
import sys
import threading
from contextlib import closing

import psycopg
import pytest
from psycopg import conninfo

from tests.storage.postgres.pooler import TransactionPooler
from tui.errors import ServerRefused, ServerUnreachable, StorageError
from tui.storage.postgres.store import PostgresStore
from tui.storage.postgres.tables import VERSION
from tui.storage.protocol import SessionFilter


def refused(address, kind=StorageError):
    store = PostgresStore(address)
    try:
        with pytest.raises(kind) as raised:
            store.count(SessionFilter())
    finally:
        store.close()
    words = str(raised.value)
    assert "s3cret" not in words
    assert "\n" not in words
    return words


@pytest.fixture
def unknown(monkeypatch):
    """Makes every name unknown, without asking the network."""

    def look_up(*_arguments, **_named):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.mark.usefixtures("unknown")
@pytest.mark.parametrize(
    ("address", "kind", "words"),
    [
        ("postgresql://me:s3cret@127.0.0.1:1/sibyl", ServerUnreachable, ""),
        ("postgresql://me:s3cret@db.invalid/sibyl", ServerUnreachable, ""),
        ("postgresql://me@host/db?s3cret", StorageError, "not the address of a store"),
        ("postgresql://me:s3cret/x@127.0.0.1/sibyl", StorageError, ""),
    ],
    ids=["nobody listens", "unknown name", "unreadable", "unreadable password"],
)
def test_an_address_that_leads_nowhere_is_not_quoted(address, kind, words):
    assert words in refused(address, kind)


def test_there_is_no_such_database_or_role(postgres_url):
    words = refused(conninfo.make_conninfo(postgres_url, dbname="nothing_here"), ServerRefused)
    assert words == 'The store\'s server refused: database "nothing_here" does not exist'
    refused(conninfo.make_conninfo(postgres_url, user="nobody_here"), ServerRefused)


@pytest.fixture
def asking_for_a_password():
    """The address of a server that wants a password."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        asking = threading.Thread(target=ask_for_a_password, args=(server,))
        asking.start()
        port = server.getsockname()[1]
        yield f"postgresql://me@127.0.0.1:{port}/sibyl?sslmode=disable&gssencmode=disable"
        asking.join()


def ask_for_a_password(server):
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"R" + struct.pack("!ii", 8, 3))
        connection.recv(4096)


def test_the_missing_password_is_told_before_anything_else(asking_for_a_password, monkeypatch):
    monkeypatch.setenv("PGPASSFILE", "/nowhere")
    monkeypatch.delenv("PGPASSWORD", raising=False)
    words = refused(asking_for_a_password, ServerRefused)
    assert words.startswith("The store's server refused: fe_sendauth: no password supplied")


def test_a_newer_program_has_changed_the_tables(postgres):
    with closing(PostgresStore(postgres)) as store:
        store.count(SessionFilter())
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("update sibyl.schema_version set version = %s", (VERSION + 1,))
        try:
            assert "A newer sibyl-tui has changed the tables" in refused(postgres)
        finally:
            connection.execute("update sibyl.schema_version set version = %s", (VERSION,))


@pytest.mark.parametrize("table", ["notes", "sessions", "schema_version"])
def test_the_schema_belongs_to_another_program(postgres, table):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("drop schema if exists sibyl cascade")
        connection.execute("create schema sibyl")
        connection.execute(f"create table sibyl.{table} (version text)".encode())
        try:
            assert 'The schema "sibyl" of this database has tables of another' in refused(postgres)
            connection.execute(f"drop table sibyl.{table}".encode())
            with closing(PostgresStore(postgres)) as store:
                assert store.count(SessionFilter()) == 0
        finally:
            connection.execute("drop schema sibyl cascade")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("-c synchronous_commit=off", "synchronous_commit is off"),
        ("-c search_path=public", "A pooler before the store's server drops"),
    ],
)
def test_settings_other_than_ours_are_refused(postgres, options, words):
    assert words in refused(conninfo.make_conninfo(postgres, options=options))


def test_a_pooler_that_lends_connections_for_transactions_is_told(postgres):
    with closing(TransactionPooler(postgres)) as pooler:
        words = refused(pooler.address)
    assert "lends a connection for each transaction only. Set its pool_mode to session" in words


def test_the_database_cannot_undo_durable_commits(postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"alter database {name} set synchronous_commit = off".encode())
        store = PostgresStore(postgres)
        try:
            assert store.count(SessionFilter()) == 0
        finally:
            store.close()
            connection.execute(f"alter database {name} reset synchronous_commit".encode())


def test_the_library_is_not_installed():
    script = """
import sys
sys.modules["psycopg"] = None
from tui.cli import run
sys.exit(run(["sessions", "list", "--store", "postgresql://127.0.0.1:1/sibyl"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'pip install "sibyl-tui[postgres]"' in done.stderr
    assert "Traceback" not in done.stderr
