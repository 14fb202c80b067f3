"""The journals of a data directory as bytes."""

import os

import pytest

from tests.builders import user
from tests.storage.contract import closed
from tests.storage.copy_contract import CopyContract, content, lines, put, stored
from tests.storage.test_contract import FileBackend
from tui.domain.journal.records import encode
from tui.errors import StorageError
from tui.storage import locks
from tui.storage.file_store import FileStore


class TestFileStore(CopyContract):
    @pytest.fixture
    def backend(self, data, clock, monkeypatch):
        return FileBackend(data, clock, monkeypatch)


def test_a_half_written_line_is_left_out_while_its_writer_lives(store, lease, data, clock):
    path = store.path(lease.session_id)
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(encode(user("m2"))[:9])
    other = FileStore(data, clock).journals
    assert content(other, lease.session_id) == whole
    lease.release()
    assert content(other, lease.session_id) == path.read_bytes()


def test_a_half_written_line_is_left_out_if_its_writer_ends_meanwhile(
    store, lease, data, clock, monkeypatch
):
    path = store.path(lease.session_id)
    whole, line = path.read_bytes(), encode(user("m2"))
    with path.open("ab") as file:
        file.write(line[:9])
    holder_of = locks.holder_of

    def ended(place):
        with path.open("ab") as file:
            file.write(line[9:])
        lease.release()
        return holder_of(place)

    other = FileStore(data, clock).journals
    monkeypatch.setattr(locks, "holder_of", ended)
    assert other.find(lease.session_id).size == len(whole)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_no_regular_file_is_an_error_of_its_session(store, make):
    session_id = closed(store)
    path = store.path(session_id)
    path.unlink()
    make(path)
    assert session_id in store.journals.sizes()
    with pytest.raises(StorageError):
        store.journals.find(session_id)


def test_no_lock_is_left(store, data):
    put(store.journals, lines())
    store.journals.extend(stored(size=900), len(lines()), [encode(user("m2"))])
    assert not list((data / "locks").glob("tale*"))


def test_nothing_else_is_left_of_a_copy_that_failed(store, data):
    def blocks():
        yield lines()
        raise StorageError("the source is gone")

    with pytest.raises(StorageError):
        store.journals.add(stored(size=900), blocks())
    assert not list((data / "archive").iterdir())
