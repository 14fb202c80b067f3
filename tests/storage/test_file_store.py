"""What only the store of files promises: where things lie, for whom, and among programs."""

import json
import os
import stat
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.builders import Clock, Story, answer, header, kept_texts, texts, user
from tests.storage.contract import ALL, HOSTILE, SCOPE, closed, new, state, verbs
from tests.storage.test_disk import Fails
from tui.domain.imports import ImportLine
from tui.domain.journal.records import encode
from tui.errors import SessionBusy, SessionNotFound, StorageError
from tui.storage import locks
from tui.storage.file_store import FileStore
from tui.storage.protocol import SessionFilter

HOLD = """
import sys
from pathlib import Path
from tests.builders import piece, user
from tui.storage.file_store import FileStore
store = FileStore(Path(sys.argv[1]))
lease = store.lease(sys.argv[2])
for number in range(2, 100):
    print("ready", flush=True)
    line = sys.stdin.readline()
    if not line.strip():
        break
    store.append(lease, [user(f"m{number}", line.strip())])
"""


@pytest.fixture
def other(store, clock):
    return FileStore(store.root, clock)


def everything(root):
    """All that is below a directory, with its bytes."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in Path(root).rglob("*")
    }


# --- files


def test_a_number_that_another_session_of_the_second_has_is_not_given_again(
    data, clock, monkeypatch
):
    monkeypatch.setattr(Clock, "__call__", lambda clock: clock.now)
    numbers = iter([7, 7, 8])
    monkeypatch.setattr(os, "urandom", lambda size: next(numbers).to_bytes(size, "big"))
    stores = [FileStore(data, clock), FileStore(data, clock)]
    first, second = (store.create(SCOPE, "/shop", "m").session_id for store in stores)
    assert (first[-7:], second[-7:]) == ("-000007", "-000008")
    assert first[:-7] == second[:-7]


def test_a_session_is_a_readable_file_with_its_id_as_name_wherever_it_is(store):
    name = closed(store, user("m1", "会話"))
    path = store.root / "sessions" / f"{name}.jsonl"
    assert store.path(name) == path
    first, second = path.read_bytes().splitlines()
    assert json.loads(first)["type"] == "session"
    assert json.loads(second)["content"] == "会話"
    assert "会話".encode() in second
    for verb, folder in ((store.archive, "archive"), (store.delete, "trash")):
        verb(name)
        assert store.path(name) == store.root / folder / path.name
    with pytest.raises(SessionNotFound):
        store.path("nowhere")


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_everything_is_private_whatever_the_umask(store, umask):
    old = os.umask(umask)
    try:
        names = [closed(store) for _ in range(3)]
        store.archive(names[0])
        store.delete(names[1])
        store.append(store.lease(names[2]), [user("m2")])
        store.set_active(SCOPE, names[2])
    finally:
        os.umask(old)
    for path in (store.root, *store.root.rglob("*")):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_reading_makes_nothing_and_reserving_no_journal_and_no_number(store):
    store.list(ALL, None, 5)
    store.active(SCOPE)
    assert store.holder("nowhere") is None
    for read in (store.lease, store.archive, store.purge):
        with pytest.raises(SessionNotFound):
            read("nowhere")
    assert not store.root.exists()
    store.create(SCOPE, "/shop", "m")
    assert not (store.root / "scopes.jsonl").exists()
    assert list((store.root / "sessions").iterdir()) == []


@pytest.mark.parametrize("name", [*HOSTILE, "../sessions/tale", "tale.jsonl/../../x"])
def test_a_hostile_id_touches_nothing_outside(store, tmp_path, name):
    (tmp_path / "x.jsonl").write_bytes(Story().user("outside").data)
    (tmp_path / "x").write_bytes(b"precious")
    closed(store, session_id="tale")
    before = everything(tmp_path)
    for verb in (*verbs(store, name), lambda: store.path(name)):
        with pytest.raises(SessionNotFound):
            verb()
    assert everything(tmp_path) == before


def test_an_id_inside_a_file_leads_nowhere(store, put):
    put(encode(header("../../escaped")) + encode(user("m1")), "tale")
    lease = store.lease("tale")
    store.append(lease, [user("m2", "more")])
    assert store.journal("tale").load().id == "tale"
    assert texts(store.journal("tale").load().loaded_messages) == ["hello", "more"]
    assert [entry.id for entry in store.list(ALL, None, 5).entries] == ["tale"]


def test_a_data_directory_that_cannot_be_made_is_told_in_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "data").write_bytes(b"")
    store = FileStore(tmp_path / "data")
    for verb in (
        lambda: store.create(SCOPE, "/", "m"),
        lambda: store.list(ALL, None, 5),
        lambda: store.active(SCOPE),
    ):
        with pytest.raises(StorageError):
            verb()
    Fails(monkeypatch, "mkdir", 13, forever=True)
    with pytest.raises(StorageError, match=r"Cannot write to the data directory .*Permission"):
        FileStore(tmp_path / "other").create(SCOPE, "/shop", "m")


# --- other programs


def test_a_session_is_held_by_one_process_and_read_by_all_and_free_once_that_is_killed(
    store, name, program
):
    holder = program(HOLD, store.root, name)
    assert holder.read() == "ready"
    with pytest.raises(SessionBusy, match=f"pid {holder.pid} on "):
        store.lease(name)
    for verb in (store.archive, store.delete):
        with pytest.raises(SessionBusy):
            verb(name)
    holder.tell("last words")
    assert holder.read() == "ready"
    assert kept_texts(store, name) == ["hello", "last words"]
    assert store.entry(name).status == "open"
    holder.kill()
    assert store.holder(name) is None
    store.append(store.lease(name), [answer("m9", "answer")])
    assert kept_texts(store, name) == ["hello", "last words", "answer"]


def test_who_purges_a_session_leaves_its_lock_to_nobody(store, name, other):
    store.delete(name)
    store.purge(name)
    assert list((store.root / "locks").glob(f"{name}*")) == []
    lease = new(other, session_id=name)
    with pytest.raises(SessionBusy):
        store.lease(name)
    lease.release()


def test_a_session_that_moves_while_its_lock_is_awaited_is_not_taken(
    store, name, other, monkeypatch
):
    take = locks.take

    def slow(path, **options):
        monkeypatch.setattr(locks, "take", take)
        other.delete(name)
        return take(path, **options)

    monkeypatch.setattr(locks, "take", slow)
    with pytest.raises(SessionNotFound):
        store.lease(name)
    assert store.holder(name) is None


@pytest.mark.parametrize(("verb", "looks"), [("archive", 2), ("delete", 3)])
def test_a_session_that_moves_while_it_is_looked_for_is_found(
    store, name, other, monkeypatch, verb, looks
):
    lexists, calls = os.path.lexists, []

    def moved_meanwhile(path):
        """It moves just after it was not found in the folder it moves to."""
        calls.append(path)
        if len(calls) == looks:
            monkeypatch.setattr(os.path, "lexists", lexists)
            other.restore(name)
        return False

    getattr(other, verb)(name)
    monkeypatch.setattr(os.path, "lexists", moved_meanwhile)
    assert kept_texts(store, name) == ["hello"]


def test_a_session_that_moves_between_finding_and_opening_is_read(store, name, other, monkeypatch):
    real, path = os.open, store.path(name)

    def moving(target, *arguments, **named):
        if target == path:
            monkeypatch.setattr(os, "open", real)
            other.archive(name)
        return real(target, *arguments, **named)

    monkeypatch.setattr(os, "open", moving)
    assert texts(store.journal(name).tail(5).session.loaded_messages) == ["hello"]


# --- leases that go with moves


@pytest.mark.parametrize("first", [1, 2])
def test_a_move_that_failed_leaves_nothing_behind_and_may_have_happened(
    store, lease, monkeypatch, first
):
    name = lease.session_id
    with monkeypatch.context() as patch:
        # The first time the new name is there, and nobody knows if it is so for ever.
        Fails(patch, "fsync", first=first)
        with pytest.raises(StorageError):
            store.archive(name)
    if first == 2:
        assert store.entry(name).status == "archived"
        assert store.append(lease, [user("m2", "back")]).restored
        assert kept_texts(store, name) == ["hello", "back"]
    store.delete(name)
    assert store.entry(name).status == "trashed"
    assert len(list(store.root.glob(f"*/{name}.jsonl"))) == 1


@pytest.mark.parametrize("name", ["link", "fsync", "unlink", "open"])
@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_an_append_that_restores_can_be_made_again_after_any_failure(
    store, monkeypatch, name, first
):
    session_id = closed(store)
    store.archive(session_id)
    lease = store.lease(session_id)
    records = [answer("m2", "again"), state("Named", 2, 1)]
    with monkeypatch.context() as patch:
        Fails(patch, name, first=first)
        try:
            appended = store.append(lease, records)
        except StorageError:
            patch.undo()
            appended = store.append(lease, records)
    assert appended.restored
    assert store.path(session_id).parent.name == "sessions"
    assert not (store.root / "archive" / f"{session_id}.jsonl").exists()
    kinds = [json.loads(line)["type"] for line in store.path(session_id).read_bytes().splitlines()]
    assert kinds == ["session", "message", "restored", "message", "state"]


@pytest.mark.parametrize("name", ["write", "fdatasync", "link", "fsync", "unlink", "open"])
@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("verb", ["archive", "delete", "restore", "purge"])
def test_a_move_that_failed_can_be_made_again_and_loses_nothing(
    store, monkeypatch, name, first, verb
):
    session_id = closed(store)
    if verb in ("restore", "purge"):
        store.delete(session_id)
    end = {"archive": "archived", "delete": "trashed", "restore": "closed"}.get(verb)
    with monkeypatch.context() as patch:
        Fails(patch, name, first=first)
        with suppress(StorageError):
            getattr(store, verb)(session_id)
    if verb == "purge":
        found = [entry.id for entry in store.list(ALL, None, 5).entries]
        assert found in ([], [session_id])
        return
    assert kept_texts(store, session_id) == ["hello"]
    if store.entry(session_id).status != end:
        getattr(store, verb)(session_id)
    assert store.entry(session_id).status == end
    assert len(store.list(ALL, None, 5).entries) == 1
    assert kept_texts(store, session_id) == ["hello"]


def test_a_session_is_purged_though_the_list_of_numbers_was_lost_or_cannot_be_written(store):
    session_id = closed(store)
    store.delete(session_id)
    (store.root / "scopes.jsonl").unlink()
    store.purge(session_id)
    session_id = closed(store)
    assert store.entry(session_id).ordinal == 2
    store.delete(session_id)
    (store.root / "scopes.lock").unlink()
    (store.root / "scopes.lock").mkdir()
    store.purge(session_id)
    with pytest.raises(SessionNotFound):
        store.entry(session_id)


def without_rights(path, monkeypatch):
    """Refuses the directory to its user, also where that is the superuser."""
    path.mkdir(mode=0)
    access, listdir = os.access, os.listdir

    def refused(directory):
        if directory == path:
            raise PermissionError(13, "Permission denied")
        return listdir(directory)

    monkeypatch.setattr(os, "access", lambda target, mode: target != path and access(target, mode))
    monkeypatch.setattr(os, "listdir", refused)


@pytest.fixture(
    params=[
        lambda path, _: path.touch(),
        lambda path, _: path.symlink_to("nowhere"),
        lambda path, _: path.symlink_to(path),
        without_rights,
    ],
    ids=["file", "dangling link", "loop", "without rights"],
)
def spoil(request, store, monkeypatch):
    """Puts something that cannot be used in the place of a folder."""

    def put(name):
        (store.root / name).rename(store.root.parent / name)
        request.param(store.root / name, monkeypatch)

    return put


@pytest.mark.parametrize("name", ["archive", "trash"])
def test_without_archive_or_trash_sessions_are_listed_begun_and_gone_on_with(store, spoil, name):
    session_id = closed(store)
    spoil(name)
    assert [entry.id for entry in store.list(ALL, None, 5).entries] == [session_id]
    assert store.count(ALL) == 1
    lease = store.lease(session_id)
    store.append(lease, [answer("m2", "there")])
    assert kept_texts(store, session_id) == ["hello", "there"]
    assert texts(store.journal(closed(store)).load().loaded_messages) == ["hello"]


@pytest.mark.parametrize(("name", "verb"), [("archive", "archive"), ("trash", "delete")])
def test_an_archive_or_trash_that_cannot_be_used_is_named_and_takes_no_session(
    store, spoil, name, verb
):
    session_id = closed(store)
    assert store.obstacles() == ()
    spoil(name)
    (words,) = store.obstacles()
    assert words.startswith(f"The {name} cannot be used: {store.root / name} ")
    with pytest.raises(StorageError, match=f"^Cannot move session {session_id} to {name}: /"):
        getattr(store, verb)(session_id)
    assert store.entry(session_id).status == "closed"


@pytest.mark.parametrize("name", ["drafts", "locks"])
def test_a_file_in_the_place_of_a_folder_is_named_and_hides_no_session(store, name):
    session_id = closed(store)
    (store.root / name).rename(store.root.parent / name)
    (store.root / name).touch()
    assert [entry.id for entry in store.list(ALL, None, 5).entries] == [session_id]
    assert kept_texts(store, session_id) == ["hello"]
    with pytest.raises(StorageError, match=f"/{name} is not a directory; move it away"):
        new(store)


def test_a_file_in_the_place_of_the_sessions_is_no_empty_list(store):
    session_id = closed(store)
    lock = store.root / "locks" / f"{session_id}.lock"
    lock.unlink()
    lock.mkdir()
    with pytest.raises(StorageError, match=f"{session_id}.lock is not a regular file"):
        store.lease(session_id)
    (store.root / "sessions").rename(store.root.parent / "sessions")
    (store.root / "sessions").touch()
    for wanted in (SessionFilter(), ALL):
        for ask in (lambda wanted: store.list(wanted, None, 5), store.count):
            with pytest.raises(StorageError, match="sessions is not a directory; move it away"):
                ask(wanted)


@pytest.mark.parametrize("left", ["archive", "trash"])
@pytest.mark.parametrize("verb", ["archive", "delete", "append"])
def test_what_a_killed_move_left_is_not_found_again_after_another_one(store, left, verb):
    session_id = closed(store)
    os.link(store.path(session_id), store.root / left / f"{session_id}.jsonl")
    if verb == "append":
        lease = store.lease(session_id)
        store.append(lease, [user("m2", "more")])
        lease.release()
    else:
        getattr(store, verb)(session_id)
    end = {"archive": "archived", "delete": "trashed", "append": "closed"}[verb]
    assert store.entry(session_id).status == end
    assert len(list(store.root.glob(f"*/{session_id}.jsonl"))) == 1


def test_two_different_files_with_one_id_are_never_made_one(store, put):
    archived = Story().user("archived").data
    put(Story().user("kept").data, "tale", "sessions")
    path = put(archived, "tale", "archive")
    with pytest.raises(StorageError):
        store.archive("tale")
    assert kept_texts(store, "tale") == ["kept"]
    assert path.read_bytes() == archived


def test_a_session_of_a_newer_version_is_moved_without_a_word_in_it(store, put):
    data = encode(header(version=2)) + encode(user("m1"))
    put(data)
    for verb in (store.archive, store.restore, store.delete, store.restore):
        verb("tale")
        assert store.path("tale").read_bytes() == data


def test_the_archive_is_synced_once_for_many_imported_sessions_before_they_are_logged(
    store, monkeypatch
):
    line = ImportLine("2026-01-11T14:30:22.500Z", "pi", "/a", whole=True)
    store.note_imports([line])
    synced = []
    real = {name: getattr(os, name) for name in ("fsync", "fdatasync")}

    def note(name, descriptor):
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name.partition(".")[0])
        real[name](descriptor)

    for name in real:
        monkeypatch.setattr(os, name, partial(note, name))
    for name in ("a", "b", "c"):
        theirs = header(name, ordinal=0, imported_from=f"pi:{name}")
        store.add_imported(theirs, [(user("m1"), b"")])
    assert "archive" not in synced
    store.note_imports([line])
    assert synced[-2:] == ["archive", "imports"]
