"""Questions that wait for the user: tool calls to approve, and what servers of tools ask."""

import asyncio
from typing import TYPE_CHECKING

import msgspec

from tui.app.controllers.controller import Controller
from tui.app.desktop import Attention, Clipboard
from tui.domain.tool_servers import Answer, Choice, Decision, Question, ServerQuestion
from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession

if TYPE_CHECKING:
    from tui.widgets.question_panel import QuestionPanel

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


_OPENED = "Opened in your browser. This closes once you have signed in."


class ServerQuestions(Controller):
    """Shows a question above the prompt, or over the dialog in which the user waits for it."""

    _attention: Attention
    _clipboard: Clipboard
    _turn: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    _panel: "QuestionPanel | None" = None
    _answer: asyncio.Future[Answer | None] | None = None

    async def ask(self, question: ServerQuestion) -> Answer | None:
        """Ask, and wait for the answer; cancelling withdraws the question."""
        from tui.widgets.question_panel import QuestionPanel

        async with self._turn:
            self._answer = asyncio.get_running_loop().create_future()
            self._panel = panel = QuestionPanel(question, self._chat.chosen_keys)
            if self._app.screen is self._chat:
                end = self._chat.show_question(panel)
            else:
                from tui.screens.confirm import QuestionDialog

                dialog = QuestionDialog(panel)
                self._app.push_screen(dialog)
                end = dialog.end
            self._attention.tell(self._workspace.current, "waits for your answer")
            try:
                return await self._answer
            finally:
                end()
                self._panel = None

    def answer(self, question: ServerQuestion, answer: Answer | None) -> None:
        """Pass on what the user answered."""
        is_open = self._panel is not None and self._panel.question is question
        if is_open and self._answer and not self._answer.done():
            self._answer.set_result(answer)

    async def open(self, question: ServerQuestion) -> None:
        """Open the address; where that cannot be, copy it."""
        from tui.commands.viewers import open_outside

        refusal = await open_outside(question.address)
        if refusal:
            self._clipboard.start(question.address)
        if question.kind == "address":
            self.answer(question, {})
        elif self._panel is not None and self._panel.question is question:
            said = f"Not opened ({refusal}). Copied: open it in a browser." if refusal else _OPENED
            self._panel.tell(said)
