"""What the tests of the storage are made of: stores, journals in them, and other programs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import Clock
from tests.storage.contract import closed, new
from tui.storage import locks
from tui.storage.file_store import FileStore

_REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def locks_are_given_up(monkeypatch):
    """What a test still holds at its end is free again, and its files are closed."""
    taken = []

    class Lock(locks.Lock):
        def __post_init__(self):
            taken.append(self)

    monkeypatch.setattr(locks, "Lock", Lock)
    yield taken
    for lock in taken:
        lock.release()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def store(data, clock):
    return FileStore(data, clock)


@pytest.fixture
def name(store):
    """The id of a closed session."""
    return closed(store)


@pytest.fixture
def lease(store):
    """A session that is held."""
    return new(store)


@pytest.fixture
def put(store):
    """Puts a journal where the store finds it."""

    def place(data, session_id="tale", folder="sessions"):
        store.root.joinpath(folder).mkdir(parents=True, exist_ok=True)
        path = store.root / folder / f"{session_id}.jsonl"
        # A new file: ext4 writes back at once what was emptied and filled again.
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        return path

    return place


class Program:
    """Another process. It says ``ready`` when it has done its work, and ends when it is told."""

    def __init__(self, code, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=_REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self):
        return self.process.pid

    def read(self):
        return self.process.stdout.readline().strip()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        output, _ = self.process.communicate()
        assert self.process.returncode == 0
        return output

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def program():
    """Starts other processes, and ends what is left of them."""
    started = []

    def start(code, *arguments):
        started.append(Program(code, *arguments))
        return started[-1]

    yield start
    for each in started:
        each.kill()
