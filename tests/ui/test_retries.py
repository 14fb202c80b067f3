"""Attempts that failed, and the pause before the next one."""

from tests.providers.chat_server import ChatServer, answers, refuses
from tests.providers.conftest import a_choice
from tests.ui.screen import activity, conversation, send, wait_for_answer
from tests.waiting import until
from tui.providers.source import LazyModel


async def test_esc_stops_the_pause_before_a_retry(world):
    with ChatServer(refuses(503, Retry_After="60"), answers("Late.")) as server:
        w = world()
        choice = a_choice("local", "test-model", server.base_url, retries=2)
        w.models.model = LazyModel(choice)
        async with w.running() as (app, pilot):
            await send(pilot, "Hello?")
            await until(lambda: "2nd attempt in 60 s after status 503" in activity(app), "it")
            await pilot.press("escape")
            await wait_for_answer(w)
            assert "Late." not in conversation(app)
            assert len(server.requests) == 1
