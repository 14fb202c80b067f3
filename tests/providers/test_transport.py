"""The additions of the user's configuration to each request, as they arrive at a server."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, refuses
from tests.providers.conftest import KEY, ModelAt, asks, collected, only_openai
from tests.providers.loopback import Request
from tui.domain.model_settings import ModelParameters
from tui.errors import ModelError
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
