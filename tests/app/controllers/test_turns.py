"""A running turn, without a terminal: times, price and phases of its answer."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import Chat, Clock, shared
from tests.engine.scripted_model import ScriptedModel
from tests.engine.workspaces import FULL, World
from tests.waiting import until
from tui.app.controllers.turns import Turns
from tui.domain.journal.message import TokenUsage
from tui.domain.views.costs import AnswerCost
from tui.engine.turns.turn import TurnSettings
from tui.providers.protocol import AttemptFailed, ThinkingReceived

USAGE = TokenUsage(1, 1)


class App:
    """Runs workers, and keeps what is posted."""

    def __init__(self):
        self.posted = []

    def run_worker(self, work, **_):
        task = asyncio.ensure_future(work() if callable(work) else work)
        return SimpleNamespace(cancel=task.cancel, wait=lambda: asyncio.wait([task]))

    def post_message(self, message):
        self.posted.append(message)


class Talk:
    """A session in which the model plays ``steps``; ``phases`` are those that were painted."""

    def __init__(self, root):
        self.world, self.app, self.chat, self.clock = World(root), App(), Chat(), Clock()
        self.program = self.world.started()
        self.session = self.program.workspace.current
        self.phases = []
        presenter = SimpleNamespace(
            show_status=lambda: self.phases.append(self.session.activity.phase)
        )
        parts = shared(
            app=self.app,
            chat=self.chat,
            parts=SimpleNamespace(stopwatch=self.clock),
            workspace=self.program.workspace,
            presenter=presenter,
        )
        self.turns = Turns(*parts, TurnSettings(), self._prices)

    async def _prices(self, answers):
        return {each.id: 0.25 for each in answers}

    def ask(self, *steps):
        self.session.model = ScriptedModel(steps)
        self.turns.send(self.session, "hello")

    async def end(self):
        await until(lambda: self.app.posted, "the end of the turn")
        return self.app.posted[0].status


@pytest.fixture
def talk(tmp_path):
    talk = Talk(tmp_path)
    yield talk
    talk.world.end()


@pytest.mark.parametrize("is_full", [False, True])
async def test_an_answer_that_was_saved_or_could_not_be_shows_its_time(talk, is_full):
    has_come = asyncio.Event()
    talk.clock.seconds = 10.0
    talk.ask("hi", has_come)
    await until(lambda: talk.chat.texts, "the answer")
    talk.clock.seconds = 12.5
    if is_full:
        talk.program.store.fail_next(FULL)
    assert not talk.chat.costs
    has_come.set()
    assert await talk.end() == "complete"
    assert talk.chat.costs == [AnswerCost(2.5)]


async def test_the_price_of_a_counted_answer_is_added_to_its_time(talk):
    talk.ask("hi", USAGE)
    await talk.end()
    await until(lambda: len(talk.chat.costs) == 2, "the price")
    assert talk.chat.costs == [AnswerCost(0.0), AnswerCost(0.0, 0.25)]


async def test_thinking_lasts_until_anything_else_arrives(talk):
    has_thought = asyncio.Event()
    talk.ask(ThinkingReceived("Hm"), ThinkingReceived("m."), has_thought, "Yes", ".")
    await until(lambda: len(talk.chat.thoughts) == 2, "thinking")
    talk.clock.seconds = 2.0
    has_thought.set()
    await talk.end()
    assert talk.chat.thoughts == ["Hm", "m.", 2.0]


async def test_a_new_phase_is_painted_at_once_and_more_of_it_is_not(talk):
    failed = AttemptFailed(1, "status 500", 3)
    talk.ask(failed, ThinkingReceived("hm"), "some text", *["more"] * 100)
    await talk.end()
    at = talk.phases.index
    assert at("saving") < at("waiting") < at("retrying") < at("thinking") < at("answering")
    assert talk.phases.count("thinking") == 1
    assert talk.phases.count("answering") < 10


async def test_a_stopped_turn_ends_once_and_shows_the_time_of_its_answer(talk):
    talk.ask("hi", asyncio.Event())
    await until(lambda: talk.chat.texts, "the answer")
    assert await talk.turns.stop(talk.session)
    assert not await talk.turns.stop(talk.session)
    assert [each.status for each in talk.app.posted] == ["interrupted"]
    assert talk.chat.costs == [AnswerCost(0.0)]
