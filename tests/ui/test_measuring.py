"""What is measured: window, tokens, times, prices; and the settings of requests."""

from itertools import chain

import pytest

from tests.builders import answer, user
from tests.providers.chat_server import ChatServer, answers
from tests.providers.ollama_facts import OllamaFacts
from tests.providers.speech import USAGE
from tests.ui.connecting import BareMachine
from tests.ui.screen import (
    conversation,
    have_answered,
    notices,
    report,
    send,
    status,
    wait_for_answer,
    words,
)
from tests.waiting import until
from tui.app.controllers import session_view
from tui.domain.journal.message import TokenUsage
from tui.domain.models import ModelParameters
from tui.providers.protocol import RequestAdapted

pytestmark = pytest.mark.full


@pytest.mark.fast
async def test_how_full_the_window_is_stands_in_the_status_bar_until_it_is_not_known(world):
    w = world(["one", TokenUsage(11_000, 1_000)])
    other = await w.session("other", "answer", name="Other")
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await until(lambda: "context 12 %" in status(app), "what was counted")
        await wait_for_answer(w)
        first = w.workspace.current.id
        await send(pilot, f"/load {other}")
        await until(lambda: app.chat.shown == other)
        await until(lambda: "context" not in status(app))
        await send(pilot, f"/load {first}")
        await until(lambda: app.chat.shown == first)
        await until(lambda: "context 12 %" in status(app), "what was counted")
        await send(pilot, "/reset")
        await until(lambda: "context" not in status(app), "the reset")


@pytest.mark.fast
async def test_the_window_is_the_one_with_which_an_ollama_has_loaded_the_model(tmp_path):
    facts = OllamaFacts(72)

    def load(exchange):
        facts.load()
        answers("Hello.")(exchange)

    with ChatServer(load, facts=facts.facts, ollama_models=["qwen3"]) as server:
        config = tmp_path / "config" / "config.toml"
        config.parent.mkdir()
        config.write_text('model = "ollama:qwen3"\n')
        machine = BareMachine(tmp_path / "data", OLLAMA_HOST=server.root)
        async with machine.running() as (app, pilot):
            await have_answered(machine, pilot, "hello")
            share = round(USAGE["total_tokens"] * 100 / 72)
            await until(lambda: f"context {share} %" in status(app), "the share")
            session = machine.workspace.current.id
        machine.restart()
        async with machine.running(session) as (app, pilot):
            await until(lambda: f"context {share} %" in status(app), "the share, unasked")


async def test_tokens_and_context_are_known_after_a_restart(running):
    answers = ["one", TokenUsage(11_000, 1_000, cached_tokens=8_000)], ["two"]
    async with running(*answers) as (w, app, pilot):
        await have_answered(w, pilot, "hello")
        session_id = w.workspace.current.id
    async with w.running() as (app, pilot):
        await send(pilot, f"/load {session_id}")
        await until(lambda: "context 12 %" in status(app), "the context")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("i", "f6")
        taken = "11,000 tokens sent (8,000 cached), 1,000 received"
        await until(lambda: taken in words(app), "the tokens")
        await have_answered(w, pilot, "again")
        await send(pilot, "/usage")
        counted = "scripted:model: 2 requests (1 without token counts)"
        await until(lambda: counted in report(app), "the tokens of the earlier run")
        assert taken in report(app)


@pytest.mark.fast
async def test_a_session_of_which_only_the_end_is_loaded_is_counted_whole(world):
    w = world()
    usage = TokenUsage(1_000, 10)
    session_id = await w.session("hello")
    turns = ((answer(f"a{n}", usage=usage), user(f"u{n}")) for n in range(500))
    w.add(session_id, *chain.from_iterable(turns))
    async with w.running() as (app, pilot):
        await send(pilot, f"/load {session_id}")
        await until(lambda: app.chat.shown == session_id)
        assert len(w.workspace.current.session.loaded_messages) < 500
        await send(pilot, "/usage")
        await until(lambda: "500,000 tokens sent, 5,000 received" in report(app), "the tokens")


async def ask(world, pilot, text):
    """Send a prompt; gives the request that the model was sent."""
    count = len(world.model.requests)
    await send(pilot, text)
    await until(lambda: len(world.model.requests) > count, "the request")
    await wait_for_answer(world)
    return world.model.requests[-1]


@pytest.mark.fast
async def test_what_is_set_is_sent_from_the_next_prompt_on_and_by_a_later_run(running):
    async with running(*[["Yes."]] * 5) as (w, _, pilot):
        await send(pilot, "/set temperature 0.5", says="Set temperature to 0.5")
        await send(pilot, "/system Be brief.", says="Set the system prompt")
        request = await ask(w, pilot, "One")
        assert request.parameters == ModelParameters(temperature=0.5)
        assert request.system_prompt == "Be brief."
        await send(pilot, "/reset", says="Started over")
        assert (await ask(w, pilot, "Two")).system_prompt == "Be brief."
        session_id = w.workspace.current.id
    async with w.running(session_id) as (app, pilot):
        assert (await ask(w, pilot, "Three")).parameters == ModelParameters(temperature=0.5)
        await send(pilot, "/system default")
        assert (await ask(w, pilot, "Four")).system_prompt == ""
        # A new session has none of them.
        await send(pilot, "/new")
        await until(lambda: "Four" not in conversation(app))
        assert (await ask(w, pilot, "Five")).parameters == ModelParameters()


async def test_a_setting_that_the_model_does_not_take_is_told_once_in_a_session(running):
    said = "scripted:model does not take temperature 0.5: left out."
    async with running(*[[RequestAdapted(said), "Yes."]] * 3) as (w, app, pilot):
        await ask(w, pilot, "One")
        await ask(w, pilot, "Two")
        assert notices(app).count(said) == 1
        await send(pilot, "/new")
        await until(lambda: "One" not in conversation(app))
        await ask(w, pilot, "Three")
        assert notices(app).count(said) == 2


@pytest.mark.fast
async def test_answers_of_an_earlier_run_have_their_price_after_a_while(world, monkeypatch):
    w = world()
    there = await w.session("hello")
    used = TokenUsage(1_000_000, 0)
    w.add(there, answer("a1", "hi", model="openai:gpt-4o-mini", usage=used), user("u2", "bye"))
    monkeypatch.setattr(session_view, "_SECONDS_BEFORE_PRICES", 0.01)
    async with w.running(there) as (app, _):
        words = "gpt-4o-mini · 1,000,000 tokens in, 0 out · $0.1500"
        await until(lambda: words in conversation(app), "the price")
