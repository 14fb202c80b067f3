"""Prompts that were typed and not sent."""

import os

import msgspec
import pytest

from tests.builders import user
from tests.failing import raiser
from tui.domain.journal.session import Draft
from tui.errors import SessionNotFound, StorageError
from tui.storage import disk
from tui.storage.drafts import Drafts
from tui.storage.file_store import FileStore

FIRST = "session-20260111-153000-000001"
SECOND = "session-20260111-153000-000002"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def drafts(root):
    return Drafts(root)


def draft(text="half a thou", session_id=FIRST, scope="project:/shop", queued=()):
    return Draft(session_id, scope, "/shop", text, queued)


def test_a_draft_comes_back_as_it_was_typed_and_an_empty_one_is_removed(drafts, root):
    assert drafts.load(FIRST) is None
    for typed in (
        draft("会話 \x1b[31m \ud800\r\n", queued=("next", "and next")),
        draft("", queued=("next",)),
    ):
        drafts.save(typed)
        assert drafts.load(FIRST) == typed
    assert (root / "drafts" / f"{FIRST}.json").stat().st_mode & 0o777 == 0o600
    drafts.save(draft(""))
    assert drafts.load(FIRST) is None
    assert os.listdir(root / "drafts") == []


@pytest.mark.parametrize("is_full", [True, False])
def test_a_draft_that_cannot_be_written_or_read_again_leaves_the_one_before(
    drafts, root, monkeypatch, is_full
):
    drafts.save(draft("before"))
    if is_full:
        monkeypatch.setattr(disk.os, "rename", raiser(OSError(28, "no room")))
    else:
        monkeypatch.setattr("tui.storage.drafts.LINE_BYTES", 1000)
    with pytest.raises(StorageError, match="No space left" if is_full else "larger than"):
        drafts.save(draft("x" * 1000))
    assert drafts.load(FIRST).text == "before"
    assert os.listdir(root / "drafts") == [f"{FIRST}.json"]


def test_what_a_reader_typed_lies_beside_and_is_offered_with_its_token(drafts):
    drafts.save(draft("theirs", session_id=FIRST + "0"), token="a1b2c3")
    assert drafts.aside(FIRST) == ()
    drafts.save(draft("a reader's"), token="a1b2c3")
    assert drafts.unclaimed("project:/shop") is None
    drafts.save(draft("the holder's"))
    assert drafts.load(FIRST).text == "the holder's"
    assert drafts.aside(FIRST) == (("a1b2c3", draft("a reader's")),)
    drafts.save(draft(""), token="a1b2c3")
    assert drafts.aside(FIRST) == ()


def test_the_newest_draft_of_a_scope_whose_session_was_never_made_is_unclaimed(drafts, root):
    drafts.save(draft("older", FIRST))
    drafts.save(draft("newer", SECOND))
    os.utime(root / "drafts" / f"{FIRST}.json", (1, 1))
    lease = FileStore(root).create("project:/shop", "/shop", "m", session_id=SECOND)
    assert drafts.unclaimed("project:/shop").text == "older", "somebody holds the newer"
    lease.release()
    assert drafts.unclaimed("project:/shop").text == "newer"
    assert drafts.unclaimed("project:/other") is None


def test_only_drafts_without_a_session_are_read_for_one_that_is_unclaimed(
    drafts, root, monkeypatch
):
    store = FileStore(root)
    lease = store.create("project:/shop", "/shop", "m", session_id=SECOND)
    store.append(lease, [user("m1", "asked")])
    lease.release()
    drafts.save(draft("its own", SECOND))
    drafts.save(draft("set aside", FIRST), token="a1b2c3")
    monkeypatch.setattr("tui.storage.drafts.read_draft", pytest.fail)
    assert drafts.unclaimed("project:/shop") is None


OF_ANOTHER = msgspec.json.encode(Draft(SECOND, "project:/shop", "/shop", "theirs"))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"text": 1}', b"\xff", OF_ANOTHER])
@pytest.mark.parametrize("token", [None, "a1b2c3"])
def test_a_draft_that_cannot_be_read_or_is_of_another_session_is_left_alone(drafts, content, token):
    drafts.save(draft(), token=token)
    (path,) = drafts.files()
    path.write_bytes(content)
    assert drafts.load(FIRST) is None
    assert drafts.aside(FIRST) == ()
    assert drafts.unclaimed("project:/shop") is None
    assert path.read_bytes() == content


@pytest.mark.parametrize("session_id", ["../x", "", "a/b", "a\n"])
def test_no_path_is_built_from_what_is_no_id(drafts, session_id):
    with pytest.raises(SessionNotFound):
        drafts.save(draft(session_id=session_id))
    with pytest.raises(SessionNotFound):
        drafts.load(session_id)
