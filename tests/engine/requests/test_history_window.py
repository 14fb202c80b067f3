"""What a model may be sent of a session, read back no further than it must."""

import pytest

from tui.domain.journal.records import Summary
from tui.engine import model_requests as module
from tui.engine.model_requests import context_of, read_context


def texts(context):
    return [each.text for each in context.messages]


@pytest.fixture
def pages_of_four(monkeypatch):
    monkeypatch.setattr(module, "PAGE", 4)


async def held(new_session, store, count):
    session = new_session()
    for number in range(count):
        session.add_message("user", f"message {number}")
    await session.save()
    return session


async def test_a_long_session_is_read_back_as_far_as_a_window_takes(
    new_session, store, pages_of_four
):
    session = await held(new_session, store, 50)
    context = read_context(store.journal(session.id), None, 60)
    assert 4 <= len(context.messages) < 16
    assert texts(context)[-1] == "message 49"
    assert context.reaches(60)
    assert not context.reaches(61)


async def test_all_of_it_is_read_if_all_of_it_fits(new_session, store, pages_of_four):
    session = await held(new_session, store, 50)
    context = read_context(store.journal(session.id), None, 100_000)
    assert texts(context) == [f"message {number}" for number in range(50)]
    assert context.reaches(10**9)


async def test_it_ends_at_a_reset(new_session, store, pages_of_four):
    session = await held(new_session, store, 10)
    session.reset()
    for number in range(6):
        session.add_message("user", f"after {number}")
    await session.save()
    context = read_context(store.journal(session.id), None, 100_000)
    assert texts(context) == [f"after {number}" for number in range(6)]


async def test_it_reaches_no_further_than_the_page_with_the_summary(
    new_session, store, pages_of_four
):
    session = await held(new_session, store, 50)
    through = session.session.loaded_messages[45]
    summary = Summary(text="Much was said.", through=through.id)
    context = read_context(store.journal(session.id), summary, 100_000)
    assert through in context.messages
    assert len(context.messages) <= 12
    assert context.reaches(10**9)


async def test_what_was_read_already_is_enough_only_if_it_is_all(new_session, store):
    session = await held(new_session, store, 5)
    assert texts(context_of(session.session)) == [f"message {number}" for number in range(5)]
    part = store.journal(session.id).tail(2).session
    assert context_of(part) is None


async def test_another_writing_of_a_message_takes_its_place(new_session, store):
    session = await held(new_session, store, 3)
    context = context_of(session.session)
    first = context.messages[0]
    context.add(first)
    assert len(context.messages) == 3
