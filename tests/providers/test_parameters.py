"""The parameters of a request, as they arrive at a server."""

from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, refuses
from tests.providers.conftest import (
    ModelAt,
    asks,
    collected,
    only_anthropic,
    only_openai,
)
from tui.domain.model_settings import ModelParameters
from tui.errors import ModelError
from tui.providers.adapter import ChatModel
from tui.providers.catalog import ModelChoice
from tui.providers.openai_dialect import OpenAIDialect
from tui.providers.protocol import ModelRequest

GIVEN = {"temperature", "max_tokens", "max_completion_tokens"}


async def sent(model_at: ModelAt, parameters: ModelParameters, **changes: Any) -> dict[str, Any]:
    with ChatServer() as server:
        request = replace(asks(), parameters=parameters)
        await collected(model_at(server, **changes).stream(request))
        (only,) = server.requests
    return {name: value for name, value in only.body.items() if name in GIVEN}


async def test_temperature_and_limit_are_sent_as_they_are(model_at: ModelAt):
    parameters = ModelParameters(temperature=0.25, max_tokens=77)
    assert await sent(model_at, parameters) == {"temperature": 0.25, "max_tokens": 77}


async def test_a_temperature_of_zero_is_sent(model_at: ModelAt):
    body = await sent(model_at, ModelParameters(temperature=0))
    assert body["temperature"] == 0


@only_openai
@pytest.mark.parametrize("provider", ["local", "openai", "ollama"])
async def test_nothing_is_sent_that_is_not_set(model_at: ModelAt, provider: str):
    assert await sent(model_at, ModelParameters(), provider=provider) == {}


@only_openai
async def test_an_ollama_gets_the_names_that_it_knows(model_at: ModelAt):
    body = await sent(model_at, ModelParameters(max_tokens=5), provider="ollama", model="qwen3")
    assert body == {"max_tokens": 5}


@only_openai
@pytest.mark.parametrize(
    ("address", "is_vendor"),
    [
        ("https://api.openai.com/v1", True),
        ("http://127.0.0.1:8080/v1", False),
        ("https://api.openai.com.example/v1", False),
    ],
)
async def test_only_the_vendor_gets_the_limit_under_its_newer_name(
    dialect: str, address: str, is_vendor: Any
):
    async with httpx2.AsyncClient() as http:
        model = OpenAIDialect(ModelChoice(dialect, "gpt", address)).model(http)
    assert model.profile.get("openai_chat_supports_max_completion_tokens") is is_vendor


@only_anthropic
async def test_a_limit_of_the_users_goes_before_the_tables(model_at: ModelAt):
    changes = {"context_window": 200_000, "answer_tokens": 32_000}
    assert await sent(model_at, ModelParameters(), **changes) == {"max_tokens": 32_000}
    parameters = ModelParameters(max_tokens=64_000)
    assert await sent(model_at, parameters, **changes) == {"max_tokens": 64_000}


@pytest.mark.parametrize("name", ["gpt-6-luna", "claude-sonnet-5-5"])
@pytest.mark.filterwarnings("error")
async def test_a_model_that_takes_no_temperature_is_asked_with_it_all_the_same(
    model_at: ModelAt, name: str
):
    body = await sent(model_at, ModelParameters(temperature=0.5), model=name)
    assert body["temperature"] == 0.5


REQUEST = replace(asks(), parameters=ModelParameters(temperature=0.5))


async def refusal(model: ChatModel, request: ModelRequest) -> str:
    with pytest.raises(ModelError) as caught:
        await collected(model.stream(request))
    return str(caught.value)


async def test_a_refused_parameter_is_told_with_the_servers_words(model_at: ModelAt):
    said = "temperature is not supported with this model."
    with ChatServer(refuses(400, said)) as server:
        told = await refusal(model_at(server), REQUEST)
    assert said in told
    assert told.endswith(
        "It was sent with temperature 0.5; /set shows where each value comes from."
    )


@pytest.mark.parametrize("status", [401, 500])
async def test_other_failures_say_nothing_of_parameters(model_at: ModelAt, status: int):
    with ChatServer(refuses(status)) as server:
        assert "temperature" not in await refusal(model_at(server, retries=0), REQUEST)


async def test_a_refusal_without_parameters_says_nothing_of_them(model_at: ModelAt):
    with ChatServer(refuses(400)) as server:
        assert "It was sent with" not in await refusal(model_at(server), asks())
