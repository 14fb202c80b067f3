"""Odd servers: what each sends, byte for byte, and what becomes of it."""

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, Exchange, Gate, answers
from tests.providers.conftest import ModelAt, asks
from tests.providers.recorded import samples
from tui.domain.journal.message import TokenUsage, ToolCall
from tui.errors import ModelError
from tui.providers.chat_model import ChatModel
from tui.providers.exchange import Reply
from tui.providers.protocol import (
    AnswerEnded,
    AttemptFailed,
    ModelEvent,
    TextReceived,
    ThinkingReceived,
    ToolDefinition,
)

REQUEST = replace(asks(), tools=(ToolDefinition("f", "Does f.", {"type": "object"}),))


def told(event: ModelEvent) -> str:
    """An event in a few characters: ``text``, ``(thinking)``, ``name{…}``, ``11+7``, ``.``"""
    match event:
        case TextReceived(text):
            return text
        case ThinkingReceived(text):
            return f"({text})"
        case ToolCall() as called:
            return f" {called.name}{json.dumps(called.arguments)}"
        case TokenUsage():
            cached, written = event.cached_tokens, event.cache_write_tokens
            cache = f" ({cached}+{written} cached)" if cached or written else ""
            return f" {event.input_tokens}+{event.output_tokens}{cache}"
        case AnswerEnded(reason):
            return "." if reason == "stop" else f" {reason}."
        case AttemptFailed():
            return "again "


async def becomes(model: ChatModel) -> str:
    """All that becomes of an answer, with the last counts, and with the error behind ``!``."""
    said, counts = "", ""
    try:
        async for event in model.stream(REQUEST):
            if isinstance(event, TokenUsage):
                counts = told(event)
            else:
                said += counts * isinstance(event, AnswerEnded) + told(event)
    except ModelError as error:
        return f"{said}! {error}"
    return said


def of_the_server(body: bytes) -> Callable[[Exchange], None]:
    def reply(exchange: Exchange) -> None:
        if body.startswith(b"HTTP/"):
            exchange.raw(body)
        else:
            exchange.head()
            exchange.raw(body)

    return reply


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "google", "responses"], indirect=True)
async def test_an_answer_is_read_in_whatever_shape_it_comes(model_at: ModelAt, dialect: str):
    rows = list(samples(f"quirks_{dialect}"))
    told = []
    for quirk, body, _ in rows:
        with ChatServer(of_the_server(body)) as server:
            model = model_at(server, retries=0)
            said = (await becomes(model)).replace(model._choice.provider.base_url, "URL")
        told.append((quirk, said))
    assert told == [(quirk, result) for quirk, _, result in rows]


@pytest.mark.parametrize("keeps_alive", [False, True])
async def test_an_answer_with_a_reason_and_no_end_mark_ends_while_the_server_waits(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch, keeps_alive: Any
):
    monkeypatch.setattr("tui.providers.exchange._AFTER_THE_REASON", 0.05)
    gate = Gate()

    def stays(exchange: Exchange) -> None:
        answers("Hi", done=False)(exchange)
        while keeps_alive:
            exchange.raw(b": ping\n\n")
        exchange.wait(gate)

    with ChatServer(stays) as server:
        assert await becomes(model_at(server)) == "Hi 11+7."


async def test_an_answer_with_a_reason_in_each_piece_is_read_to_its_end(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tui.providers.exchange._AFTER_THE_REASON", 0.5)
    gates = [Gate(), Gate()]

    def slowly(exchange: Exchange) -> None:
        exchange.begin()
        for gate in (None, *gates):
            if gate:
                exchange.wait(gate)
            exchange.text("Hi")
            exchange.end(done=False)

    with ChatServer(slowly) as server:
        said, following = "", iter(gates)
        async for event in model_at(server).stream(REQUEST):
            said += told(event)
            if gate := next(following, None):
                await asyncio.sleep(0.6)
                gate.open()
    assert said == "HiHiHi."


@pytest.mark.parametrize("status", [400, 503])
async def test_of_an_error_in_gzip_only_the_beginning_is_unpacked(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch, status: int
):
    unpacked: list[int] = []
    record = Reply.record
    monkeypatch.setattr(
        Reply, "record", lambda *args: unpacked.append(len(args[1])) or record(*args)
    )
    bomb = gzip.compress(b"No! " * 25_000_000, 1)

    def refuses(exchange: Exchange) -> None:
        exchange.head(status, Content_Encoding="gzip", Retry_After="0")
        exchange.raw(bomb)

    with ChatServer(refuses) as server:
        assert "It says: No! No!" in await becomes(model_at(server, retries=1))
    assert sum(unpacked) < 5_000_000
