"""Whatever happens to the index: searches answer, and come to say what a fresh one says."""

import os
import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.storage.index.conftest import answers, change, hits
from tui.errors import StorageError
from tui.storage.file_store import FileStore
from tui.storage.index import database, ingest
from tui.storage.index.maintenance import IndexMaintenance


def built(data):
    """Do what the process in the background does, once that has ended."""
    IndexMaintenance(data).check()
    for _ in range(2):
        # What is found to be damaged only while it is written is set aside, and made the next time.
        with suppress(StorageError):
            list(IndexMaintenance(data).build("a test"))


@pytest.fixture
def indexed(filled, data, fresh):
    """The sessions with an index that is up to date, and what it answers."""
    before = answers(data)
    assert before == fresh()
    assert before["needle"]
    return before


def asides(data):
    return sorted(path.name for path in data.glob("index.sqlite3.damaged-*"))


@pytest.mark.parametrize(
    "harm",
    [
        os.unlink,
        lambda index: change(index, "pragma user_version = 0", "delete from messages"),
    ],
    ids=["deleted", "older"],
)
def test_a_deleted_or_older_index_is_built_anew_without_a_word(indexed, data, index, harm):
    harm(index)
    assert FileStore(data).search("needle", 10).notice == ""
    assert answers(data) == indexed
    assert asides(data) == []
    assert index.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("size", [0, 1, 50, 100, 4096, 5000, 20_000])
def test_a_truncated_index_is_set_aside_and_built_anew(indexed, data, index, size):
    os.truncate(index, size)
    assert answers(data) == indexed
    assert answers(data) == indexed
    assert FileStore(data).search("needle", 10).notice == ""


def test_what_is_no_database_is_set_aside_and_told_once(indexed, data, index):
    index.write_bytes(b"no database at all" * 1000)
    store = FileStore(data)
    found = store.search("needle", 300)
    assert "damaged" in found.notice
    assert len(found.hits) == len(indexed["needle"])
    assert store.search("needle", 300).notice == ""
    assert [name.startswith("index.sqlite3.damaged-") for name in asides(data)] == [True]
    assert answers(data) == indexed


def test_another_program_s_database_is_set_aside(indexed, data, index):
    index.unlink()
    change(index, "create table mine(x)")
    assert answers(data) == indexed
    assert asides(data)


@pytest.mark.full
@pytest.mark.parametrize("chance", range(20))
def test_flipped_bits_bring_no_wrong_hit_and_are_gone_after_a_rebuild(indexed, data, index, chance):
    numbers = random.Random(chance)
    content = bytearray(index.read_bytes())
    for _ in range(numbers.choice([1, 10, 1000])):
        content[numbers.randrange(len(content))] ^= 1 << numbers.randrange(8)
    index.write_bytes(content)
    for _ in range(2):
        for query, found in answers(data).items():
            assert set(found) <= set(indexed[query])
    try:
        list(IndexMaintenance(data).build("a test", anew=True))
    except StorageError:
        # Found to be damaged only while it was emptied: it has been set aside.
        list(IndexMaintenance(data).build("a test", anew=True))
    assert answers(data) == indexed


@pytest.mark.parametrize("page", range(2, 8))
def test_a_builder_sets_an_index_with_an_overwritten_page_aside(indexed, data, index, page):
    assert database.check(index) is None
    with index.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)
    assert database.check(index) is not None
    built(data)
    assert asides(data)
    assert answers(data) == indexed


@pytest.mark.parametrize("make", [Path.touch, os.mkfifo, Path.mkdir])
def test_the_note_of_an_earlier_version_s_checksums_holds_no_builder(indexed, data, index, make):
    note = data / "index.checked"
    make(note)
    change(index, "pragma user_version = 3")
    assert [*IndexMaintenance(data).build("a test")][-1].done > 0
    assert answers(data) == indexed
    assert note.exists() == (make is Path.mkdir)


def test_a_newer_index_is_left_alone_and_told_once(indexed, data, index):
    change(index, f"pragma user_version = {database.VERSION + 1}")
    before = index.read_bytes()
    store = FileStore(data)
    assert "newer sibyl-tui" in store.search("needle", 10).notice
    assert store.search("needle", 10).notice == ""
    assert answers(data) == indexed
    assert index.read_bytes() == before


@pytest.mark.parametrize(
    ("statements", "notice"),
    [
        (
            ["pragma locking_mode = exclusive", "begin exclusive"],
            "The search index is in use by another window: searching the sessions directly.",
        ),
        (["begin immediate"], ""),
    ],
)
def test_a_locked_index_is_done_without_and_what_is_new_is_found(
    indexed, data, index, say, statements, notice
):
    with closing(sqlite3.connect(index, isolation_level=None)) as holder:
        for each in statements:
            holder.execute(each)
        say("s1", "another needle")
        store = FileStore(data)
        found = store.search("needle", 300, seconds=60)
        assert (found.notice, found.total) == (notice, len(indexed["needle"]) + 1)
        holder.execute("rollback")
    assert len(hits(store, "needle")) == len(indexed["needle"]) + 1


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_plain_file_is_done_without_and_told(indexed, data, index, make):
    index.unlink()
    make(index)
    store = FileStore(data)
    assert "cannot be used" in store.search("needle", 300).notice
    assert answers(data) == indexed


def test_a_lock_that_cannot_be_had_only_leaves_the_index_as_it_is(indexed, data, index, say):
    (data / "index.lock").unlink()
    (data / "index.lock").mkdir()
    say("s1", "another needle")
    assert len(hits(FileStore(data), "needle")) == len(indexed["needle"]) + 1
    with pytest.raises(StorageError):
        list(IndexMaintenance(data).build("a test"))


def test_a_full_disk_is_no_reason_not_to_find(indexed, data, say, monkeypatch):
    class FullIngest(ingest.Ingest):
        def take(self, pending, deadline=None):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    say("s1", "another needle")
    monkeypatch.setattr(ingest, "Ingest", FullIngest)
    found = FileStore(data).search("needle", 300)
    assert (found.notice, found.total) == ("", len(indexed["needle"]) + 1)
    assert found.pending


@pytest.mark.parametrize("indexed_before", [False, True])
def test_an_unreadable_journal_hides_no_other_and_is_told(filled, data, indexed_before):
    path = data / "sessions" / "s3.jsonl"
    if indexed_before:
        assert filled.search("needle", 300).notice == ""
    path.unlink()
    os.mkfifo(path)
    found = FileStore(data).search("needle", 300)
    assert found.notice == "1 session could not be read. Run `sibyl-tui doctor`."
    assert {hit.session_id for hit in found.hits} == {f"s{n}" for n in range(12)} - {"s3"}


def test_where_no_write_ahead_log_can_be_the_index_does_without(filled, data, index, monkeypatch):
    class OnANetwork(sqlite3.Connection):
        def execute(self, sql, *arguments):
            if "journal_mode" in sql:
                raise sqlite3.OperationalError("locking protocol")
            return super().execute(sql, *arguments)

    connect = sqlite3.connect

    def connecting(path, **options):
        return connect(path, factory=OnANetwork, **options)

    monkeypatch.setattr(database.sqlite3, "connect", connecting)
    before = answers(data)
    assert len(before["needle"]) == 12
    assert index.read_bytes()[18:20] == b"\x01\x01"  # the header says: a rollback journal
    assert answers(data) == before


def test_damage_that_shows_only_in_a_query_is_told_and_mended(indexed, data, index):
    change(index, "update words_data set block = x'00ff00ff' where id > 100")
    store = FileStore(data)
    found = store.search("needle", 300)
    assert "damaged" in found.notice
    assert found.total == 12
    assert answers(data) == indexed


def test_a_lock_of_the_index_that_is_no_file_fails_no_search(indexed, data):
    (data / "index.lock").unlink()
    (data / "index.lock").symlink_to("index.lock")
    assert answers(data) == indexed
