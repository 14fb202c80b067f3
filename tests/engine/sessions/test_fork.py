"""Forks: what they share with the session that they come from."""

from tests.attached import PNG, picture, showing
from tests.builders import user
from tests.storage.contract import closed
from tui.domain.journal.records import Settings
from tui.engine.sessions.fork import write_fork
from tui.storage.file_store import FileStore

NOW = "2026-02-01T00:00:00.000Z"


def test_a_fork_shares_the_pictures_and_they_outlive_the_other_session(tmp_path):
    store = FileStore(tmp_path / "data")
    lease = store.create("project:/shop", "/shop", "offline:guide")
    store.add_attachment(lease.session_id, PNG)
    store.append(lease, [user("m1", showing("see", picture()))])
    lease.release()
    fork = write_fork(store, lease.session_id, NOW)
    store.delete(lease.session_id)
    store.purge(lease.session_id)
    assert store.journal(fork).load().all_messages[0].attachments == (picture(),)
    assert store.attachment(fork, picture().sha256) == PNG
    store.delete(fork)
    store.purge(fork)
    assert list((tmp_path / "data" / "attachments").iterdir()) == []


def test_a_fork_of_a_pinned_session_is_not_pinned_and_has_its_other_settings(tmp_path):
    store = FileStore(tmp_path / "data")
    there = closed(store, user("m1", "see"), Settings(temperature=0.5, pinned=True))
    fork = write_fork(store, there, NOW)
    assert store.journal(fork).load().settings == Settings(temperature=0.5)
