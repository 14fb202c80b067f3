"""Locks between programs."""

import errno
import fcntl
import os
import stat
import threading
from datetime import UTC, datetime

import pytest

from tests.failing import raiser
from tui.errors import StorageError
from tui.storage import locks
from tui.storage.file_store import FileStore
from tui.storage.locks import LockHeld, holder_of, take

NOW = datetime(2026, 1, 11, 14, 30, tzinfo=UTC)
HOLD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from tui.storage.locks import take
lock = take(Path(sys.argv[1]))
lock.note(datetime(2026, 1, 11, 14, 30, tzinfo=UTC))
print("ready", flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "it.lock"


@pytest.fixture
def holder(program, path):
    """Another process that holds the lock."""
    other = program(HOLD, path)
    assert other.read() == "ready"
    return other


def test_a_lock_is_held_by_one_and_its_file_is_private(path):
    lock = take(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(LockHeld):
        take(path, patience=0)
    lock.release()
    lock.release()
    take(path, patience=0).release()


def test_a_new_lock_must_not_be_there_and_a_destroyed_one_is_gone_and_free(path):
    lock = take(path, new=True)
    lock.release()
    with pytest.raises(FileExistsError):
        take(path, new=True)
    lock = take(path)
    lock.destroy()
    assert not path.exists()
    assert not lock.held
    take(path, new=True)


@pytest.mark.parametrize("end", ["release", "kill"])
def test_whether_a_lock_is_held_is_known_to_other_processes(path, holder, end):
    with pytest.raises(LockHeld) as told:
        take(path, patience=0)
    for known in (told.value.holder, holder_of(path)):
        assert (known.pid, known.since, known.host) == (holder.pid, NOW, os.uname().nodename)
    if end == "kill":
        holder.kill()
    else:
        holder.tell("release")
        assert holder.read() == "released"
    assert holder_of(path) is None
    take(path, patience=0)


def test_a_child_process_does_not_keep_the_lock(path, program):
    lock = take(path)
    child = program("import sys; print('ready', flush=True); sys.stdin.readline()")
    assert child.read() == "ready"
    lock.release()
    assert holder_of(path) is None


def test_many_may_ask_for_the_holder_and_it_leaves_nothing(path):
    assert holder_of(path) is None
    assert not path.exists()
    take(path).release()
    asking = os.open(path, os.O_RDONLY)
    fcntl.flock(asking, fcntl.LOCK_SH)
    assert holder_of(path) is None
    os.close(asking)
    take(path, patience=0)


def test_a_taker_waits_for_those_who_only_ask(path, monkeypatch):
    take(path).release()
    asking = os.open(path, os.O_RDONLY)
    fcntl.flock(asking, fcntl.LOCK_SH)
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            os.close(asking)

    monkeypatch.setattr(locks.time, "sleep", pause)
    assert take(path).held
    assert len(pauses) == 3


def test_a_taker_gives_up_after_a_quarter_of_a_second(path, monkeypatch):
    lock, now = take(path), [0.0]
    monkeypatch.setattr(locks.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(locks.time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    with pytest.raises(LockHeld):
        take(path)
    assert 0.25 <= now[0] < 0.3
    assert lock.held


@pytest.mark.parametrize(
    "note",
    [
        *(b"[" * 4096, b'{"pid":1e999}', b"", b"garbage", b"{}", b'{"pid":"x"}', b"[1]", b"\xff"),
        b"null",
    ],
)
def test_a_holder_that_has_not_signed_is_a_holder_all_the_same(path, note):
    lock = take(path)
    os.pwrite(lock.descriptor, note, 0)
    assert holder_of(path).process == "pid 0 on unknown host"
    with pytest.raises(LockHeld):
        take(path, patience=0)


def test_a_signature_leaves_nothing_of_a_longer_one_and_a_lock_is_one_without_it(path, monkeypatch):
    lock = take(path)
    os.pwrite(lock.descriptor, b"x" * 300, 0)
    lock.note(NOW)
    assert holder_of(path).pid == os.getpid()
    monkeypatch.setattr(os, "pwrite", raiser(OSError(errno.ENOSPC, "full")))
    lock.note(NOW)
    assert lock.held


@pytest.mark.parametrize("change", ["destroyed", "replaced"])
def test_who_locked_a_file_that_was_changed_meanwhile_starts_again(path, monkeypatch, change):
    real = fcntl.flock

    def flock(descriptor, kind):
        """It happens between the taker's opening and locking of the file."""
        monkeypatch.setattr(locks.fcntl, "flock", real)
        if change == "destroyed":
            holder.destroy()
        else:
            holder.release()
            path.unlink()
            path.touch()
        real(descriptor, kind)

    holder = take(path)
    monkeypatch.setattr(locks.fcntl, "flock", flock)
    lock = take(path, patience=0)
    assert os.path.samestat(os.fstat(lock.descriptor), path.stat())
    with pytest.raises(LockHeld):
        take(path, patience=0)


def test_nothing_stays_open_when_a_lock_cannot_be_had(path, monkeypatch):
    lock = take(path)
    opened = os.dup(lock.descriptor)
    os.close(opened)
    with pytest.raises(LockHeld):
        take(path, patience=0)
    monkeypatch.setattr(locks.fcntl, "flock", raiser(OSError(errno.ENOLCK, "no locks")))
    for ask in (take, holder_of):
        with pytest.raises(OSError, match="no locks"):
            ask(path)
    again = os.dup(lock.descriptor)
    assert again == opened
    os.close(again)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told_with_a_way_out(tmp_path, monkeypatch, number):
    store = FileStore(tmp_path)
    store.create("project:/shop", "/shop", "m").release()
    monkeypatch.setattr(locks.fcntl, "flock", raiser(OSError(number, "No locks available")))
    way_out = r"has no locks\. Keep the sessions on another one: --data-dir FOLDER"
    with pytest.raises(StorageError, match=way_out):
        store.create("project:/shop", "/shop", "m")
    with pytest.raises(StorageError, match=way_out):
        list(store.build_index("a test"))
    with pytest.raises(StorageError, match=way_out), locks.alone(tmp_path / "list.json"):
        pass


def test_a_link_in_the_place_of_a_lock_is_not_followed(path, tmp_path):
    path.symlink_to(tmp_path / "victim")
    for ask in (take, holder_of):
        with pytest.raises(OSError, match=path.name):
            ask(path)
    assert not (tmp_path / "victim").exists()


def test_a_pipe_in_the_place_of_a_lock_stops_nobody(path):
    os.mkfifo(path)
    done = threading.Event()

    def ask():
        holder_of(path)
        done.set()

    threading.Thread(target=ask, daemon=True).start()
    assert done.wait(60)
