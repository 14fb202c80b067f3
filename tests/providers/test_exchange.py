"""The additions of the user's configuration to each request, as they arrive at a server."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, refuses
from tests.providers.conftest import KEY, ModelAt, asks, collected, only_openai, text_of
from tests.providers.loopback import Request
from tui.domain.model_settings import ModelParameters
from tui.errors import ModelError
from tui.providers.network import Route
from tui.providers.secret import Secret

TEAM = {"X-Team": Secret("very blue", "providers.local.headers")}


async def sent(model_at: ModelAt, **changes: Any) -> Request:
    with ChatServer() as server:
        await collected(model_at(server, **changes).stream(asks()))
        (request,) = server.requests
    return request


async def test_headers_are_sent(model_at: ModelAt):
    request = await sent(model_at, headers=TEAM)
    assert request.headers["x-team"] == "very blue"


async def test_headers_go_before_those_of_the_program(model_at: ModelAt):
    mine = {"user-agent": Secret("mine/1", "providers.local.headers")}
    request = await sent(model_at, headers=mine)
    assert request.headers["user-agent"] == "mine/1"


async def test_the_values_of_headers_are_in_no_error(model_at: ModelAt):
    reply = refuses(400, "Team very blue is unknown.")
    with ChatServer(reply) as server, pytest.raises(ModelError) as caught:
        await collected(model_at(server, headers=TEAM).stream(asks()))
    assert "very blue" not in str(caught.value)


async def test_the_key_is_sent_in_the_header_that_is_configured(model_at: ModelAt):
    request = await sent(model_at, key_header="api-key")
    assert request.headers["api-key"] == KEY
    assert {"authorization", "x-api-key"} & set(request.headers) == set()


async def test_authorization_has_its_usual_form_in_every_dialect(model_at: ModelAt):
    request = await sent(model_at, key_header="Authorization")
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_parameters_follow_the_address(model_at: ModelAt):
    request = await sent(model_at, query={"api-version": "2026-10-01", "a b": "ä"})
    assert request.path.endswith("?api-version=2026-10-01&a+b=%C3%A4")


async def test_more_fields_go_into_the_body_before_those_of_the_program(model_at: ModelAt):
    extra = {"top_k": 5, "provider": {"order": ["a"]}, "stream_options": None}
    request = await sent(model_at, extra_body=extra)
    assert extra.items() <= request.body.items()
    assert request.body["messages"]


@only_openai
async def test_token_counts_are_not_asked_for_where_a_server_refuses_that(model_at: ModelAt):
    assert "stream_options" in (await sent(model_at)).body
    assert "stream_options" not in (await sent(model_at, stream_options=False)).body


@only_openai
async def test_the_limit_of_an_answer_has_the_name_that_is_configured(model_at: ModelAt):
    with ChatServer() as server:
        model = model_at(server, max_tokens_name="max_completion_tokens")
        await collected(model.stream(replace(asks(), parameters=ModelParameters(max_tokens=9))))
        (request,) = server.requests
    assert request.body["max_completion_tokens"] == 9
    assert "max_tokens" not in request.body


class AtOnce(httpx2.AsyncBaseTransport, httpx2.AsyncByteStream):
    """A server whose whole answer is read in one piece."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


async def test_others_have_their_turns_while_much_of_an_answer_is_read(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
):
    event = b'data: {"choices": [{"delta": {"content": "word "}}]}\n\n'
    server = AtOnce(event * 5_000 + b"data: [DONE]\n\n")
    monkeypatch.setattr(Route, "transport", lambda _: server)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    model = model_at("http://localhost/v1", dialect="openai")
    assert text_of(await collected(model.stream(asks()))).count("word ") == 5_000
    beside.cancel()
    assert turns > 20
