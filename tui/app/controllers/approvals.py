"""Tool calls that wait for approval: each is asked about when its session is on screen."""

import asyncio
from collections.abc import Callable

import msgspec

from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.domain.tool_servers import Choice, Decision, Question
from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import Switcher

_FOR_LONGER = frozenset[Choice]({"until-quit", "always"})


class _Waiting(msgspec.Struct, frozen=True, eq=False):
    """A question, and what its asker waits for."""

    question: Question
    answer: asyncio.Future[Decision]


class Approvals(msgspec.Struct, eq=False):
    """Shows each question in its own session, and gives the answer to whoever asked."""

    _switcher: Switcher
    _presenter: SessionPresenter
    _session_list: SessionListController
    _tell: Callable[[LoadedSession, str], None]
    """Draws the attention of a user who does not look."""
    _waiting: list[_Waiting] = []

    async def ask(self, question: Question) -> Decision:
        """Ask, and wait for the answer; cancelling withdraws the question."""
        session = self._switcher.find(question.session_id)
        if session is None:
            return Decision("deny")
        waiting = _Waiting(question, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        session.activity.asking = question
        self._tell(session, "waits for approval")
        if session is not self._switcher.current:
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
        if session is self._switcher.current:
            self._presenter.show_prompt()
            self._presenter.show_status()
        self._session_list.show()
