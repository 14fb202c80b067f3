"""What answers have cost, below them."""

from tests.builders import answer, user
from tests.ui.screen import conversation
from tests.waiting import until
from tui.app.controllers import session_view
from tui.domain.journal.message import TokenUsage


async def test_answers_of_an_earlier_run_have_their_price_after_a_while(world, monkeypatch):
    w = world()
    there = await w.session("hello")
    used = TokenUsage(1_000_000, 0)
    w.add(there, answer("a1", "hi", model="openai:gpt-4o-mini", usage=used), user("u2", "bye"))
    monkeypatch.setattr(session_view, "_SECONDS_BEFORE_PRICES", 0.01)
    async with w.running(there) as (app, _):
        words = "gpt-4o-mini · 1,000,000 tokens in, 0 out · $0.1500"
        await until(lambda: words in conversation(app), "the price")
