"""A model behind a server of the tests' own, and what is asked of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.providers.chat_server import ChatServer
from tests.providers.loopback import Reply, Request
from tui.config.loading import Flags, UserSettings, load_settings
from tui.domain.journal.message import Message
from tui.domain.providers import DialectName, Provider
from tui.providers.catalog import Connection, ModelChoice
from tui.providers.chat_model import ChatModel
from tui.providers.listed_models import list_models
from tui.providers.protocol import ModelEvent, ModelRequest, TextReceived
from tui.providers.secret import Secret

KEY = "sk-test-0123456789"

Ask = Callable[[Provider], Awaitable[None]]
ModelAt = Callable[..., ChatModel]
SettingsWith = Callable[..., UserSettings]

only_openai = pytest.mark.parametrize("dialect", ["openai"], indirect=True)
only_anthropic = pytest.mark.parametrize("dialect", ["anthropic"], indirect=True)


EVERY_DIALECT = ["openai", "anthropic", "responses", "google", "mistral"]


@pytest.fixture(params=["openai", "anthropic"])
def dialect(request: pytest.FixtureRequest) -> DialectName:
    """What is spoken: each test that asks a model runs once in each."""
    return request.param


def a_choice(
    provider: str = "local",
    model: str = "m",
    base_url: str = "",
    key: Secret | None = None,
    dialect: DialectName = "openai",
    **fields: Any,
) -> ModelChoice:
    """A model of a server; ``fields`` are those of the choice, or of its provider."""
    own = {name: fields.pop(name) for name in ModelChoice.__struct_fields__ if name in fields}
    of_server = {"base_url": base_url, "dialect": dialect, "retries": 0, **fields}
    return ModelChoice(Provider(provider, **of_server), key, model, **own)


@pytest.fixture
def model_at(dialect: DialectName) -> ModelAt:
    """``model_at(server, timeout=…)``: a model with a key that is in no other text.

    It pauses before a retry as long as it may.
    """

    def model_at(
        server: ChatServer | str, chance: Callable[[], float] = lambda: 1.0, **changes: Any
    ) -> ChatModel:
        address = server if isinstance(server, str) else server.address(dialect)
        usual = {"key": Secret(KEY, "LOCAL_API_KEY"), "timeout": 30, "retries": 2}
        fields = {"model": "test-model", "base_url": address, "dialect": dialect, **usual}
        return ChatModel(a_choice(**fields | changes), chance)

    return model_at


@pytest.fixture
def settings_with(tmp_path: Path) -> SettingsWith:
    """``settings_with(text, environ, model)``: by a file, the environment and a flag."""

    def settings_with(
        text: str = "", environ: dict[str, str] | None = None, model: str | None = None
    ) -> UserSettings:
        file = tmp_path / "config.toml"
        file.write_text(text)
        return load_settings(file, environ or {}, Flags(model=model))

    return settings_with


@pytest.fixture(params=["models", "answer"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """``await ask(provider)``: ask its server for its models, or for an answer."""
    key = Secret(KEY, "LOCAL_API_KEY")

    async def models(provider: Provider) -> None:
        await asyncio.to_thread(list_models, Connection(provider, key))

    async def answer(provider: Provider) -> None:
        await collected(ChatModel(ModelChoice(provider, key, "m")).stream(asks()))

    return models if request.param == "models" else answer


def says(role: Any, text: Any, **more: Any) -> Message:
    return Message(id="m", role=role, content=text, timestamp="2026-01-11T14:30:23.456Z", **more)


def asks(text: Any = "Hello?", *more: Message, system: str = "") -> ModelRequest:
    return ModelRequest(system, (says("user", text), *more))


async def events_from(
    model_at: ModelAt, *replies: Reply, request: ModelRequest | None = None, **changes: Any
) -> list[ModelEvent]:
    """All that a model gives whose server replies so."""
    with ChatServer(*replies) as server:
        return await collected(model_at(server, **changes).stream(request or asks()))


async def sent(model_at: ModelAt, request: ModelRequest, **changes: Any) -> Request:
    """A request as it arrives at its server."""
    with ChatServer() as server:
        await collected(model_at(server, **changes).stream(request))
        (only,) = server.requests
    return only


async def collected(events: AsyncIterator[ModelEvent]) -> list[ModelEvent]:
    return [event async for event in events]


def text_of(events: Iterable[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextReceived))
