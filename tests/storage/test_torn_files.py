"""Programs that die at any moment, and power that goes at any moment."""

import os
import shutil

import pytest

from tests.builders import Clock, answer, at, every_kind, kept_texts, texts, todos, user
from tests.storage.contract import ALL, SCOPE, closed, new, state
from tests.storage.stories import load
from tests.storage.test_disk import Fails
from tui.domain.journal.records import Closed, Opened, Reset
from tui.errors import StorageError
from tui.storage.file_store import FileStore
from tui.storage.folders import SUFFIX

# --- torn tails

WHOLE = every_kind()


@pytest.mark.full
def test_whatever_a_tail_was_torn_from_the_next_append_closes_it(store, put, monkeypatch):
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: None)
    for cut in range(len(WHOLE.lines[0]), len(WHOLE.data) + 1):
        torn = WHOLE.data[:cut]
        path = put(torn)
        left = load(torn)
        lease = store.lease("tale")
        interrupted = store.journal("tale").tail(50).session.interrupted
        assert texts(interrupted) == texts(left.interrupted), cut
        store.append(lease, [*interrupted, user("new", "after"), state("N", 9, 9)])
        lease.release()
        session = load(path.read_bytes())
        assert texts(session.all_messages) == [*texts(left.all_messages), "after"], cut
        assert session.damaged == left.damaged <= 1, cut
        assert path.read_bytes().startswith(torn), cut
        assert store.journal("tale").tail(1).session.loaded_messages[-1].id == "new", cut


# --- a program that dies


class Died(BaseException):
    """The program is gone: nothing that it would have done after this is done."""


class Life:
    """Counts the system calls of a program and ends it before one of them, for good."""

    CALLS = (
        *("open", "write", "pwrite", "fdatasync", "fsync", "link", "unlink", "rename"),
        *("ftruncate", "utime", "fchmod"),
    )

    def __init__(self, monkeypatch, ends_before):
        self.calls, self.ends_before, self.open = 0, ends_before, set()
        for name in self.CALLS:
            monkeypatch.setattr(os, name, self._mortal(getattr(os, name)))
        close = os.close
        monkeypatch.setattr(os, "close", lambda fd: (self.open.discard(fd), close(fd))[1])

    @property
    def over(self):
        return self.calls >= self.ends_before

    def _mortal(self, real):
        def call(*arguments, **named):
            self.calls += 1
            if self.over:
                raise Died
            result = real(*arguments, **named)
            if real.__name__ == "open":
                self.open.add(result)
            return result

        return call

    def bury(self, locks):
        """What the system does for a dead program: its files are closed, its locks are free."""
        for lock in locks:
            if lock.descriptor in self.open:
                lock.descriptor = -1
        for descriptor in self.open:
            os.close(descriptor)


def world(root, clock):
    """A kept, an archived and a trashed session, and their store."""
    store = FileStore(root, clock)
    for name in ("kept", "archived", "trashed"):
        closed(
            store, user("m1", name), answer("m2"), todos(name), state(name, 2, 1), session_id=name
        )
    store.archive("archived")
    store.delete("trashed")
    return store


def append(store):
    lease = store.lease("kept")
    store.append(lease, [Opened(at(1)), user("m3", "more"), state("kept", 3, 2)])
    store.append(lease, [answer("m4", "most"), Closed(at(2))])
    lease.release()


VERBS = {
    "create": lambda store: closed(store, user("m1", "new"), session_id="new"),
    "append": append,
    "append to an archived one": lambda store: store.append(
        store.lease("archived"), [user("m3", "more")]
    ),
    "archive": lambda store: store.archive("kept"),
    "delete": lambda store: store.delete("kept"),
    "delete an archived one": lambda store: store.delete("archived"),
    "restore an archived one": lambda store: store.restore("archived"),
    "restore a trashed one": lambda store: store.restore("trashed"),
    "purge": lambda store: store.purge("trashed"),
    "set_active": lambda store: store.set_active(SCOPE, "archived"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_program_may_die_before_any_of_its_system_calls(
    tmp_path, monkeypatch, verb, locks_are_given_up
):
    template = tmp_path / "template"
    world(template, Clock())
    for ends_before in range(1, 200):
        root = tmp_path / str(ends_before)
        shutil.copytree(template, root)
        with monkeypatch.context() as patch:
            life = Life(patch, ends_before)
            try:
                VERBS[verb](FileStore(root, Clock()))
            except Died:
                pass
            finally:
                patch.undo()
                life.bury(locks_are_given_up)
        check_the_rest(root, verb)
        if not life.over:
            assert ends_before > 3
            return
    raise AssertionError("it never came to its end")


def check_the_rest(root, verb):
    """Everything that was there is there once and goes on; numbers are not given twice."""
    store = FileStore(root, Clock())
    entries = {entry.id: entry for entry in store.list(ALL, None, 20).entries}
    assert entries.keys() - {"new"} >= {"kept", "archived"}
    assert "trashed" in entries or verb == "purge"
    assert len(store.list(ALL, None, 20).entries) == len(entries)
    for name in entries.keys() - {"new"}:
        session = store.journal(name).load()
        assert texts(session.all_messages)[:2] == [name, "hi"]
        assert (session.name, session.damaged) == (name, 0)
        assert session.todos == todos(name).items
        if entries[name].status == "trashed":
            store.restore(name)
        lease = store.lease(name)
        store.append(lease, [user("m9", "on")])
        assert store.journal(name).load().loaded_messages[-1].text == "on"
        store.archive(name)
        store.restore(name)
        store.delete(name)
        lease.release()
        assert kept_texts(store, name)[-1] == "on"
    numbers = [store.journal(name).load().header.ordinal for name in entries]
    assert len(set(numbers)) == len(numbers)
    assert store.journal(closed(store)).load().header.ordinal > max(numbers)


# --- a power cut


class Disk:
    """Remembers what is really on the disk: what was synced, under the names that were synced."""

    def __init__(self, monkeypatch, root):
        self.root, self.contents, self.names = root, {}, {}
        self.paths = {}
        self._real = {name: getattr(os, name) for name in ("open", "fdatasync", "fsync")}
        for name in self._real:
            monkeypatch.setattr(os, name, getattr(self, name))

    def open(self, path, flags, *arguments, **named):
        descriptor = self._real["open"](path, flags, *arguments, **named)
        self.paths[descriptor] = os.fspath(path)
        if flags & os.O_CREAT and os.fstat(descriptor).st_size == 0:
            self.contents.pop(os.fstat(descriptor).st_ino, None)
        return descriptor

    def fdatasync(self, descriptor):
        status = os.fstat(descriptor)
        with open(f"/proc/self/fd/{descriptor}", "rb") as file:
            self.contents[status.st_ino] = file.read()

    def fsync(self, descriptor):
        path = self.paths[descriptor]
        found = {name: os.lstat(os.path.join(path, name)) for name in os.listdir(path)}
        self.names[path] = found

    def after_power_cut(self, target):
        self._restore(str(self.root), target)
        return FileStore(target, Clock())

    def _restore(self, path, target):
        os.makedirs(target)
        for name, status in self.names.get(path, {}).items():
            if os.path.isdir(os.path.join(path, name)):
                self._restore(os.path.join(path, name), os.path.join(target, name))
            else:
                with open(os.path.join(target, name), "wb") as file:
                    file.write(self.contents.get(status.st_ino, b""))


@pytest.fixture
def disk(monkeypatch, tmp_path, data):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc")
    return Disk(monkeypatch, data)


@pytest.fixture
def cut(disk, tmp_path):
    """Gives a store of what is left after a power cut at this moment."""
    numbers = iter(range(1000))
    return lambda: disk.after_power_cut(tmp_path / f"cut-{next(numbers)}")


def test_what_was_acknowledged_is_there_after_a_power_cut(store, cut):
    lease = new(store, user("m1", "one"))
    assert kept_texts(cut(), lease.session_id) == ["one"]
    for number in range(2, 5):
        store.append(lease, [user(f"m{number}", str(number)), state("Tale", number, number)])
        after = cut()
        assert kept_texts(after, lease.session_id)[-1] == str(number)
        assert after.journal(lease.session_id).load().message_count == number
    store.append(lease, [Reset(at(9))])
    assert cut().journal(lease.session_id).load().loaded_messages == ()


def test_numbers_and_active_sessions_are_there_after_a_power_cut(store, cut):
    first, second = closed(store), closed(store)
    store.set_active(SCOPE, first)
    after = cut()
    assert after.active(SCOPE) == first
    assert after.resolve("#2", SCOPE) == second
    assert after.journal(closed(after)).load().header.ordinal == 3


@pytest.mark.parametrize(
    ("verbs", "status"),
    [
        (["archive"], "archived"),
        (["delete"], "trashed"),
        (["archive", "delete"], "trashed"),
        (["archive", "restore"], "closed"),
        (["delete", "restore"], "closed"),
        (["delete", "purge"], None),
    ],
)
def test_what_was_moved_is_where_it_was_moved_to_after_a_power_cut(store, cut, verbs, status):
    name = closed(store)
    for verb in verbs:
        getattr(store, verb)(name)
    after = cut()
    found = [(entry.id, entry.status) for entry in after.list(ALL, None, 5).entries]
    assert found == ([(name, status)] if status else [])
    assert not status or kept_texts(after, name) == ["hello"]


@pytest.mark.parametrize("name_fails", [False, True])
def test_what_was_written_anew_after_a_failed_sync_is_there_after_a_power_cut(
    store, disk, cut, monkeypatch, name_fails
):
    lease = new(store)
    with monkeypatch.context() as patch:
        Fails(patch, "fdatasync")
        if name_fails:
            Fails(patch, "fsync")
            with pytest.raises(StorageError, match="Input/output"):
                store.append(lease, [user("m2", "two")])
        store.append(lease, [user("m2", "two")])
    assert kept_texts(cut(), lease.session_id) == ["hello", "two"]
    store.append(lease, [user("m3", "three")])
    assert kept_texts(cut(), lease.session_id) == ["hello", "two", "three"]


@pytest.mark.parametrize("call", ["link", "unlink", "fsync"])
def test_at_every_moment_of_every_move_a_power_cut_loses_nothing(store, cut, monkeypatch, call):
    name = closed(store)
    real, moments = getattr(os, call), []

    def step(*arguments, **named):
        for moment in ("before", "after"):
            moments.append(kept_texts(cut(), name))
            if moment == "before":
                real(*arguments, **named)

    for verb in ("archive", "restore", "delete", "restore"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, step)
            getattr(store, verb)(name)
    assert len(moments) >= 8
    assert all(moment == ["hello"] for moment in moments)


def test_the_power_cuts_of_these_tests_do_cut(store, disk, cut, monkeypatch):
    """Without the syncs there is nothing left: else these tests would show nothing."""
    lease = new(store)
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: None)
    store.append(lease, [user("m2", "not synced")])
    assert kept_texts(cut(), lease.session_id) == ["hello"]
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    name = closed(store)
    assert not any(name + SUFFIX in files for _, _, files in os.walk(cut().root))
