"""Looking a data directory over."""

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from tests.attached import PNG, picture, showing
from tests.builders import header, user
from tests.storage.contract import closed
from tui.domain.journal.records import Settings
from tui.domain.journal.session import Draft
from tui.storage import locks
from tui.storage.doctor import Doctor, verdict
from tui.storage.drafts import Drafts
from tui.storage.file_store import FileStore
from tui.storage.protocol import SessionFilter

PHOTO = picture()


@pytest.fixture
def root(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def store(root):
    return FileStore(root)


@pytest.fixture
def session_id(store):
    return closed(store)


def found(root, *, repair=False):
    return list(Doctor(root).examine(repair=repair))


def kinds(root, *, repair=False):
    return [finding.kind for finding in found(root, repair=repair)]


def test_what_is_not_there_or_as_it_should_be_is_clean(root, store):
    assert found(root) == []
    assert verdict([]) == "clean"
    show(store)
    assert store.search("see", 10).total == 1
    make_old(root / "attachments")
    assert found(root) == []


def test_damaged_records_are_damage_and_the_file_stays_as_it_is(root, store, session_id):
    path = store.path(session_id)
    path.write_bytes(path.read_bytes() + b"garbage\n{\n")
    before = path.read_bytes()
    (finding,) = found(root, repair=True)
    assert (finding.kind, finding.session_id) == ("damaged_records", session_id)
    assert finding.path == f"sessions/{session_id}.jsonl"
    assert finding.message == f"2 damaged records skipped in {session_id}; the file is unchanged"
    assert verdict([finding]) == "damage"
    assert path.read_bytes() == before


def test_a_torn_last_line_is_damage_only_when_nobody_is_writing_it(root, store, session_id):
    with store.path(session_id).open("ab") as file:
        file.write(b'{"type":"mess')
    assert kinds(root) == ["damaged_records"]
    lease = store.lease(session_id)
    assert kinds(root) == []
    lease.release()


def rewritten(path, old, new):
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def of_version(path, number):
    rewritten(path, b'"version":1', b'"version":%d' % number)


def twice(path):
    shutil.copy(path, path.with_name("copy.jsonl"))


@pytest.mark.parametrize(
    ("name", "harm", "damage"),
    [
        ("sessions/s.jsonl", lambda path: rewritten(path, b"{", b"x{"), ["header", "records"]),
        ("sessions/s.jsonl", lambda path: of_version(path, 0), ["header", "records"]),
        ("scopes.jsonl", lambda path: rewritten(path, b"{", b"garbage\n{"), ["scopes"]),
        ("drafts/s.json", lambda path: path.write_bytes(b"{"), ["draft"]),
        ("drafts/s.json", lambda path: rewritten(path, b'"s"', b'"../x"'), ["draft"]),
    ],
    ids=["first line", "version below one", "numbers", "draft", "draft of another session"],
)
def test_what_is_damaged_is_found(root, store, name, harm, damage):
    closed(store, session_id="s")
    Drafts(root).save(Draft("s", "s", "/p", "text"))
    harm(root / name)
    assert kinds(root) == [f"damaged_{each}" for each in damage]


@pytest.mark.parametrize(
    ("name", "harm", "kind"),
    [
        ("sessions/s.jsonl", lambda path: of_version(path, 2), "newer_version"),
        ("sessions/s.jsonl", twice, "number_taken_twice"),
        ("moves.jsonl", Path.mkdir, "unreadable"),
        ("index.sqlite3", Path.mkdir, "index_out_of_use"),
    ],
)
def test_what_is_wrong_and_cannot_be_repaired_is_told(root, store, name, harm, kind):
    closed(store, session_id="s")
    harm(root / name)
    assert kinds(root, repair=True) == kinds(root) == [kind]


def test_what_is_no_plain_file_is_damage(root, store, session_id):
    os.symlink("/etc/passwd", root / "sessions" / "link.jsonl")
    os.mkfifo(root / "sessions" / "pipe.jsonl")
    assert [f.path for f in found(root) if f.kind == "unreadable"] == [
        "sessions/link.jsonl",
        "sessions/pipe.jsonl",
    ]


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [
        *((name, False) for name in ("sessions", "archive", "trash", "drafts", "locks")),
        *((name, True) for name in ("archive", "trash")),
    ],
)
def test_what_is_no_folder_or_refused_is_told_beside_all_else(
    root, store, session_id, name, is_refused, monkeypatch
):
    access, iterdir = os.access, Path.iterdir

    def refused(directory):
        if directory == root / name:
            raise PermissionError(13, "Permission denied")
        return iterdir(directory)

    root.chmod(0o755)
    index = root / "index.sqlite3"
    index.touch(mode=0o600)
    index.write_bytes(b"no database")
    if is_refused:
        # The superuser would be let in all the same.
        (root / name).chmod(0)
        monkeypatch.setattr(
            os, "access", lambda path, mode: path != root / name and access(path, mode)
        )
        monkeypatch.setattr(Path, "iterdir", refused)
    else:
        shutil.move(root / name, root.parent / name)
        (root / name).touch(mode=0o600)
    assert sorted((each.kind, each.path) for each in found(root)) == [
        ("damaged_index", "index.sqlite3"),
        ("unreadable", name),
        ("wrong_mode", "."),
    ]


@pytest.mark.parametrize("harm", [Path.mkdir, lambda path: path.symlink_to(path.name)])
def test_a_lock_that_is_no_file_keeps_nothing_else_from_being_found(root, store, session_id, harm):
    lock = root / "locks" / f"{session_id}.lock"
    lock.unlink()
    harm(lock)
    (root / "scopes.jsonl").unlink()
    (root / "scopes.jsonl").mkdir(mode=0o700)
    store.path(session_id).chmod(0o644)
    assert [f.path for f in found(root) if f.kind == "unreadable"] == [
        f"locks/{session_id}.lock",
        "scopes.jsonl",
    ]
    assert kinds(root).count("wrong_mode") == 1


def test_of_many_foreign_files_a_few_are_named_and_the_others_counted(root, store, session_id):
    for number in range(150):
        (root / "sessions" / f"foreign-{number}").touch(mode=0o644)
    unknown = [f for f in found(root) if f.kind == "unknown_file"]
    assert len(unknown) == 101
    assert unknown[-1].message == "50 more files that are not sessions; left alone"
    assert [f.kind for f in found(root)].count("wrong_mode") == 101
    assert all(f.repaired for f in found(root, repair=True) if f.kind == "wrong_mode")
    assert "wrong_mode" not in kinds(root)


def test_modes_that_others_can_read_are_found_and_closed(root, store, session_id, tmp_path):
    store.path(session_id).chmod(0o644)
    root.chmod(0o755)
    assert kinds(root) == ["wrong_mode", "wrong_mode"]
    assert all(finding.repaired for finding in found(root, repair=True))
    assert store.path(session_id).stat().st_mode & 0o777 == 0o600
    assert root.stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(root)
    assert kinds(root) == kinds(tmp_path / "link") == []


def test_temporary_files_that_nobody_holds_are_found_and_removed(root, store, session_id):
    left = root / "sessions" / f".{session_id}.jsonl.a1b2c3d4.tmp"
    left.touch(mode=0o600)
    draft = root / "drafts" / f".{session_id}.json.a1b2c3d4.tmp"
    draft.touch(mode=0o600)
    lease = store.lease(session_id)
    assert kinds(root, repair=True) == []
    lease.release()
    assert kinds(root) == ["temporary_file", "temporary_file"]
    assert verdict(found(root)) == "findings"
    assert all(finding.repaired for finding in found(root, repair=True))
    assert not left.exists()
    assert not draft.exists()


def test_a_move_that_was_killed_half_way_is_found_and_finished(root, store, session_id):
    before = store.list(SessionFilter(), None, 10)
    other = root / "archive" / f"{session_id}.jsonl"
    os.link(store.path(session_id), other)
    assert kinds(root) == ["two_folders"]
    assert other.exists(), "to examine changes nothing"
    assert store.list(SessionFilter(), None, 10) == before
    assert found(root, repair=True)[0].repaired
    assert kinds(root) == []
    assert store.entry(session_id).status == "closed"
    other.write_bytes(store.path(session_id).read_bytes() + b"\n")
    other.chmod(0o600)
    assert not any(f.repaired for f in found(root, repair=True) if f.kind == "two_folders")
    assert other.exists(), "two different files of one id are both left alone"


def test_missing_numbers_are_found_and_given_again(root, store, session_id):
    (root / "scopes.jsonl").write_text('{"scope":"other","at":"","ordinal":1,"id":"gone"}\n')
    assert kinds(root) == ["unlisted"]
    assert found(root, repair=True)[0].repaired
    assert kinds(root) == []
    assert FileStore(root).resolve("#1", "project:/shop") == session_id
    (root / "scopes.jsonl").unlink()
    assert kinds(root) == ["scopes_missing"]
    assert found(root, repair=True)[0].repaired
    assert kinds(root) == []


def test_an_import_is_no_finding_while_it_runs_or_without_a_number(root, store):
    def records():
        yield user("m1"), b""
        assert kinds(root, repair=True) == kinds(root) == []

    store.add_imported(header("theirs", ordinal=0, imported_from="peer:1"), records())
    assert store.entry("theirs").message_count == 1
    assert store.entry("theirs").ordinal == 0
    assert list((root / "locks").glob("*theirs*")) == []
    assert kinds(root) == []


def test_damaged_moves_and_what_is_no_session_are_told_and_left_alone(root, store, session_id):
    store.archive(session_id)
    assert kinds(root) == []
    with (root / "moves.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    (root / "sessions" / "notes.txt").write_text("mine")
    (root / "sessions" / "notes.txt").chmod(0o600)
    assert sorted(kinds(root, repair=True)) == sorted(kinds(root))
    assert sorted(kinds(root)) == ["damaged_moves", "unknown_file"]
    assert (root / "sessions" / "notes.txt").read_text() == "mine"


def test_a_pin_that_is_not_noted_for_lists_is_noted_again(root, store, session_id):
    lease = store.lease(session_id)
    store.append(lease, [Settings(pinned=True)])
    lease.release()
    (root / "scopes.jsonl").unlink()
    store.set_active("s", session_id)
    assert kinds(root, repair=True) == ["unlisted_pin"]
    assert kinds(root) == []
    assert store.list(SessionFilter(order="pinned"), None, 1).entries[0].pinned


def test_a_file_in_the_place_of_the_directory_is_damage(root):
    root.write_text("in the way")
    assert kinds(root) == ["unreadable"]


def test_a_damaged_search_index_is_found_and_set_aside_and_no_damage(root, store, session_id):
    store.search("hello", 10)
    (root / "index.sqlite3").write_bytes(b"no database")
    assert kinds(root) == ["damaged_index"]
    assert verdict(found(root)) == "findings"
    writer = locks.take(root / "index.lock")
    assert not found(root, repair=True)[0].repaired
    writer.release()
    assert all(finding.repaired for finding in found(root, repair=True))
    assert found(root) == []
    assert store.search("hello", 10).total == 1


def test_a_search_index_that_was_set_aside_is_told_until_it_is_deleted(root, store, session_id):
    (root / "index.sqlite3").write_bytes(b"no database")
    (root / "index.sqlite3").chmod(0o600)
    assert "damaged" in store.search("hello", 10).notice
    assert kinds(root) == ["index_set_aside"]
    assert found(root, repair=True)[0].repaired
    assert found(root) == []


def show(store):
    """The id of a session that shows a picture."""
    lease = store.create("project:/shop", "/shop", "m")
    store.add_attachment(lease.session_id, PNG)
    store.append(lease, [user("m1", showing("see", PHOTO))])
    lease.release()
    return lease.session_id


@pytest.fixture
def shown(store):
    return show(store)


@pytest.fixture
def attachments(root):
    return root / "attachments"


def make_old(folder):
    for path in folder.iterdir():
        os.utime(path, (0, 0))


@pytest.mark.parametrize("deed", [os.unlink, lambda path: path.write_bytes(b"another")])
def test_a_picture_that_is_gone_or_damaged_is_damage(root, shown, attachments, deed):
    deed(attachments / PHOTO.sha256)
    (finding,) = found(root, repair=True)
    assert (finding.kind, finding.session_id) == ("missing_picture", shown)
    assert finding.path == f"sessions/{shown}.jsonl"
    assert finding.message == "missing or damaged: 1 picture of its messages"
    assert verdict([finding]) == "damage"


def test_a_picture_that_nothing_uses_is_removed_once_it_is_old_and_no_draft_names_it(
    root, store, attachments
):
    store.add_attachment("never-saved", PNG)
    assert found(root) == []
    make_old(attachments)
    draft = Draft("never-saved", "project:/shop", "/shop", f"@image-{PHOTO.sha256[:16]}.png")
    Drafts(root).save(draft)
    assert found(root, repair=True) == []
    assert store.attachment("never-saved", PHOTO.sha256) == PNG
    Drafts(root).save(msgspec.structs.replace(draft, text=""))
    assert kinds(root) == ["unused_picture"]
    assert [finding.repaired for finding in found(root, repair=True)] == [True]
    assert list(attachments.iterdir()) == []
    assert found(root) == []


def test_a_use_that_is_not_noted_is_noted_and_a_picture_of_a_damaged_session_stays(
    root, store, shown, attachments
):
    (attachments / f"{PHOTO.sha256}.{shown}").unlink()
    assert [(f.kind, f.repaired) for f in found(root, repair=True)] == [("unnoted_picture", True)]
    assert found(root) == []
    make_old(attachments)
    path = store.path(shown)
    path.unlink()
    path.mkdir()
    assert kinds(root, repair=True) == ["unreadable"]
    assert store.attachment(shown, PHOTO.sha256) == PNG


def test_the_folder_of_pictures_is_checked_like_the_others(root, shown, attachments):
    attachments.chmod(0o755)
    for name in (f".{PHOTO.sha256}.00000000.tmp", "notes.txt"):
        (attachments / name).touch(mode=0o600)
    repaired = {finding.kind: finding.repaired for finding in found(root, repair=True)}
    assert repaired == {"wrong_mode": True, "temporary_file": True, "unknown_file": False}
    assert kinds(root) == ["unknown_file"]


def test_a_file_in_the_place_of_the_folder_of_pictures_is_found(root, session_id, attachments):
    attachments.touch(0o600)
    (finding,) = found(root, repair=True)
    assert (finding.kind, finding.path) == ("unreadable", "attachments")
    assert finding.message == "not a directory: no picture can be kept until it is moved away"
