"""Questions of tool servers on the screen, one at a time."""

import asyncio
from functools import partial

import msgspec

from tui.app.controllers.controller import Controller
from tui.app.services.attention import Attention
from tui.app.services.clipboard import Clipboard
from tui.commands.viewers import open_outside
from tui.domain.server_questions import Answer, ServerQuestion
from tui.widgets.question_panel import QuestionPanel

_OPENED = "Opened in your browser. This closes once you have signed in."


class ServerQuestions(Controller):
    """Shows a question above the prompt, or over the dialog in which the user waits for it."""

    _attention: Attention
    _clipboard: Clipboard
    _turn: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    _panel: QuestionPanel | None = None
    _answer: asyncio.Future[Answer | None] | None = None

    async def ask(self, question: ServerQuestion) -> Answer | None:
        """Ask, and wait for the answer; cancelling withdraws the question."""
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

    def open(self, question: ServerQuestion) -> None:
        """Open the address; where that cannot be, copy it."""
        self._app.run_worker(partial(self._open, question), name="open the address")

    async def _open(self, question: ServerQuestion) -> None:
        refusal = await open_outside(question.address)
        if refusal:
            self._clipboard.start(question.address, self._presenter.say)
        if question.kind == "address":
            self.answer(question, {})
        elif self._panel is not None and self._panel.question is question:
            said = f"Not opened ({refusal}). Copied: open it in a browser." if refusal else _OPENED
            self._panel.tell(said)
