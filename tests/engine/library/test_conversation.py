"""Whole conversations, read in pages and given from their beginning on."""

import pytest

from tests.builders import Clock, Story, answer, at, user
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Reset
from tui.engine.library import conversation
from tui.engine.library.conversation import live_conversation, whole_conversation
from tui.storage.file_store import FileStore


class Counted:
    """A store whose pages are counted by the messages that they have."""

    def __init__(self, store):
        self._store = store
        self.largest = 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def journal(self, session_id):
        return CountedJournal(self, self._store.journal(session_id))


class CountedJournal:
    def __init__(self, counted, journal):
        self._counted, self._journal = counted, journal

    def __getattr__(self, name):
        return getattr(self._journal, name)

    def load(self):
        raise AssertionError("the whole session was loaded")

    def page(self, *arguments):
        page = self._journal.page(*arguments)
        self._counted.largest = max(self._counted.largest, len(page.entries))
        return page


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(conversation, "_PAGE", 4)


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "data", Clock())


@pytest.fixture
def put(store):
    def place(story):
        folder = store.root / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tale.jsonl").write_bytes(story.data)
        return store.entry("tale")

    return place


def talked(count, name="m"):
    return [user(f"{name}{n}", f"{name}{n}") for n in range(count)]


def ids(found):
    return [part.entry.id for part in found.parts() if isinstance(part.entry, Message)]


@pytest.mark.parametrize("count", [0, 1, 4, 5, 30])
@pytest.mark.parametrize("find", [live_conversation, whole_conversation])
def test_all_messages_come_in_their_order_and_in_pages(store, put, find, count):
    listed = put(Story().add(*talked(count)).state())
    reader = Counted(store)
    assert ids(find(reader, listed)) == [f"m{n}" for n in range(count)]
    assert reader.largest <= 4


@pytest.mark.parametrize("after", [0, 1, 3, 4, 9])
def test_before_a_reset_only_the_whole_conversation_reads(store, put, after):
    story = Story().add(*talked(9, "old"), Reset(at()), *talked(after, "new")).state()
    listed = put(story)
    new = [f"new{n}" for n in range(after)]
    assert ids(live_conversation(store, listed)) == new
    whole = whole_conversation(store, listed)
    assert ids(whole) == [*(f"old{n}" for n in range(9)), *new]
    parts = [part for part in whole.parts() if isinstance(part.entry, Message)]
    assert [part.entry.id for part in parts if part.is_live] == new


def test_only_the_last_of_two_resets_counts(store, put):
    story = Story().add(*talked(2, "a"), Reset(at()), *talked(1, "b"), Reset(at()), user("c"))
    listed = put(story.state())
    assert ids(live_conversation(store, listed)) == ["c"]
    live = [part.is_live for part in whole_conversation(store, listed).parts()]
    assert live == [False] * 4 + [True, True]


def test_a_message_that_was_replaced_many_pages_later_does_not_come(store, put):
    failed = answer("bad", status="failed")
    story = Story().add(user("q"), failed, *talked(20), answer("good", replaces="bad")).state()
    assert "bad" not in ids(live_conversation(store, put(story)))


def test_earlier_versions_come_only_with_the_whole_and_are_marked(store, put):
    story = Story().add(user("q"), answer("a1"), user("q2"), answer("a2", after="q")).state()
    listed = put(story)
    assert ids(live_conversation(store, listed)) == ["q", "a2"]
    parts = list(whole_conversation(store, listed).parts())
    assert [part.entry.id for part in parts] == ["q", "a1", "q2", "a2"]
    assert [part.is_earlier_version for part in parts] == [False, True, True, False]
    assert [part.is_live for part in parts] == [True, False, False, True]


def test_a_session_without_a_state_has_its_live_version_too(store, put):
    story = Story().add(user("q"), Reset(at()), user("r"), answer("a1"), answer("a2", after="r"))
    assert ids(live_conversation(store, put(story))) == ["r", "a2"]


def test_damage_is_counted_on_all_pages(store, put):
    story = Story().add(*talked(9)).raw(b"garbage\n").add(*talked(9, "n")).raw(b"{}\n").state()
    assert live_conversation(store, put(story)).damaged >= 1
    assert len(ids(live_conversation(store, put(story)))) == 18


def test_a_call_without_its_result_has_a_stand_in(store, put):
    listed = put(Story().add(user("q"), answer("a", tool_calls=(ToolCall("c", "edit", {}),))))
    (stand_in,) = live_conversation(store, listed).cut_off
    assert stand_in.tool_call_id == "c"
