"""Pictures of the screens that connect and choose a model."""

import pytest

from tests.providers.chat_server import ChatServer
from tests.ui.connecting import KEY, BareMachine, choose, opened, paste, shown, step
from tests.ui.screen import rows
from tests.ui.test_model_picker import picker
from tests.waiting import until
from tui.providers import prices

MODELS = ["gpt-6-luna", "gpt-6", "gpt-6-nova"]


@pytest.fixture
def bare(tmp_path):
    """A machine on which nothing is connected; OpenAI is the given server."""

    def bare(server, **environ):
        return BareMachine(tmp_path / "data", OPENAI_BASE_URL=server.base_url, **environ)

    return bare


async def test_the_providers(bare, same_picture):
    with ChatServer(models=MODELS, key=KEY) as server:
        async with bare(server, ANTHROPIC_API_KEY=KEY).running(size=(80, 24)) as (app, pilot):
            await opened(app, pilot)
            await until(lambda: rows(app))
            await same_picture(pilot, "connect")


async def test_a_key_that_is_refused(bare, same_picture, monkeypatch):
    monkeypatch.setattr("tui.providers.listed_models.Connection.host", "api.openai.com")
    with ChatServer(models=MODELS, key=KEY) as server:
        async with bare(server).running(size=(80, 24)) as (app, pilot):
            await opened(app, pilot)
            await choose(app, pilot, "OpenAI")
            await step(app, "key")
            await paste(app, pilot, f"{KEY}x")
            await pilot.press("enter")
            await until(lambda: "refused the key" in shown(app), "the refusal")
            await until(lambda: rows(app))
            await same_picture(pilot, "connect-refused")


async def test_the_models(bare, same_picture, monkeypatch):
    # The test's server has the vendor's prices.
    listed = prices._listed
    monkeypatch.setattr(prices, "_listed", lambda name, _, model: listed(name, "", model))
    with ChatServer(models=MODELS, key=KEY) as server:
        async with bare(server, OPENAI_API_KEY=KEY).running(size=(80, 24)) as (app, pilot):
            await picker(app, pilot)
            await until(lambda: app.screen.choices.lines[0].note, "the facts")
            await until(lambda: rows(app))
            await same_picture(pilot, "models")
