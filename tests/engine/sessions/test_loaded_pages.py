"""A place far from the end of a session, and how the two join."""

import pytest

from tests.builders import Clock, user
from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, Summary
from tui.engine.sessions.loaded_session import LoadedSession
from tui.storage.file_store import FileStore


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path, Clock())


def begun(store, *records):
    lease = store.create("project:/shop", "/shop", "m")
    store.append(lease, records)
    lease.release()
    return lease.session_id


def texts(entries):
    return [e.text if isinstance(e, Message) else type(e).__name__ for e in entries]


def looked_at(store, session_id, at, *, hand=20):
    conversation = LoadedSession(None, store.journal(session_id).tail(hand))
    conversation.pages.show(at, store.journal(session_id).around(at, 5, 5))
    return conversation


async def read_later(store, conversation):
    await conversation.pages.read_later(store.journal(conversation.id))


async def read_earlier(store, conversation):
    return await conversation.pages.read_earlier(store.journal(conversation.id))


def talk(count=300):
    return [user(f"m{number}", str(number)) for number in range(count)]


def test_what_is_at_hand_needs_no_excerpt(store):
    conversation = looked_at(store, begun(store, *talk()), "m290")
    assert conversation.pages.excerpt is None
    assert not conversation.view().later


def test_far_from_the_end_what_stands_around_it_is_shown(store):
    view = looked_at(store, begun(store, *talk()), "m100").view()
    assert texts(view.entries) == [str(number) for number in range(95, 106)]
    assert (view.earlier, view.later) == (True, True)


async def test_reading_on_leads_to_the_end_and_to_the_beginning(store):
    conversation = looked_at(store, begun(store, *talk()), "m100")
    while conversation.pages.excerpt:
        await read_later(store, conversation)
    assert texts(conversation.view().entries) == [str(number) for number in range(95, 300)]
    assert conversation.pages.cursor is not None
    assert not conversation.view().later


async def test_earlier_pages_come_before_it(store):
    conversation = looked_at(store, begun(store, *talk()), "m100")
    while conversation.pages.before:
        await read_earlier(store, conversation)
    assert texts(conversation.view().entries) == [str(number) for number in range(106)]
    assert await read_earlier(store, conversation) is None


async def test_a_page_asked_for_twice_is_taken_once(store):
    import asyncio

    conversation = looked_at(store, begun(store, *talk()), "m100")
    await asyncio.gather(*[read(store, conversation) for read in (read_later, read_earlier) * 2])
    assert texts(conversation.view().entries) == [str(number) for number in range(45, 156)]


async def test_before_a_reset_it_reaches_the_end_without_anything_twice(store):
    early, late = talk(200)[:150], talk(200)[150:]
    name = begun(store, *early, Reset("t"), Summary(text="so far", through="m149"), *late)
    conversation = looked_at(store, name, "m100", hand=100)
    while conversation.pages.excerpt:
        await read_later(store, conversation)
    shown = texts(conversation.view().entries)
    assert shown == [*map(str, range(95, 150)), "Reset", "Summary", *map(str, range(150, 200))]


async def test_where_live_is_empty_all_of_it_comes_before(store):
    name = begun(store, *talk(100), Reset("t"))
    conversation = looked_at(store, name, "m10")
    while conversation.pages.excerpt:
        await read_later(store, conversation)
    assert texts(conversation.view().entries)[-2:] == ["99", "Reset"]
    assert texts(conversation.view().entries).count("Reset") == 1


def test_what_waits_to_be_sent_stands_at_the_end(store):
    conversation = looked_at(store, begun(store, *talk()), "m100")
    conversation.prompt.enqueue("next")
    assert conversation.view().queue.prompts == ()
