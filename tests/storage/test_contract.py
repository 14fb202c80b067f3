"""The contract, for the backends there are."""

import errno
import os

import pytest

from tests.builders import header
from tests.storage.contract import StoreContract
from tui.domain.journal.records import encode
from tui.storage.file_store import FileStore


class FileBackend:
    def __init__(self, root, clock, monkeypatch):
        self.store = FileStore(root, clock)
        self._root, self._clock, self._monkeypatch = root, clock, monkeypatch

    def another_program(self):
        return FileStore(self._root, self._clock)

    def fail_next(self):
        write = os.write

        def no_room(descriptor, data):
            self._monkeypatch.setattr(os, "write", write)
            raise OSError(errno.ENOSPC, "no room")

        self._monkeypatch.setattr(os, "write", no_room)

    def slip_in(self, session_id, record):
        with self.store.path(session_id).open("ab") as file:
            file.write(encode(record))

    def make_newer(self, session_id):
        path = self.store.path(session_id)
        _, rest = path.read_bytes().split(b"\n", 1)
        path.write_bytes(encode(header(session_id, version=2)) + rest)

    def spoil(self, session_id):
        path = self.store.path(session_id)
        path.unlink()
        os.mkfifo(path)


class TestFileStore(StoreContract):
    @pytest.fixture
    def backend(self, data, clock, monkeypatch):
        return FileBackend(data, clock, monkeypatch)
