"""Appending to a journal: what counts as saved, and what failures leave behind."""

import errno
import itertools
import os
from pathlib import Path

import msgspec
import pytest

from tests.builders import Story, answer, at, kept_texts, texts, todos, user
from tests.storage.contract import SCOPE, new, state
from tests.storage.test_disk import Fails, cut_writes, recorded
from tui.domain.journal.records import Closed, Offsets, Opened, Reset, Restored, encode
from tui.errors import SessionDamaged, StorageError, StorageFull
from tui.storage.file_store import FileStore
from tui.storage.writer import encode_lines, last_use

BATCH = [answer("m2", "answer"), todos("write"), Reset(at(3)), user("m3", "after")]


@pytest.fixture
def lease(store):
    return new(store, user("m1", "first"))


@pytest.fixture
def path(store, lease):
    return store.path(lease.session_id)


@pytest.fixture
def other(store, clock):
    """The same sessions as another program sees them."""
    return FileStore(store.root, clock)


def has_only(store, lease, *expected):
    """Whether a session has these texts, each once, and no damage."""
    session = store.journal(lease.session_id).load()
    assert texts(session.all_messages) == list(expected)
    assert session.damaged == 0
    return session


# --- what an append does


def test_an_append_is_one_write_and_then_a_sync_behind_all_that_was_there(
    store, lease, path, monkeypatch
):
    before, inode = path.read_bytes(), path.stat().st_ino
    done = recorded(monkeypatch, "write", "fdatasync")
    store.append(lease, BATCH)
    assert [name for name, _ in done] == ["write", "fdatasync"]
    assert len({descriptor for _, descriptor in done}) == 1
    assert path.read_bytes().startswith(before)
    assert path.stat().st_ino == inode


def test_no_session_grows_beyond_what_is_read(store, lease, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("tui.storage.writer.JOURNAL_BYTES", len(before) + 10)
    with pytest.raises(StorageError, match="has reached the largest size"):
        store.append(lease, [user("m2")])
    assert path.read_bytes() == before
    monkeypatch.undo()
    store.append(lease, [user("m2", "second")])
    has_only(store, lease, "first", "second")


def test_nothing_stays_open_after_an_append(store, lease, path, monkeypatch):
    probe = os.dup(0)
    os.close(probe)
    store.append(lease, BATCH)
    Fails(monkeypatch, "write")
    with pytest.raises(StorageError):
        store.append(lease, [user("m4")])
    again = os.dup(0)
    os.close(again)
    assert again == probe


def test_a_state_says_where_the_last_of_each_kind_is(store, lease, path):
    store.append(lease, [todos("one")])
    store.append(lease, [Reset(at(1)), todos("two"), state("A", 0, 1)])
    store.append(lease, [user("m4"), state("B", 1, 2)])
    data = path.read_bytes()
    offsets = store.journal(lease.session_id).tail(1).session.offsets
    assert data[offsets.todos :].startswith(b'{"type":"todos"')
    assert b"two" in data[offsets.todos :].split(b"\n")[0]
    assert data[offsets.reset :].startswith(b'{"type":"reset"')
    assert data.splitlines()[-1].endswith(
        f'"offsets":{{"summary":null,"todos":{offsets.todos},"reset":{offsets.reset}'
        ',"settings":null}}'.encode()
    )


def test_a_state_of_the_next_holder_still_says_where_things_are(store, lease, path):
    store.append(lease, [todos("one"), state("A", 1, 1)])
    lease.release()
    again = store.lease(lease.session_id)
    store.append(again, [*[user(f"n{n}", "x" * 3000) for n in range(40)], state("B", 41, 41)])
    place = store.journal(lease.session_id).tail(1).session.offsets.todos
    assert path.read_bytes()[place:].startswith(b'{"type":"todos"')
    assert store.journal(lease.session_id).tail(1).session.todos == todos("one").items


def test_lines_know_where_they_will_stand():
    offered = msgspec.structs.replace(state(), offsets=Offsets(summary=1, todos=2, reset=3))
    data, offsets = encode_lines([todos("a"), Reset(at()), offered], 100, Offsets(summary=50))
    assert offsets == Offsets(todos=100, reset=100 + data.index(b'{"type":"reset"'))
    assert b'"offsets":{"summary":null,"todos":100,"reset":' in data


def test_a_line_that_was_encoded_before_is_written_as_it_is_unless_it_is_a_state():
    data, _ = encode_lines([todos("a"), Reset(at())], 0, Offsets(), [b"known\n"])
    assert data.splitlines(keepends=True)[0] == b"known\n"
    assert len(data.splitlines()) == 2
    data, _ = encode_lines([state()], 0, Offsets(summary=50), [b"known\n"])
    assert b'"summary":50' in data


# --- failures

ONE_FAULT = [
    (name, first, forever)
    for name in ("open", "write", "fdatasync", "fstat", "pread")
    for first in (1, 2, 3)
    for forever in (False, True)
]


def is_saved(store, lease, records):
    try:
        store.append(lease, records)
    except SessionDamaged:
        raise
    except StorageError:
        return False
    return True


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("fault", ONE_FAULT, ids=str)
def test_after_any_failure_nothing_counts_and_the_same_append_succeeds(
    store, lease, other, monkeypatch, fault, code
):
    name, first, forever = fault
    with monkeypatch.context() as patch:
        fails = Fails(patch, name, code, first, forever=forever)
        saved = is_saved(store, lease, BATCH)
    assert not saved or fails.calls < first or name == "fdatasync"
    if not saved:
        has_only(other, lease, "first")
        assert store.append(lease, BATCH).foreign == ()
    session = has_only(other, lease, "first", "answer", "after")
    assert len(session.entries) == 4
    assert texts(session.loaded_messages) == ["after"]
    store.append(lease, [user("m4", "more")])
    has_only(other, lease, "first", "answer", "after", "more")


TWO_FAULTS = [
    *itertools.product(
        ["write", "short", "fdatasync"],
        ["ftruncate", "rename", "open", "fsync", "link", "write"],
        [1, 2, 3],
        [False, True],
    )
]


@pytest.mark.parametrize("faults", TWO_FAULTS, ids=str)
def test_after_two_failures_at_once_nothing_is_lost_and_nothing_is_there_twice(
    store, lease, other, monkeypatch, faults
):
    name, then, first, forever = faults
    with monkeypatch.context() as patch:
        if name == "short":
            cut_writes(patch, 90)
        else:
            Fails(patch, name, forever=forever)
        Fails(patch, then, errno.EIO, first, forever=forever)
        saved = is_saved(store, lease, BATCH)
    assert texts(other.journal(lease.session_id).load().all_messages)[0] == "first"
    if not saved:
        assert store.append(lease, BATCH).foreign == ()
    session = has_only(other, lease, "first", "answer", "after")
    assert len(session.entries) == 4
    store.append(lease, [user("m4", "more")])
    has_only(other, lease, "first", "answer", "after", "more")


def test_a_short_write_is_taken_back(store, lease, path, monkeypatch):
    before = path.read_bytes()
    cut_writes(monkeypatch, 50)
    with pytest.raises(StorageFull):
        store.append(lease, BATCH)
    assert path.read_bytes() == before


def test_after_a_failed_sync_what_is_acknowledged_lies_in_a_new_file(
    store, lease, path, other, monkeypatch
):
    before = path.stat().st_ino
    with monkeypatch.context() as patch:
        Fails(patch, "fdatasync")
        done = recorded(patch, "rename", "fsync")
        store.append(lease, BATCH)
    assert path.stat().st_ino != before
    assert path.stat().st_mode & 0o777 == 0o600
    assert [name for name, _ in done] == ["rename", "fsync"]
    assert [name for name in os.listdir(path.parent) if name.startswith(".")] == []
    store.append(lease, [user("m4", "more")])
    has_only(other, lease, "first", "answer", "after", "more")


@pytest.mark.parametrize("may_be_taken_back", [True, False])
def test_when_neither_syncing_nor_writing_anew_works_all_is_as_before_once_it_can_be(
    store, lease, path, monkeypatch, may_be_taken_back
):
    before, inode = path.read_bytes(), path.stat().st_ino
    with monkeypatch.context() as patch:
        Fails(patch, "fdatasync", forever=True)
        if not may_be_taken_back:
            Fails(patch, "ftruncate", forever=True)
        for _ in range(3):
            with pytest.raises(StorageError):
                store.append(lease, BATCH)
    assert path.stat().st_ino == inode
    assert (path.read_bytes() == before) == may_be_taken_back
    assert store.append(lease, BATCH).foreign == ()
    has_only(store, lease, "first", "answer", "after")
    assert path.read_bytes().count(b'"answer"') == 1


def test_a_new_name_that_may_not_be_durable_is_made_so_before_anything_is_acknowledged(
    store, lease, path, monkeypatch
):
    with monkeypatch.context() as patch:
        Fails(patch, "fdatasync")
        Fails(patch, "fsync", forever=True)
        # The second time the sync of the file works again, that of its folder does not.
        for _ in range(2):
            with pytest.raises(StorageError):
                store.append(lease, BATCH)
    synced = recorded(monkeypatch, "fsync")
    store.append(lease, BATCH)
    assert len(synced) == 1
    store.append(lease, [user("m4", "more")])
    assert len(synced) == 1
    has_only(store, lease, "first", "answer", "after", "more")


def test_what_could_not_be_taken_back_is_taken_back_by_the_next_append(
    store, lease, path, monkeypatch
):
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        Fails(patch, "fdatasync", forever=True)
        Fails(patch, "ftruncate", forever=True)
        with pytest.raises(StorageError):
            store.append(lease, [user("m2", "never acknowledged")])
    assert path.read_bytes() > before
    store.append(lease, [user("m3", "another")])
    has_only(store, lease, "first", "another")


def test_where_nothing_can_be_taken_back_ever_saving_goes_on(store, lease, other, monkeypatch):
    Fails(monkeypatch, "ftruncate", errno.EPERM, forever=True)
    with monkeypatch.context() as patch:
        cut_writes(patch, 50)
        with pytest.raises(StorageFull):
            store.append(lease, BATCH)
    store.append(lease, BATCH)
    session = other.journal(lease.session_id).load()
    assert texts(session.all_messages) == ["first", "answer", "after"]
    assert session.damaged == 1


def test_what_of_ones_own_cannot_be_taken_back_is_nobody_elses(
    store, lease, path, other, monkeypatch
):
    batch = [*BATCH, state("Old", 1, 1)]
    before = path.read_bytes()
    with monkeypatch.context() as stuck:
        Fails(stuck, "ftruncate", forever=True)
        with monkeypatch.context() as patch:
            Fails(patch, "fdatasync", forever=True)
            for _ in range(2):
                with pytest.raises(StorageError):
                    store.append(lease, batch)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda *_: 0)
            with pytest.raises(StorageError):
                store.append(lease, batch)
        assert path.read_bytes() > before
        appended = store.append(lease, [*batch, user("m4", "more"), state("New", 2, 3)])
    assert appended.foreign == ()
    found = other.journal(lease.session_id).load()
    assert texts(found.all_messages) == ["first", "answer", "after", "more"]
    assert other.entry(lease.session_id).name == "New"


def test_a_first_append_that_got_further_than_it_could_tell_is_made_again(store, monkeypatch):
    """The journal was published; then it could not be opened again."""
    for first in range(1, 20):
        lease = store.create(SCOPE, "/shop", "m")
        with monkeypatch.context() as patch:
            fails = Fails(patch, "open", errno.EMFILE, first)
            try:
                store.append(lease, [user("m1", "one")])
            except StorageError:
                patch.undo()
                store.append(lease, [user("m1", "one"), answer("m2", "two")])
                has_only(store, lease, "one", "two")
        if fails.calls < first:
            return
    raise AssertionError("it never got through")


def test_a_file_that_somebody_else_put_there_is_not_replaced(store, put):
    lease = store.create(SCOPE, "/shop", "m", session_id="mine")
    path = put(Story("mine").user("precious").data, "mine")
    with pytest.raises(StorageError):
        store.append(lease, [user("m1", "one")])
    assert b"precious" in path.read_bytes()


# --- somebody else


@pytest.mark.parametrize("was_there_before", [True, False])
def test_a_torn_tail_of_somebody_else_is_closed_and_stays(store, put, other, was_there_before):
    torn = b'\0\0\0{"type":"message","id":"torn'
    path = put(Story().user("first").data + (torn if was_there_before else b""))
    lease = store.lease("tale")
    if not was_there_before:
        with path.open("ab") as file:
            file.write(torn)
    assert store.append(lease, [user("n2", "second")]).foreign == ()
    session = other.journal("tale").load()
    assert (texts(session.loaded_messages), session.damaged) == (["first", "second"], 1)
    assert path.read_bytes().count(torn + b"\n{") == 1


def test_a_whole_last_line_without_its_newline_is_closed_and_counts(store, put, other):
    put(Story().user("first").data.removesuffix(b"\n"))
    lease = store.lease("tale")
    store.append(lease, [user("n2", "second")])
    has_only(other, lease, "first", "second")


def test_what_others_added_is_given_back_and_keeps_its_place(store, lease, path, other):
    with path.open("ab") as file:
        file.write(encode(user("x1", "foreign")) + b"garbage\n" + b'{"type":"novel"}\n')
        file.write(encode(todos("theirs")))
    appended = store.append(lease, [user("m2", "own"), state("N", 3, 3)])
    assert appended.foreign == (user("x1", "foreign"), todos("theirs"))
    assert kept_texts(other, lease.session_id) == ["first", "foreign", "own"]
    offsets = other.journal(lease.session_id).tail(1).session.offsets
    assert path.read_bytes()[offsets.todos :].startswith(encode(todos("theirs")))


def test_what_others_added_is_given_back_after_a_failure_too(store, lease, path, monkeypatch):
    with path.open("ab") as file:
        file.write(encode(user("x1", "foreign")))
    for name in ("write", "fdatasync"):
        with monkeypatch.context() as patch:
            Fails(patch, name, forever=True)
            with pytest.raises(StorageError):
                store.append(lease, BATCH)
    assert store.append(lease, BATCH).foreign == (user("x1", "foreign"),)
    has_only(store, lease, "first", "foreign", "answer", "after")


@pytest.mark.parametrize("more", [(), (user("x1", "synced from elsewhere"),)])
def test_a_file_replaced_by_a_copy_of_itself_goes_on(store, lease, path, other, more):
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes() + b"".join(map(encode, more)))
    copy.rename(path)
    assert store.append(lease, [user("m2", "own")]).foreign == more
    has_only(other, lease, "first", *texts(more), "own")


def replaced(path):
    path.with_name("new").write_bytes(Story().user("somebody else's").data * 20)
    path.with_name("new").rename(path)


CHANGES = {
    "shortened": lambda path: os.truncate(path, path.stat().st_size - 10),
    "emptied": lambda path: path.write_bytes(b""),
    "removed": Path.unlink,
    "replaced": replaced,
    "overwritten": lambda path: path.write_bytes(path.read_bytes()[::-1]),
    "made a folder": lambda path: (path.unlink(), path.mkdir()),
    "made a link": lambda path: path.rename(path.with_name("x")) and path.symlink_to("x"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_is_no_longer_what_was_saved_is_told_and_left_alone(store, lease, path, change):
    change(path)
    folder = sorted(os.listdir(path.parent))
    before = path.read_bytes() if path.is_file() else None
    for _ in range(2):
        with pytest.raises(SessionDamaged):
            store.append(lease, BATCH)
    assert sorted(os.listdir(path.parent)) == folder
    assert (path.read_bytes() if path.is_file() else None) == before


# --- last use


def used(path):
    return path.stat().st_mtime_ns // 1_000_000


@pytest.mark.parametrize(
    ("record", "moves"),
    [
        (user("m2", seconds=50), True),
        (answer("m2", seconds=50), True),
        (Opened(at(50), resumed=True), True),
        (Restored(at(50)), True),
        (Opened(at(50)), False),
        (Closed(at(50)), False),
        (Reset(at(50)), False),
        (state("Named"), False),
        (todos("write"), False),
        (user("m2", seconds=-50), False),
        (user("m2").__class__("m2", "user", "x", "no time"), False),
    ],
)
def test_the_time_of_a_file_is_its_last_use(store, lease, path, record, moves):
    before = used(path)
    store.append(lease, [record])
    assert used(path) - before == (50_000 if moves else 0)


@pytest.mark.parametrize(
    ("name", "record"), [("write", user("m2", seconds=50)), ("fdatasync", state("Named"))]
)
def test_neither_a_failed_append_nor_writing_anew_is_a_use_by_itself(
    store, lease, path, monkeypatch, name, record
):
    before = used(path)
    Fails(monkeypatch, name)
    assert is_saved(store, lease, [record]) == (name == "fdatasync")
    assert used(path) == before


def test_a_time_that_cannot_be_set_costs_nothing_else(store, lease, monkeypatch):
    Fails(monkeypatch, "utime", errno.EPERM, forever=True)
    store.append(lease, BATCH)
    has_only(store, lease, "first", "answer", "after")


def test_the_newest_of_several_uses_counts():
    records = [user("a", seconds=9), Restored(at(3)), Opened(at(20)), Opened(at(11), resumed=True)]
    assert last_use(records) == last_use([user("b", seconds=11)])
    assert last_use([state("x"), Reset(at())]) is None
