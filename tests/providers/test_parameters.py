"""The parameters of a request, as they arrive at a server."""

import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, answers, refuses
from tests.providers.conftest import (
    ModelAt,
    a_choice,
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
from tui.providers.openai import ChatCompletions
from tui.providers.protocol import ModelRequest, RequestAdapted, TextReceived, ToolDefinition

TOOL = ToolDefinition("f", "Does f.", {"type": "object", "properties": {}})
ALWAYS = {"model", "messages", "stream", "stream_options"}


async def asked(
    model_at: ModelAt, parameters: ModelParameters, **changes: Any
) -> tuple[dict[str, Any], str]:
    """What was sent of the parameters, and the notice about what was not."""
    with ChatServer() as server:
        request = replace(asks(), parameters=parameters)
        events = await collected(model_at(server, **changes).stream(request))
        (only,) = server.requests
    notices = (event.notice for event in events if isinstance(event, RequestAdapted))
    body = {name: value for name, value in only.body.items() if name not in ALWAYS}
    return body, "".join(notices)


@pytest.mark.parametrize("temperature", [0.25, 0])
async def test_temperature_and_limit_are_sent_as_they_are(model_at: ModelAt, temperature: float):
    parameters = ModelParameters(temperature=temperature, max_tokens=77)
    body, _ = await asked(model_at, parameters)
    assert body == {"temperature": temperature, "max_tokens": 77}


HIGH = ModelParameters(temperature=0.5, effort="high")


@only_openai
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("parameters", "changes", "body"),
    [
        (ModelParameters(), {}, {}),
        (ModelParameters(), {"provider": "openai"}, {}),
        (ModelParameters(), {"provider": "ollama"}, {}),
        (ModelParameters(max_tokens=5), {"provider": "ollama"}, {"max_tokens": 5}),
        (HIGH, {"model": "gpt-6-luna"}, {"temperature": 0.5, "reasoning_effort": "high"}),
        (ModelParameters(effort="off"), {}, {"reasoning_effort": "none"}),
    ],
)
async def test_a_server_of_ones_own_is_sent_what_is_set_whatever_its_models_are_called(
    model_at: ModelAt, parameters: ModelParameters, changes: dict[str, Any], body: dict[str, Any]
):
    assert await asked(model_at, parameters, **changes) == (body, "")


@only_openai
@pytest.mark.parametrize(
    ("address", "is_vendor"),
    [
        ("https://api.openai.com/v1", True),
        ("http://127.0.0.1:8080/v1", False),
        ("https://api.openai.com.example/v1", False),
    ],
)
def test_only_the_vendor_gets_the_limit_under_its_newer_name(
    dialect: str, address: str, is_vendor: Any
):
    request = replace(asks(), parameters=ModelParameters(max_tokens=5))
    body = ChatCompletions(a_choice(dialect, "gpt", address)).body(request)
    assert body["max_completion_tokens" if is_vendor else "max_tokens"] == 5


@only_anthropic
@pytest.mark.parametrize(("limit", "sent"), [(None, 32_000), (64_000, 64_000)])
async def test_a_limit_of_the_users_goes_before_the_tables(
    model_at: ModelAt, limit: int | None, sent: int
):
    changes = {"context_window": 200_000, "answer_tokens": 32_000}
    body, _ = await asked(model_at, ModelParameters(max_tokens=limit), **changes)
    assert body == {"max_tokens": sent}


@only_anthropic
@pytest.mark.parametrize(
    ("name", "effort", "thinking", "output"),
    [
        ("claude-sonnet-5-5", "high", {"type": "adaptive"}, {"effort": "high"}),
        ("claude-sonnet-5-5", "off", {"type": "between_tools"}, None),
        ("claude-opus-5", "off", {"type": "disabled"}, None),
        ("claude-haiku-4-5", "high", {"type": "enabled", "budget_tokens": 16_000}, None),
        ("claude-haiku-4-5", "low", {"type": "enabled", "budget_tokens": 2_048}, None),
        ("claude-haiku-4-5", "off", None, None),
    ],
)
async def test_an_effort_is_sent_as_the_model_takes_it(
    model_at: ModelAt, name: str, effort: Any, thinking: Any, output: Any
):
    changes = {"model": name, "context_window": 200_000}
    body, _ = await asked(model_at, ModelParameters(effort=effort), **changes)
    assert (body.get("thinking"), body.get("output_config")) == (thinking, output)


@only_anthropic
@pytest.mark.parametrize(
    ("parameters", "body", "notice"),
    [
        (
            ModelParameters(max_tokens=4_000, effort="medium", temperature=1),
            {"max_tokens": 4_000, "thinking": {"type": "enabled", "budget_tokens": 2_000}},
            "temperature 1 with max_tokens 4000 and effort medium: left out.",
        ),
        (
            ModelParameters(max_tokens=500, effort="low"),
            {"max_tokens": 500},
            "effort low with max_tokens 500: left out.",
        ),
    ],
)
async def test_thinking_leaves_half_of_a_limit_to_the_answer_and_needs_enough(
    model_at: ModelAt, parameters: ModelParameters, body: dict[str, Any], notice: str
):
    name = "claude-haiku-4-5"
    came = await asked(model_at, parameters, model=name)
    assert came == (body, f"local:{name} does not take {notice}")


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


@only_openai
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("name", "parameters", "body", "notice"),
    [
        (
            "gpt-6-luna",
            ModelParameters(temperature=0.5),
            {},
            "openai:gpt-6-luna does not take temperature 0.5: left out.",
        ),
        (
            "gpt-6-luna",
            ModelParameters(temperature=0.5, effort="off"),
            {"temperature": 0.5, "reasoning_effort": "none"},
            "",
        ),
        (
            "gpt-5",
            ModelParameters(temperature=0.5, effort="off"),
            {"reasoning_effort": "low"},
            "openai:gpt-5 does not take temperature 0.5 and effort off: sent effort low instead.",
        ),
        ("qwen3", ModelParameters(effort="low"), {"reasoning_effort": "low"}, ""),
    ],
)
async def test_parameters_that_openais_models_do_not_take_are_told_and_not_sent(
    model_at: ModelAt, name: str, parameters: ModelParameters, body: dict[str, Any], notice: str
):
    came = await asked(model_at, parameters, provider="openai", model=name)
    assert came == (body, notice)


@only_anthropic
@pytest.mark.filterwarnings("error")
async def test_a_temperature_that_claude_does_not_take_is_told_and_not_sent(model_at: ModelAt):
    body, notice = await asked(
        model_at, ModelParameters(temperature=0.5), model="claude-sonnet-5-5"
    )
    assert "temperature" not in body
    assert notice == "local:claude-sonnet-5-5 does not take temperature 0.5: left out."


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
