"""Databases of running programs: read as they are now, and left as they were."""

import sqlite3
import struct
from contextlib import closing, suppress

import pytest

from tests.importers.samples import looks
from tui.files import UnfitFile
from tui.importers import archives, databases
from tui.importers.databases import MAGIC, has, opened, schema, source
from tui.importers.protocol import Ledger
from tui.importers.stopping import Stopped, stopped_by

ENDLESS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'x' AS text FROM n
"""
LARGE = "text AS (printf('%.*c', 2000000, 'x'))"


@pytest.fixture
def path(tmp_path):
    """The path of a database in a folder of its own."""
    folder = tmp_path / "program"
    folder.mkdir()
    return folder / "chats.db"


def written(path, *values, mode="wal"):
    """A connection that stays open, as of a program that runs."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, text)")
    connection.executemany("INSERT INTO message (text) VALUES (?)", [(value,) for value in values])
    connection.commit()
    return connection


def read(path, columns=("text",), ledger=None, **options):
    with opened(path) as database:
        rows = database.rows("message", columns, ledger or Ledger(), **options)
        return [tuple(row.values()) for row in rows]


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_reads_what_a_running_program_has_written_and_leaves_no_trace(path, mode):
    with closing(written(path, "first", mode=mode)) as connection:
        size = source(path).size
        connection.execute("INSERT INTO message (text) VALUES ('second')")
        connection.commit()
        # A source changes with the log of its database.
        assert source(path).size > size or mode == "delete"
        before = looks(path)
        assert read(path) == [("first",), ("second",)]
        assert looks(path) == before


def test_leaves_no_trace_beside_a_database_that_no_program_has_open(path):
    written(path, "first").close()
    before = looks(path)
    assert read(path) == [("first",)]
    assert has(schema(path, path.read_bytes()[:100]), "message", "text")
    assert looks(path) == before


def test_does_not_read_what_a_program_has_not_committed(path):
    with closing(written(path, "first", mode="delete")) as connection:
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("INSERT INTO message (text) VALUES ('second')")
        assert read(path) == [("first",)]
        connection.commit()


def test_leaves_no_copy_behind_even_while_it_is_read(path, tmp_path, monkeypatch):
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(archives, "_ROOM", room)
    with closing(written(path, "first")), opened(path) as database:
        assert not list(room.iterdir())
        assert list(database.rows("message", ["text"], Ledger())) == [{"text": "first"}]


def test_says_that_a_database_is_being_written_all_the_time(path, monkeypatch):
    written(path, "first").close()
    states = iter(range(100))
    monkeypatch.setattr(databases, "_state", lambda _: next(states))
    with pytest.raises(UnfitFile, match="being written"), opened(path):
        pass


@pytest.mark.parametrize("data", [b"", b"no database", MAGIC + b"\x00" * 4096])
def test_says_that_a_file_is_no_database(path, data):
    path.write_bytes(data)
    assert not schema(path, data)
    if data:
        with pytest.raises(UnfitFile), opened(path):
            pass


def test_counts_damage_and_gives_the_rows_before_it(path):
    written(path, *("x" * 1000 for _ in range(100))).close()
    data = bytearray(path.read_bytes())
    data[-8 * 4096 :] = b"\xff" * 8 * 4096
    path.write_bytes(data)
    ledger = Ledger()
    rows = read(path, ledger=ledger)
    assert 0 < len(rows) < 100
    assert ledger.skipped == {"damaged row": 1}


def test_selects_and_orders_by_the_tables_and_columns_that_are_there(path):
    written(path, "b", "a", "c").close()
    assert read(path, order=["text"]) == [("a",), ("b",), ("c",)]
    assert read(path, equal={"text": "b"}) == [("b",)]
    assert read(path, ("text", "author"), order=["created", "rowid"]) == [("b",), ("a",), ("c",)]
    with opened(path) as database:
        assert list(database.rows("gone", ["text"], Ledger())) == []
        assert "author" not in database.schema["message"]


def test_reads_text_that_is_no_utf8_and_passes_over_values_that_are_too_large(path, monkeypatch):
    monkeypatch.setattr(databases, "LINE_BYTES", 10)
    with closing(written(path)) as connection:
        connection.execute(
            "INSERT INTO message (text) VALUES (CAST(x'61ff' AS TEXT)), (?)", ["x" * 11]
        )
        connection.commit()
        assert read(path) == [("a\ufffd",), (None,)]


FTS = "CREATE VIRTUAL TABLE message USING fts5(text, content='v', content_rowid='id')"
LARGE_ID = LARGE.replace("text", "ROWID")


@pytest.mark.parametrize(
    ("script", "texts"),
    [
        (f"CREATE VIEW message AS {ENDLESS}", []),
        (f"CREATE VIEW v AS {ENDLESS}; {FTS}", []),
        (f"CREATE TABLE message (id, {LARGE}); INSERT INTO message VALUES (1)", [None]),
        (f"CREATE TABLE message (text, {LARGE_ID}); INSERT INTO message VALUES ('a')", ["a"]),
    ],
    ids=["view", "virtual table", "computed column", "computed row id"],
)
def test_nothing_that_a_database_would_run_is_run(path, monkeypatch, script, texts):
    monkeypatch.setattr(databases, "_VALUE_BYTES", 1_000_000)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    assert has(schema(path, MAGIC), "message", "text") == ("a" in texts)
    with opened(path) as database:
        ledger = Ledger()
        rows = database.rows("message", ["text", "rowid"], ledger, order=["rowid"])
        assert [row.get("text") for row in rows] == texts
        assert not ledger.skipped


def endless(path):
    """A database whose pages lead to each other, 200 ways at each of 15 levels."""
    written(path, "first", mode="delete").close()
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master").fetchone()
    data = bytearray(path.read_bytes())
    size, first = 4096, len(data) // 4096 + 1
    leaf = data[(root - 1) * size : root * size]

    def leading_to(page):
        cells = b"".join(struct.pack(">IB", page, key % 100) for key in range(200))
        start = size - len(cells)
        places = b"".join(struct.pack(">H", start + 5 * key) for key in range(200))
        head = struct.pack(">BHHHBI", 5, 0, 200, start, 0, page) + places
        return head.ljust(start, b"\0") + cells

    data[(root - 1) * size : root * size] = leading_to(first)
    for page in range(first, first + 15):
        data += leading_to(page + 1)
    data += leaf
    data[28:32] = struct.pack(">I", len(data) // size)
    path.write_bytes(data)


def test_pages_that_lead_to_each_other_come_to_an_end(path):
    endless(path)
    with opened(path) as database:
        ledger = Ledger()
        rows = sum(1 for _ in database.rows("message", ["text"], ledger))
        assert 0 < rows < 10 * path.stat().st_size
        assert list(database.rows("message", ["text"], ledger, order=["text"])) == []
        assert ledger.skipped == {"damaged row": 2}


def test_a_query_ends_once_its_user_stops_it(path):
    endless(path)
    asked = iter(range(1000))

    def stop():
        if next(asked) > 10:
            raise Stopped

    with opened(path) as database, stopped_by(stop), pytest.raises(Stopped):
        list(database.rows("message", ["text"], Ledger(), order=["text"]))


def test_a_database_that_grows_faster_than_it_is_copied_is_told(path):
    written(path, "first").close()

    def grow():
        with path.open("ab") as file:
            file.write(b"\0" * databases._BLOCK)

    with stopped_by(grow), pytest.raises(UnfitFile, match="being written"), opened(path):
        pass


def test_a_journal_deletes_no_file_that_it_names(path, tmp_path):
    named = tmp_path / "letter.txt"
    named.write_text("Dear Ada")
    with closing(written(path, "first", mode="delete")) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.executemany("INSERT INTO message (text) VALUES (?)", [("x" * 4000,)] * 100)
        journal = path.with_name("chats.db-journal")
        name = str(named).encode()
        end = struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
        data = path.read_bytes(), journal.read_bytes() + struct.pack(">I", 262145) + name + end
    copy = tmp_path / "copy.db"
    copy.write_bytes(data[0])
    copy.with_name("copy.db-journal").write_bytes(data[1])
    with suppress(UnfitFile):
        read(copy)
    assert named.exists()
