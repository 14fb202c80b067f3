"""What answers take: told on demand, and how full the model's window is in the status bar."""

import asyncio
from itertools import chain

import pytest

from tests.builders import answer, user
from tests.providers.chat_server import ChatServer, answers
from tests.providers.ollama_facts import OllamaFacts
from tests.providers.speech import USAGE
from tests.ui.connecting import BareMachine
from tests.ui.screen import report, send, status, wait_for_answer, words
from tests.waiting import until
from tui.domain.journal.message import TokenUsage

pytestmark = pytest.mark.full


@pytest.mark.fast
async def test_how_full_the_window_is_stands_in_the_status_bar_until_it_is_not_known(world):
    w = world(["one", TokenUsage(11_000, 1_000)], ["two"])
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await until(lambda: "context 12 %" in status(app), "what was counted")
        await wait_for_answer(w)
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
            await send(pilot, "hello")
            await wait_for_answer(machine)
            share = round(USAGE["total_tokens"] * 100 / 72)
            await until(lambda: f"context {share} %" in status(app), "the share")
            session = machine.workspace.current.id
        machine.restart()
        async with machine.running(session) as (app, pilot):
            await until(lambda: f"context {share} %" in status(app), "the share, unasked")


async def test_how_full_it_is_is_known_again_after_a_look_elsewhere(world):
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


async def test_tokens_and_context_are_known_after_a_restart(world):
    w = world(["one", TokenUsage(11_000, 1_000, cached_tokens=8_000)], ["two"])
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await wait_for_answer(w)
        session_id = w.workspace.current.id
    async with w.running() as (app, pilot):
        await send(pilot, f"/load {session_id}")
        await until(lambda: "context 12 %" in status(app), "the context")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("i", "f6")
        taken = "11,000 tokens sent (8,000 cached), 1,000 received"
        await until(lambda: taken in words(app), "the tokens")
        await send(pilot, "again")
        await wait_for_answer(w)
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


async def test_what_an_answer_took_is_told_with_its_time_and_model(world):
    gate = asyncio.Event()
    w = world([gate, "one", TokenUsage(1_200, 30)])
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await until(lambda: w.model.requests, "the request")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("k", "j", "i")
        await until(lambda: "scripted:model" in words(app), "the details")
        w.seconds += 75
        gate.set()
        await wait_for_answer(w)
        await until(lambda: "took 1 min 15 s" in words(app), "the time it took")
        assert "1,200 tokens sent, 30 received" in words(app)


async def test_what_a_stopped_answer_took_is_told_too(world):
    gate = asyncio.Event()
    w = world(["some", gate])
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await until(lambda: "some" in words(app), "the answer")
        w.seconds += 30
        await pilot.press("escape")
        await wait_for_answer(w)
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("i")
        await until(lambda: "took 30 s" in words(app), "what it took")
