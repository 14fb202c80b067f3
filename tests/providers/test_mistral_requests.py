"""Requests to Mistral, and answers that only it has."""

import re
from typing import Any

import pytest

from tests.providers.chat_server import ChatServer, answers, calls_tools
from tests.providers.conftest import KEY, ModelAt, asks, collected, sent
from tests.providers.test_turn_answers import CALLS, next_round, thinks_and_calls
from tui.domain.models import ModelParameters
from tui.domain.providers import DialectName
from tui.providers.protocol import ModelRequest

THINKS = "mistral-medium-latest"


@pytest.fixture
def dialect() -> DialectName:
    return "mistral"


async def test_a_request_has_nothing_of_the_library_but_what_it_needs(model_at: ModelAt):
    only = await sent(model_at, asks(system="Be brief."))
    assert only.path == "/mistral/v1/chat/completions"
    assert only.headers["authorization"] == f"Bearer {KEY}"
    assert only.headers["user-agent"].startswith("sibyl-tui/")
    assert only.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello?"},
    ]
    assert "max_tokens" not in only.body


@pytest.mark.parametrize(("effort", "said"), [("off", "none"), ("low", "high"), ("high", "high")])
async def test_an_effort_is_all_or_none(model_at: ModelAt, effort: Any, said: str):
    request = ModelRequest("", asks().messages, parameters=ModelParameters(effort=effort))
    only = await sent(model_at, request, model=THINKS)
    assert only.body["reasoning_effort"] == said


async def test_ids_of_calls_are_of_the_form_that_it_takes(model_at: ModelAt):
    with ChatServer(calls_tools(*CALLS), answers()) as server:
        model = model_at(server)
        await collected(model.stream(await next_round(model, asks())))
    calls, *results = server.requests[1].body["messages"][1:3]
    ids = [call["id"] for call in calls["tool_calls"]]
    assert all(re.fullmatch(r"[a-zA-Z0-9]{9}", each) for each in ids)
    assert results[0]["tool_call_id"] == ids[0]


async def test_thinking_goes_back_within_a_turn(model_at: ModelAt):
    with ChatServer(thinks_and_calls, answers()) as server:
        model = model_at(server)
        await collected(model.stream(await next_round(model, asks())))
    thought, text = server.requests[1].body["messages"][1]["content"]
    assert thought["thinking"] == [{"type": "text", "text": "Hm. Well."}]
    assert text == {"type": "text", "text": "Looking."}
