"""The tokens that servers count, those of their caches too, as each dialect says it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.providers.chat_server import ChatServer, Exchange, Gate, Reply, chunk
from tests.providers.conftest import (
    ModelAt,
    asks,
    events_from,
    only_anthropic,
    only_openai,
)
from tests.providers.google_speech import candidate
from tests.providers.responses_speech import state
from tests.providers.speech import message_delta, message_start, usage_chunk
from tui.domain.journal.message import TokenUsage
from tui.errors import ModelError
from tui.providers.protocol import ModelEvent, TextReceived, UsageReported

STARTED = {
    "input_tokens": 10,
    "cache_read_input_tokens": 80,
    "cache_creation_input_tokens": 10,
    "output_tokens": 1,
}


def says_openai(usage: Any) -> Reply:
    def reply(exchange: Exchange) -> None:
        exchange.head()
        exchange.event(chunk({"content": "Yes."}))
        exchange.event(chunk({}, "stop"))
        exchange.event(usage_chunk(usage))
        exchange.event("[DONE]")

    return reply


def says_anthropic(*, reason: str = "end_turn", gate: Gate | None = None) -> Reply:
    def reply(exchange: Exchange) -> None:
        exchange.head()
        exchange.event(message_start(STARTED))
        exchange.text("Yes.")
        if gate:
            exchange.wait(gate)
        exchange.event({"type": "content_block_stop", "index": 0})
        exchange.event(message_delta(reason, {"output_tokens": 7}))
        exchange.event({"type": "message_stop"})

    return reply


async def reported(model_at: ModelAt, reply: Reply) -> list[TokenUsage]:
    events = await events_from(model_at, reply)
    return [event.usage for event in events if isinstance(event, UsageReported)]


@only_openai
@pytest.mark.parametrize(
    ("details", "cached"),
    [
        ({"cached_tokens": 64}, 64),
        (None, 0),
        ({"cached_tokens": None}, 0),
        ({"cached_tokens": 500}, 100),
    ],
)
async def test_openai_counts_cached_tokens_among_the_input(
    model_at: ModelAt, details: Any, cached: int
):
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": details}
    assert await reported(model_at, says_openai(usage)) == [TokenUsage(100, 7, cached)]


@pytest.mark.parametrize("dialect", ["responses"], indirect=True)
async def test_responses_count_cached_tokens_among_the_input(model_at: ModelAt):
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 107,
    }

    def reply(exchange: Exchange) -> None:
        exchange.head()
        exchange.event(state("created", "in_progress"))
        exchange.text("Yes.")
        exchange.event(state("completed", "completed", usage=usage))

    assert await reported(model_at, reply) == [TokenUsage(100, 7, 64)]


@pytest.mark.parametrize("dialect", ["google"], indirect=True)
async def test_google_counts_cached_tokens_among_the_input_and_thoughts_beside_the_output(
    model_at: ModelAt,
):
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 64,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 2,
        "totalTokenCount": 107,
    }

    def reply(exchange: Exchange) -> None:
        exchange.head()
        exchange.event(candidate({"text": "Yes."}, reason="STOP", usageMetadata=usage))

    assert await reported(model_at, reply) == [TokenUsage(100, 7, 64)]


@only_anthropic
async def test_anthropic_counts_cached_tokens_beside_the_input_which_then_has_them(
    model_at: ModelAt,
):
    *_, last = await reported(model_at, says_anthropic())
    assert last == TokenUsage(100, 7, cached_tokens=80, cache_write_tokens=10)


@only_anthropic
async def test_what_is_counted_at_the_beginning_is_told_at_once(model_at: ModelAt):
    gate = Gate()
    with ChatServer(says_anthropic(gate=gate)) as server:
        stream = model_at(server).stream(asks())
        events = [await anext(stream), await anext(stream)]
        await stream.aclose()
        gate.open()
    counts = UsageReported(100, 1, cached_tokens=80, cache_write_tokens=10)
    assert events == [counts, TextReceived("Yes.")]


@only_anthropic
async def test_a_refusal_tells_what_it_took(model_at: ModelAt):
    counted: list[TokenUsage] = []

    async def listen(stream: AsyncIterator[ModelEvent]) -> None:
        async for event in stream:
            counted.extend([event.usage] if isinstance(event, UsageReported) else [])

    with ChatServer(says_anthropic(reason="refusal")) as server, pytest.raises(ModelError):
        await listen(model_at(server).stream(asks()))
    assert counted[-1] == TokenUsage(100, 7, 80, 10)
