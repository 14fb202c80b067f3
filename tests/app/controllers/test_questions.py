import asyncio
from functools import partial
from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import Session, shared
from tui.app.controllers.questions import Approvals
from tui.domain.journal.message import ToolCall
from tui.domain.tool_servers import Decision, Question, ToolApproval
from tui.engine.sessions.loaded_session import Activity


class World:
    """Two sessions, the first on screen, and all that is shown of them."""

    def __init__(self):
        self.here, self.elsewhere = Session("here"), Session("elsewhere")
        for session in (self.here, self.elsewhere):
            session.activity = Activity()
            session.say = partial(self._say, session.id)
        self.current = self.here
        self.said, self.painted, self.told = [], [], []
        display = SimpleNamespace(
            show_prompt=lambda: self.painted.append(self.current.activity.asking),
            show_status=lambda: None,
        )
        parts = shared(
            workspace=SimpleNamespace(switcher=self, current=self.current),
            presenter=display,
            session_list=SimpleNamespace(show=lambda: None),
        )
        self.approvals = Approvals(*parts, self)

    def tell(self, session, what):
        self.told.append((session.id, what))

    def _say(self, session_id, notice):
        self.said.append((session_id, notice.text))

    def find(self, session_id):
        sessions = {each.id: each for each in (self.here, self.elsewhere)}
        return sessions.get(session_id)

    async def ask(self, session_id, tool):
        """Begin to ask; return the question, and the task that waits for the choice."""
        approval = ToolApproval("files", tool, "1")
        question = Question(session_id, ToolCall("call", tool, {}), "It writes a file.", approval)
        task = asyncio.create_task(self.approvals.ask(question))
        await asyncio.sleep(0)
        return question, task


@pytest.fixture
def world():
    return World()


async def test_a_question_is_shown_until_it_is_answered(world):
    question, task = await world.ask("here", "write")
    assert world.painted == [question]
    world.approvals.answer(question, Decision("once"))
    assert (await task).choice == "once"
    assert world.painted == [question, None]
    assert world.said == []


async def test_a_question_in_another_session_is_announced(world):
    question, task = await world.ask("elsewhere", "write")
    assert world.told == [("elsewhere", "waits for approval")]
    assert world.said == [("elsewhere", "A tool waits for approval")]
    assert world.painted == []
    world.approvals.answer(question, Decision("deny"))
    assert (await task).choice == "deny"


@pytest.mark.parametrize("choice", ["until-quit", "always"])
async def test_a_tool_allowed_for_longer_answers_its_other_questions(world, choice):
    first, first_task = await world.ask("here", "write")
    _, same = await world.ask("elsewhere", "write")
    other_question, other = await world.ask("here", "delete")
    world.approvals.answer(first, Decision(choice))
    assert await first_task == await same == Decision(choice)
    assert not other.done()
    world.approvals.answer(other_question, Decision("deny"))
    assert (await other).choice == "deny"


async def test_a_cancelled_question_is_withdrawn(world):
    question, task = await world.ask("here", "write")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.painted == [question, None]
    world.approvals.answer(question, Decision("once"))


async def test_a_question_of_a_session_that_is_gone_is_denied(world):
    _, task = await world.ask("gone", "write")
    assert (await task).choice == "deny"
