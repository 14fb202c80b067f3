"""Finding a text in the whole of one session."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import answer, user
from tests.examples import examples
from tests.storage.stories import RandomStory, load, reading, stories
from tui.domain.journal.message import Message
from tui.domain.search.find import count_in, needle
from tui.engine.library import conversation
from tui.engine.library.conversation import RecentCounts, find_earlier
from tui.errors import StorageError


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


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(conversation, "PAGE", 3)
    monkeypatch.setattr(conversation, "_FIRST_PAGE", 2)


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


async def test_the_stretch_with_the_reader_says_how_much_is_below_him(small_pages):
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


async def test_a_search_that_nobody_waits_for_reads_no_further_page(small_pages):
    story = RandomStory()
    for number in range(30):
        story.user(str(number))
    with reading(story.data) as journal:
        counted = CountedPages(journal)
        earlier = find_earlier(counted, journal.tail(3).cursor, needle("1"), None)
        await anext(earlier)
        await earlier.aclose()
        assert counted.pages == 1


async def test_a_page_that_cannot_be_read_is_told(small_pages):
    class Broken:
        def page(self, *_):
            raise StorageError("no such thing")

    with pytest.raises(StorageError):
        await anext(find_earlier(Broken(), "cursor", needle("1"), None))
