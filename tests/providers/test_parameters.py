"""The parameters of a request, as they arrive at a server."""

import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, answers, refuses
from tests.providers.conftest import (
    ModelAt,
    asks,
    collected,
    only_anthropic,
    only_openai,
    says,
    text_of,
)
from tui.domain.journal.message import ToolCall
from tui.domain.models import ModelParameters
from tui.errors import ModelError
from tui.providers.chat_model import ChatModel
from tui.providers.protocol import ModelRequest, RequestAdapted, TextReceived, ToolDefinition

TOOL = ToolDefinition("f", "Does f.", {"type": "object", "properties": {}})


@pytest.mark.parametrize("effort", [None, "high"])
async def test_a_turn_whose_thinking_was_not_kept_goes_on_without(model_at: ModelAt, effort: Any):
    called = says("assistant", "", tool_calls=(ToolCall("c1", "f", {}),))
    request = asks("Go.", called, says("tool", "Done.", tool_call_id="c1"))
    request = replace(request, tools=(TOOL,), parameters=ModelParameters(effort=effort))
    with ChatServer() as server:
        await collected(model_at(server).stream(request))
        (only,) = server.requests
    # Anthropic's models of this kind think only if they are told to.
    off = None if effort is None or "/messages" in only.path else "none"
    assert (only.body.get("thinking"), only.body.get("reasoning_effort")) == (None, off)


REQUEST = replace(asks(), parameters=ModelParameters(temperature=0.5))


async def refusal(model: ChatModel, request: ModelRequest) -> str:
    with pytest.raises(ModelError) as caught:
        await collected(model.stream(request))
    return str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        "temperature is not supported with this model.",
        "Unsupported value: 'temperature'. Only the default (1) value is supported.",
    ],
)
async def test_a_refused_parameter_is_left_out_told_and_remembered(model_at: ModelAt, said: str):
    notice = "local:test-model does not take temperature 0.5: left out."
    with ChatServer(refuses(400, said), answers("Fine.")) as server:
        model = model_at(server)
        for _ in range(2):
            events = await collected(model.stream(REQUEST))
            assert text_of(events) == "Fine."
            assert [e.notice for e in events if isinstance(e, RequestAdapted)] == [notice]
        sent = [each.body.get("temperature") for each in server.requests]
    assert sent == [0.5, None, None]


@only_openai
async def test_a_refused_effort_may_be_spelled_otherwise(model_at: ModelAt):
    said = "Model grok-4 does not support parameter reasoningEffort."
    request = replace(asks(), parameters=ModelParameters(effort="high"))
    with ChatServer(refuses(400, said), answers("Fine.")) as server:
        events = await collected(model_at(server).stream(request))
        assert "reasoning_effort" not in server.requests[1].body
    assert RequestAdapted("local:test-model does not take effort high: left out.") in events


@only_anthropic
async def test_a_limit_that_is_too_high_for_a_model_is_lowered(model_at: ModelAt):
    said = "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m"
    with ChatServer(refuses(400, said), answers("Fine.")) as server:
        model = model_at(server)
        for _ in range(2):
            assert text_of(await collected(model.stream(asks()))) == "Fine."
        assert [each.body["max_tokens"] for each in server.requests] == [8192, 4096, 4096]


@only_openai
async def test_a_limit_goes_under_the_name_that_the_server_knows(model_at: ModelAt):
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    request = replace(asks(), parameters=ModelParameters(max_tokens=77))
    with ChatServer(refuses(400, said), answers("Fine.")) as server:
        events = await collected(model_at(server).stream(request))
        first, second = (each.body for each in server.requests)
    assert (first["max_tokens"], second["max_completion_tokens"]) == (77, 77)
    assert not [each for each in events if isinstance(each, RequestAdapted)]


@only_openai
async def test_a_field_of_the_programs_own_is_left_out_without_a_word(model_at: ModelAt):
    said = "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options')}: Extra inputs are not"
    with ChatServer(refuses(422, f"{said} permitted"), answers("Fine.")) as server:
        events = await collected(model_at(server).stream(asks()))
        assert "stream_options" not in server.requests[1].body
    assert isinstance(events[0], TextReceived)


@pytest.mark.parametrize("dialect", ["responses"], indirect=True)
async def test_summaries_are_left_out_for_an_account_that_may_not_have_them(model_at: ModelAt):
    said = "Your organization must be verified to generate summaries."
    refused = {
        "error": {"message": said, "param": "reasoning.summary", "code": "unsupported_value"}
    }
    replies = refuses(400, body=refused), answers("Yes."), answers("Again.")
    with ChatServer(*replies) as server:
        model = model_at(server, model="gpt-6-luna")
        for text in ("Yes.", "Again."):
            assert text_of(await collected(model.stream(asks()))) == text
        asked = [request.body.get("reasoning") for request in server.requests]
    assert asked == [{"summary": "auto"}, None, None]


async def test_what_is_refused_without_its_name_is_told_with_what_was_sent(model_at: ModelAt):
    request = replace(asks(), parameters=ModelParameters(max_tokens=9_000, effort="high"))
    with ChatServer(refuses(400)) as server:
        told = await refusal(model_at(server), request)
    assert told.endswith(
        "It was sent with max_tokens 9000 and effort high; /set shows where each value comes from."
    )


@pytest.mark.parametrize("status", [401, 500])
async def test_other_failures_say_nothing_of_parameters(model_at: ModelAt, status: int):
    with ChatServer(refuses(status)) as server:
        assert "temperature" not in await refusal(model_at(server, retries=0), REQUEST)


async def test_a_refusal_without_parameters_says_nothing_of_them(model_at: ModelAt):
    with ChatServer(refuses(400)) as server:
        assert "It was sent with" not in await refusal(model_at(server), asks())


def test_no_warning_of_a_library_is_printed():
    program = (
        "import warnings\n"
        "from tui.providers.chat_model import ChatModel\n"
        "from tests.providers.conftest import a_choice\n"
        "ChatModel(a_choice('local', 'm', 'http://127.0.0.1:1/v1'))\n"
        "warnings.warn('Dropped.')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
