"""A place far from the end of a session, and how the two join."""

import asyncio

import pytest

from tests.builders import Clock, user
from tests.storage.contract import closed
from tests.tables import each_row
from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, Summary
from tui.engine.sessions.loaded_session import LoadedSession
from tui.storage.file_store import FileStore


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path, Clock())


def texts(entries):
    return [e.text if isinstance(e, Message) else type(e).__name__ for e in entries]


def talk(count=300):
    return [user(f"m{number}", str(number)) for number in range(count)]


def looked_at(store, session_id, at, *, hand=20):
    conversation = LoadedSession(None, store.journal(session_id).tail(hand))
    conversation.pages.show(at, store.journal(session_id).around(at, 5, 5))
    return conversation


async def read_later(store, conversation):
    await conversation.pages.read_later(store.journal(conversation.id))


async def read_earlier(store, conversation):
    return await conversation.pages.read_earlier(store.journal(conversation.id))


def test_only_far_from_the_end_what_stands_around_a_message_is_shown_by_an_excerpt(store):
    name = closed(store, *talk())
    conversation = looked_at(store, name, "m290")
    assert conversation.pages.excerpt is None
    assert not conversation.view().later
    conversation = looked_at(store, name, "m100")
    conversation.prompt.enqueue("next")
    view = conversation.view()
    assert texts(view.entries) == [str(number) for number in range(95, 106)]
    assert (view.earlier, view.later) == (True, True)
    assert view.queue.prompts == (), "it stands at the end"


SUMMARY = Summary(text="so far", through="m149")


@each_row(
    "records, at, hand, first, last",
    [
        (talk(), "m100", 20, "95", [*map(str, range(96, 300))]),
        # Before a reset, with nothing twice.
        (
            [*talk(150), Reset("t"), SUMMARY, *talk(200)[150:]],
            "m100",
            100,
            "95",
            [*map(str, range(96, 150)), "Reset", "Summary", *map(str, range(150, 200))],
        ),
        # Where live is empty, all of it comes before.
        ([*talk(100), Reset("t")], "m10", 20, "5", [*map(str, range(6, 100)), "Reset"]),
    ],
)
async def test_reading_on_leads_to_the_end_without_anything_twice(
    store, records, at, hand, first, last
):
    conversation = looked_at(store, closed(store, *records), at, hand=hand)
    while conversation.pages.excerpt:
        await read_later(store, conversation)
    assert texts(conversation.view().entries) == [first, *last]
    assert conversation.pages.cursor is not None
    assert not conversation.view().later


async def test_earlier_pages_come_before_it(store):
    conversation = looked_at(store, closed(store, *talk()), "m100")
    while conversation.pages.before:
        await read_earlier(store, conversation)
    assert texts(conversation.view().entries) == [str(number) for number in range(106)]
    assert await read_earlier(store, conversation) is None


async def test_a_page_asked_for_twice_is_taken_once(store):
    conversation = looked_at(store, closed(store, *talk()), "m100")
    await asyncio.gather(*[read(store, conversation) for read in (read_later, read_earlier) * 2])
    assert texts(conversation.view().entries) == [str(number) for number in range(45, 156)]
