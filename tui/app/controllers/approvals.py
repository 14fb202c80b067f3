"""Tool calls that wait for approval: each is asked about when its session is on screen."""

import asyncio

import msgspec

from tui.app.controllers.controller import Controller
from tui.app.services.attention import Attention
from tui.domain.tool_servers import Choice, Decision, Question
from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession

_FOR_LONGER = frozenset[Choice]({"until-quit", "always"})


class _Waiting(msgspec.Struct, frozen=True, eq=False):
    """A question, and what its asker waits for."""

    question: Question
    answer: asyncio.Future[Decision]


class Approvals(Controller):
    """Shows each question in its own session, and gives the answer to whoever asked."""

    _attention: Attention
    _waiting: list[_Waiting] = msgspec.field(default_factory=list[_Waiting])

    async def ask(self, question: Question) -> Decision:
        """Ask, and wait for the answer; cancelling withdraws the question."""
        session = self._workspace.switcher.find(question.session_id)
        if session is None:
            return Decision("deny")
        waiting = _Waiting(question, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        session.activity.asking = question
        self._attention.tell(session, "waits for approval")
        if session is not self._workspace.current:
            # The notice is shown with the title of its session.
            session.say(Notice("A tool waits for approval", "warning"))
            self._presenter.show_status()
        self._show(session)
        try:
            return await waiting.answer
        finally:
            self._waiting.remove(waiting)
            session.activity.asking = None
            self._show(session)

    def answer(self, question: Question, decision: Decision) -> None:
        """Pass on what the user chose; a tool that is allowed for good is allowed at once."""
        for waiting in self._waiting:
            same_tool = waiting.question.tool == question.tool
            meant = waiting.question is question or (decision.choice in _FOR_LONGER and same_tool)
            if meant and not waiting.answer.done():
                waiting.answer.set_result(decision)

    def _show(self, session: LoadedSession) -> None:
        if session is self._workspace.current:
            self._presenter.show_prompt()
            self._presenter.show_status()
        self._session_list.show()
