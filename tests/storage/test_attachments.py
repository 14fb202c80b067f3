"""The folder of pictures: what keeps one, what frees it, and what others may have put there."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from tests.attached import PNG, picture, showing
from tests.builders import Clock, user
from tests.examples import examples
from tests.storage.contract import closed, destroy
from tui.domain.journal.session import Draft
from tui.errors import AttachmentNotFound, SessionNotFound, StorageError
from tui.storage.attachments import AttachmentFiles
from tui.storage.doctor import Doctor
from tui.storage.drafts import Drafts
from tui.storage.file_store import FileStore
from tui.storage.folders import Folders

SHOP = ("project:/shop", "/shop", "scripted:model")
PHOTO = picture()


@pytest.fixture
def folder(store):
    return store.root / "attachments"


@pytest.fixture
def files(store, clock):
    return AttachmentFiles(Folders(store.root), clock)


def shown(store, session_id):
    store.add_attachment(session_id, PNG)
    closed(store, user("m1", showing("see", PHOTO)), session_id=session_id)


def names(folder):
    return sorted(os.listdir(folder))


def test_a_picture_and_its_uses_are_private_files_and_gone_after_a_purge(store, folder):
    closed(store, session_id="tale")
    destroy(store, "tale")
    assert not folder.exists(), "a session without pictures needs none"
    shown(store, "tale")
    assert names(folder) == [PHOTO.sha256, f"{PHOTO.sha256}.tale"]
    modes = [path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600, 0o600]
    destroy(store, "tale")
    assert names(folder) == []


def test_a_picture_that_a_draft_names_stays_as_if_while_one_cannot_be_read(store, folder):
    shown(store, "unread")
    unreadable = store.root / "drafts" / "other.json"
    unreadable.mkdir()
    with pytest.raises(StorageError, match=r"Cannot read the drafts: .*other\.json"):
        destroy(store, "unread")
    assert PHOTO.sha256 in names(folder)
    unreadable.rmdir()
    shown(store, "tale")
    text = f"look at @image-{PHOTO.sha256[:16]}.png"
    Drafts(store.root).save(Draft("new", *SHOP[:2], text=text))
    destroy(store, "tale")
    assert names(folder) == [PHOTO.sha256]
    assert store.attachment("new", PHOTO.sha256) == PNG


def test_a_picture_of_a_session_that_was_never_saved_is_used_for_thirty_days(store, clock, files):
    store.add_attachment("rescued", PNG)
    assert files.unused([PHOTO.sha256]) == []
    clock.now = clock.now.replace(month=3)
    assert files.unused([PHOTO.sha256]) == [PHOTO.sha256]
    store.add_attachment("rescued", PNG)
    assert files.unused([PHOTO.sha256]) == [], "kept again, it is as young as a new one"


def test_killed_after_the_session_is_gone_a_purge_leaves_a_picture_that_nothing_uses(
    store, files, monkeypatch
):
    shown(store, "tale")
    store.delete("tale")
    monkeypatch.setattr(AttachmentFiles, "forget", lambda *_: None)
    store.purge("tale")
    assert files.unused(files.pictures()) == [PHOTO.sha256]


def test_a_purge_that_could_not_free_a_picture_has_purged_the_session(store, folder):
    shown(store, "tale")
    store.delete("tale")
    (store.root / "scopes.lock").unlink()
    (store.root / "scopes.lock").mkdir()
    with pytest.raises(StorageError, match=r"tale is purged, but its pictures are left: .*doctor"):
        store.purge("tale")
    with pytest.raises(SessionNotFound):
        store.entry("tale")
    assert PHOTO.sha256 in names(folder)


DAMAGES = {
    "other bytes": lambda path: path.write_bytes(PNG[:-1]),
    "a link": lambda path: path.unlink() or path.symlink_to("/etc/passwd"),
    "a pipe": lambda path: path.unlink() or os.mkfifo(path),
    "size": lambda path: os.truncate(path, 32 * 1024 * 1024 + 1),
    "gone": os.unlink,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_picture_is_not_read_and_whole_once_it_is_kept_again(store, folder, damage):
    shown(store, "tale")
    damage(folder / PHOTO.sha256)
    with pytest.raises(AttachmentNotFound):
        store.attachment("tale", PHOTO.sha256)
    store.add_attachment("tale", PNG)
    assert store.attachment("tale", PHOTO.sha256) == PNG


def test_a_directory_in_the_place_of_a_picture_is_said(store, folder):
    shown(store, "tale")
    (folder / PHOTO.sha256).unlink()
    (folder / PHOTO.sha256).mkdir()
    with pytest.raises(AttachmentNotFound):
        store.attachment("tale", PHOTO.sha256)
    with pytest.raises(StorageError, match=f"{PHOTO.sha256} is a directory; move it away"):
        store.add_attachment("tale", PNG)


@pytest.mark.parametrize("put", [Path.touch, os.mkfifo])
def test_what_is_no_folder_in_the_place_of_the_folder_is_said(store, folder, put):
    lease = store.create(*SHOP, session_id="tale")
    put(folder)
    with pytest.raises(StorageError, match="attachments is not a directory; move it away"):
        store.add_attachment("tale", PNG)
    with pytest.raises(AttachmentNotFound):
        store.find_attachment("tale", PHOTO.sha256)
    # Text is saved all the same.
    store.append(lease, [user("m1", "hello")])


def test_a_link_to_a_folder_elsewhere_is_a_folder(store, folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    store.root.mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    shown(store, "tale")
    assert (tmp_path / "elsewhere" / PHOTO.sha256).read_bytes() == PNG


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_used_is_said(store, folder):
    shown(store, "tale")
    folder.chmod(0)
    try:
        with pytest.raises(StorageError, match="Cannot read the picture: Permission denied"):
            store.attachment("tale", PHOTO.sha256)
        with pytest.raises(StorageError, match=r"Cannot keep the picture in .*: Permission denied"):
            store.add_attachment("tale", b"another")
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("put", [os.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_whatever_has_the_name_of_a_use_is_one(store, folder, put):
    shown(store, "another")
    put(folder / f"{PHOTO.sha256}.tale")
    closed(store, user("m1", showing("see", PHOTO)), session_id="tale")
    destroy(store, "another")
    assert store.attachment("tale", PHOTO.sha256) == PNG


@pytest.mark.parametrize(
    "name", ["notes.txt", "a" * 64 + ".", "a" * 64 + ".../x".replace("/", ":"), "A" * 64, "é" * 64]
)
def test_other_files_in_the_folder_are_left_alone(store, folder, name):
    shown(store, "tale")
    (folder / name).write_text("")
    destroy(store, "tale")
    assert names(folder) == [name]


# --- pictures are kept, sent, moved and purged in any order: one is there while a session uses it


DATA = [b"one", b"two", b"three"]
PICTURES = {picture(data=data).sha256: data for data in DATA}
KNOWN = st.sampled_from(list(PICTURES))


class PictureMachine(RuleBasedStateMachine):
    """``used`` has the pictures of each session, ``kept`` those that must be there."""

    sessions = Bundle("sessions")
    trashed = Bundle("trashed")

    def __init__(self):
        super().__init__()
        self.used = {}
        self.kept = set()
        self.numbers = iter(range(1000))
        self.begin()

    @rule(target=sessions)
    def open(self):
        name = f"tale-{next(self.numbers)}"
        lease = self.store.create("project:/a", "/a", "m", session_id=name)
        self.store.append(lease, [user("m", "hello")])
        lease.release()
        self.used[name] = set()
        return name

    @rule(name=sessions, sha256=KNOWN)
    def keep(self, name, sha256):
        assert self.store.add_attachment(name, PICTURES[sha256]) == sha256
        self.used[name].add(sha256)
        self.kept.add(sha256)

    @rule(name=sessions, sha256=KNOWN)
    def send(self, name, sha256):
        lease = self.store.lease(name)
        shown = picture(data=PICTURES[sha256])
        self.store.append(lease, [user(f"m{next(self.numbers)}", showing("see", shown))])
        lease.release()
        self.used[name].add(sha256)

    @rule(target=trashed, name=consumes(sessions))
    def delete(self, name):
        self.store.delete(name)
        return name

    @rule(target=sessions, name=consumes(trashed))
    def restore(self, name):
        self.store.restore(name)
        return name

    @rule(name=consumes(trashed))
    def purge(self, name):
        self.store.purge(name)
        left = set().union(*(used for other, used in self.used.items() if other != name))
        self.kept -= self.used.pop(name) - left

    @invariant()
    def each_picture_is_there_that_is_used_and_no_other(self):
        for sha256, data in PICTURES.items():
            if sha256 in self.kept:
                assert self.store.attachment("any", sha256) == data
                assert self.store.find_attachment("any", sha256[:16]) == sha256
            else:
                with pytest.raises(AttachmentNotFound):
                    self.store.attachment("any", sha256)


class FilePictures(PictureMachine):
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = FileStore(Path(self.folder.name), Clock())

    def teardown(self):
        found = Doctor(self.store.root).examine()
        assert {each.kind for each in found} <= {"missing_picture"}
        self.folder.cleanup()


TestFilePictures = FilePictures.TestCase
TestFilePictures.settings = examples(0.5)
