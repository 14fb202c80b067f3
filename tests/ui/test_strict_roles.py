"""Prompts that nothing answered, with a server that accepts only alternating roles."""

import pytest

from tests.providers.chat_server import (
    ChatServer,
    Gate,
    answers,
    is_silent,
    refuses,
    with_strict_roles,
)
from tests.providers.conftest import a_choice
from tests.ui.screen import conversation, send, wait_for_answer
from tests.ui.world import messages
from tests.waiting import until
from tui.providers.source import LazyModel


@pytest.fixture
def at(world):
    """The program, whose model is behind a server."""

    def at(server):
        w = world()
        w.models.model = LazyModel(a_choice("local", "test-model", server.base_url))
        return w

    return at


async def stopped(world, app, pilot, server, text):
    """Send a prompt and stop it before its answer begins."""
    count = len(server.requests)
    await send(pilot, text)
    await until(lambda: len(server.requests) > count, "the request")
    await pilot.press("escape")
    await wait_for_answer(world)


def sent(server):
    return [(each["role"], each["content"]) for each in server.requests[-1].body["messages"]]


async def test_the_next_prompt_is_answered_after_one_was_stopped(at):
    replies = (is_silent(Gate()), with_strict_roles(answers("Fine.")))
    with ChatServer(*replies) as server:
        w = at(server)
        async with w.running() as (app, pilot):
            await stopped(w, app, pilot, server, "One")
            await send(pilot, "Two")
            await until(lambda: "Fine." in conversation(app), "the answer")
            await wait_for_answer(w)
            assert sent(server) == [("user", "One\n\nTwo")]
            kept = [text for _, text, _ in messages(w, w.workspace.current.id)]
            assert kept == ["One", "", "Two", "Fine."]


async def test_a_failed_prompt_is_answered_by_retry_and_when_it_is_sent_again(at):
    replies = (refuses(400), refuses(400), with_strict_roles(answers("Fine.", " Indeed.")))
    with ChatServer(*replies) as server:
        w = at(server)
        async with w.running() as (app, pilot):
            for text in ("One", "Two"):
                await send(pilot, text)
                await wait_for_answer(w)
            await send(pilot, "/retry")
            await until(lambda: "Indeed." in conversation(app), "the answer")
            await wait_for_answer(w)
            assert sent(server) == [("user", "One\n\nTwo")]
            await pilot.press("up", "enter")
            await until(lambda: len(server.requests) == 4, "the prompt, sent again")
            await wait_for_answer(w)
            assert [role for role, _ in sent(server)] == ["user", "assistant", "user"]
            assert messages(w, w.workspace.current.id)[-1] == ("assistant", "Fine. Indeed.", None)
