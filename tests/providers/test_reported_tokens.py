"""The tokens that servers count, those of their caches too, as each dialect says it."""

from collections.abc import AsyncIterator

import pytest

from tests.providers.chat_server import ChatServer, Exchange, Gate, Reply
from tests.providers.conftest import (
    ModelAt,
    asks,
    only_anthropic,
)
from tests.providers.speech import message_delta, message_start
from tui.domain.journal.message import TokenUsage
from tui.errors import ModelError
from tui.providers.protocol import ModelEvent, TextReceived

STARTED = {
    "input_tokens": 10,
    "cache_read_input_tokens": 80,
    "cache_creation_input_tokens": 10,
    "output_tokens": 1,
}


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


@only_anthropic
async def test_what_is_counted_at_the_beginning_is_told_at_once(model_at: ModelAt):
    gate = Gate()
    with ChatServer(says_anthropic(gate=gate)) as server:
        stream = model_at(server).stream(asks())
        events = [await anext(stream), await anext(stream)]
        await stream.aclose()
        gate.open()
    counts = TokenUsage(100, 1, cached_tokens=80, cache_write_tokens=10)
    assert events == [counts, TextReceived("Yes.")]


@only_anthropic
async def test_a_refusal_tells_what_it_took(model_at: ModelAt):
    counted: list[TokenUsage] = []

    async def listen(stream: AsyncIterator[ModelEvent]) -> None:
        async for event in stream:
            counted.extend([event] if isinstance(event, TokenUsage) else [])

    with ChatServer(says_anthropic(reason="refusal")) as server, pytest.raises(ModelError):
        await listen(model_at(server).stream(asks()))
    assert counted[-1] == TokenUsage(100, 7, 80, 10)
