"""Pictures are kept, sent, moved and purged in any order: one is there while a session uses it."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from tests.attached import picture, showing
from tests.builders import Clock, user
from tests.examples import examples
from tui.errors import AttachmentNotFound
from tui.storage.doctor import Doctor
from tui.storage.file_store import FileStore

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
