"""Stopping an answer: the connection goes at once, and nothing is left behind.

Warnings are errors here as everywhere: a client or a socket that nobody closed would be one.
"""

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.providers.chat_server import (
    ChatServer,
    Gate,
    Reply,
    answers,
    answers_at,
    is_silent,
    refuses,
)
from tests.providers.conftest import ModelAt, asks, collected
from tests.providers.loopback import PATIENCE
from tui.providers.protocol import TextReceived


@pytest.fixture(autouse=True)
def nothing_left_behind():
    yield
    gc.collect()


async def test_closing_the_iterator_within_an_answer_closes_the_connection(model_at: ModelAt):
    with ChatServer(answers_at(Gate(), "One", "Two")) as server:
        events = model_at(server).stream(asks())
        assert await anext(events) == TextReceived("One")
        await events.aclose()
        await asyncio.to_thread(server.wait_for_disconnect)


async def test_closing_it_before_it_was_asked_for_anything_sends_nothing(model_at: ModelAt):
    with ChatServer() as server:
        events = model_at(server).stream(asks())
        await events.aclose()
        assert server.requests == []


@pytest.mark.parametrize("reply", [is_silent, lambda gate: answers_at(gate, "One", "Two")])
async def test_cancelling_before_or_within_an_answer_closes_the_connection(
    model_at: ModelAt, reply: Callable[[Gate], Reply]
):
    gate = Gate()
    with ChatServer(reply(gate)) as server:
        task = asyncio.create_task(collected(model_at(server).stream(asks())))
        await asyncio.to_thread(gate.wait_until_reached)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.wait_for_disconnect)


async def test_cancelling_between_two_tries_ends_the_waiting(model_at: ModelAt):
    with ChatServer(refuses(503, Retry_After="59")) as server:
        task = asyncio.create_task(collected(model_at(server).stream(asks())))
        await asyncio.to_thread(server.wait_for_request)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(server.requests) == 1


async def test_cancelling_at_any_moment_leaves_nothing_behind(model_at: ModelAt):
    """After each number of turns of the event loop, until one is enough for the whole answer."""
    with ChatServer(answers("One", "Two", "Three")) as server:
        model = model_at(server)
        await collected(model.stream(asks()))
        before = asyncio.all_tasks()
        for turns in range(400):
            task = asyncio.create_task(collected(model.stream(asks())))
            for _ in range(turns):
                await asyncio.sleep(0)
            if task.done():
                break
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        gc.collect()
        # What the libraries end by tasks of their own is ended too.
        await asyncio.wait_for(asyncio.gather(*(asyncio.all_tasks() - before)), PATIENCE)
        assert turns > 10


async def test_no_connection_is_kept_after_an_answer(model_at: ModelAt):
    with ChatServer() as server:
        model = model_at(server)
        await collected(model.stream(asks()))
        await collected(model.stream(asks()))
        first, second = server.requests
        assert first.client != second.client


def test_one_model_serves_several_event_loops(model_at: ModelAt):
    with ChatServer() as server:
        model = model_at(server)
        for _ in range(3):
            assert asyncio.run(collected(model.stream(asks())))


async def test_two_answers_may_arrive_at_the_same_time(model_at: ModelAt):
    gate = Gate()
    with ChatServer(answers_at(gate, "One", "Two")) as server:
        model = model_at(server)
        tasks = [asyncio.create_task(collected(model.stream(asks()))) for _ in range(5)]
        await asyncio.to_thread(server.wait_for_request, 5)
        gate.open()
        answers = await asyncio.gather(*tasks)
    assert all(answer == answers[0] for answer in answers)
