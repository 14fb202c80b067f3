import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import Clock, Story, answer, at, user
from tests.examples import examples
from tests.storage.stories import RandomStory, load, reading, stories
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Reset
from tui.domain.search.find import count_in, needle
from tui.engine.library import conversation
from tui.engine.library.conversation import (
    RecentCounts,
    find_earlier,
    live_conversation,
    whole_conversation,
)
from tui.errors import StorageError
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
    monkeypatch.setattr(conversation, "PAGE", 3)
    monkeypatch.setattr(conversation, "_FIRST_PAGE", 2)


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


def test_of_resets_only_the_last_one_counts_and_nothing_that_was_replaced_comes(store, put):
    story = Story().add(*talked(2, "a"), Reset(at()), *talked(1, "b"), Reset(at()), user("c"))
    listed = put(story.state())
    assert ids(live_conversation(store, listed)) == ["c"]
    live = [part.is_live for part in whole_conversation(store, listed).parts()]
    assert live == [False] * 4 + [True, True]
    failed = answer("bad", status="failed")
    story = Story().add(user("q"), failed, *talked(20), answer("good", replaces="bad")).state()
    assert "bad" not in ids(live_conversation(store, put(story)))
    # Also of a session without a state.
    story = Story().add(user("q"), Reset(at()), user("r"), answer("a1"), answer("a2", after="r"))
    assert ids(live_conversation(store, put(story))) == ["r", "a2"]


def test_earlier_versions_come_only_with_the_whole_and_are_marked(store, put):
    story = Story().add(user("q"), answer("a1"), user("q2"), answer("a2", after="q")).state()
    listed = put(story)
    assert ids(live_conversation(store, listed)) == ["q", "a2"]
    parts = list(whole_conversation(store, listed).parts())
    assert [part.entry.id for part in parts] == ["q", "a1", "q2", "a2"]
    assert [part.is_earlier_version for part in parts] == [False, True, True, False]
    assert [part.is_live for part in parts] == [True, False, False, True]


def test_damage_is_counted_on_all_pages(store, put):
    story = Story().add(*talked(9)).raw(b"garbage\n").add(*talked(9, "n")).raw(b"{}\n").state()
    assert live_conversation(store, put(story)).damaged >= 1
    assert len(ids(live_conversation(store, put(story)))) == 18


def test_a_call_without_its_result_has_a_stand_in(store, put):
    listed = put(Story().add(user("q"), answer("a", tool_calls=(ToolCall("c", "edit", {}),))))
    (stand_in,) = live_conversation(store, listed).cut_off
    assert stand_in.tool_call_id == "c"


class CountedPages:
    """A journal; ``pages`` is how many were read of it."""

    def __init__(self, journal):
        self.journal = journal
        self.pages = 0

    def page(self, cursor, count):
        self.pages += 1
        return self.journal.page(cursor, count)


async def found_in(journal, wanted, reader=None, tail=3):
    """What is found from the end upwards, stretch by stretch."""
    end = journal.tail(tail)
    recent = RecentCounts(wanted).of(end.session.entries, reader)
    earlier = find_earlier(journal, end.cursor, wanted, reader)
    return [recent, *[stretch async for stretch in earlier]]


@examples(1)
@given(story=stories(), wanted=st.sampled_from(["a", "e", " ", "o", "0", "b", "\u3042"]))
def test_what_is_found_page_by_page_is_what_a_plain_scan_finds(story, wanted):
    looked_for = needle(wanted)
    if looked_for is None:
        return
    with pytest.MonkeyPatch.context() as patch, reading(story.data) as journal:
        patch.setattr(conversation, "PAGE", 3)
        patch.setattr(conversation, "_FIRST_PAGE", 2)
        stretches = asyncio.run(found_in(journal, looked_for))
    found = [(each.message_id, each.count) for s in stretches for each in s.found]
    messages = [e for e in load(story.data).entries if isinstance(e, Message)]
    counted = [(m.id, count_in(looked_for, m)) for m in messages]
    assert found[::-1] == [each for each in counted if each[1]]


async def test_the_stretch_with_the_reader_says_how_much_is_below_him():
    story = RandomStory()
    for number in range(9):
        story.user(f"text {number} x" + "x" * (number % 2))
    with reading(story.data) as journal:
        ids = [m.id for m in journal.load().all_messages]
        stretches = await found_in(journal, needle("xx"), reader=ids[2])
    below, total = [], 0
    for stretch in stretches:
        below += [] if stretch.below is None else [total + stretch.below]
        total += len(stretch.found)
    assert below == [3]


def test_only_what_has_changed_at_the_end_is_counted_again(monkeypatch):
    looked_at = []

    def counted(wanted, message):
        looked_at.append(message.id)
        return count_in(wanted, message)

    monkeypatch.setattr(conversation, "count_in", counted)
    recent = RecentCounts(needle("x"))
    first, growing = user("m1", "x"), answer("m2", "x")
    assert [f.count for f in recent.of((first, growing)).found] == [1, 1]
    grown = answer("m2", "x and x")
    assert [f.count for f in recent.of((first, grown)).found] == [2, 1]
    assert looked_at == ["m1", "m2", "m2"]


async def test_a_search_that_nobody_waits_for_reads_no_further_page_and_a_broken_one_is_told():
    class Broken:
        def page(self, *_):
            raise StorageError("no such thing")

    with pytest.raises(StorageError):
        await anext(find_earlier(Broken(), "cursor", needle("1"), None))
    story = RandomStory()
    for number in range(30):
        story.user(str(number))
    with reading(story.data) as journal:
        counted = CountedPages(journal)
        earlier = find_earlier(counted, journal.tail(3).cursor, needle("1"), None)
        await anext(earlier)
        await earlier.aclose()
        assert counted.pages == 1
