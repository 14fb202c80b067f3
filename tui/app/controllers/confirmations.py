"""Confirmation dialogs: one at a time on screen, and the effects of the answer."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tui.app.input_queue import InputQueue
from tui.commands.effects import Ask, Effect, carried_out
from tui.screens.chat import ChatScreen
from tui.terminal.flow_control import FlowControlledApp

if TYPE_CHECKING:
    from tui.screens.confirm import ConfirmScreen


class Confirmations:
    """Asks, and carries out the effects of the answer; a second question waits for the first.

    A question that is open when the program ends has no effect.
    """

    def __init__(
        self,
        app: FlowControlledApp,
        chat: ChatScreen,
        queue: InputQueue,
        carry_out: Callable[[Sequence[Effect]], Awaitable[None]],
    ) -> None:
        self._app = app
        self._chat = chat
        self._queue = queue
        self._carry_out = carry_out
        self._asked: deque[Ask] = deque()
        self._screen: ConfirmScreen | None = None

    @property
    def open(self) -> bool:
        """True while a question is open."""
        return bool(self._asked)

    def ask(self, question: Ask) -> None:
        """Ask a question after all earlier ones; one that is asked again means yes."""
        if question.again and question.again in {each.again for each in self._asked}:
            self._queue.add(partial(self._confirm, question))
            return
        self._asked.append(question)
        if len(self._asked) == 1:
            self._show()
        elif question.again and self._screen is not None:
            # The user wants something else by now.
            self._screen.dismiss(result=False)

    def renew(self) -> None:
        """Show the consequences of the open question as they are by now."""
        detail = self._asked[0].detail_by_now if self._asked else None
        if detail is not None and self._screen is not None and self._screen.is_current:
            self._screen.show_detail(detail())

    def _show(self) -> None:
        # Not before the first question: the start does without it.
        from tui.screens.confirm import ConfirmScreen

        asked = self._asked[0]
        pass_on, is_seen = self._chat.pass_to_prompt, self._app.flow_control.sight()
        screen = ConfirmScreen(asked.question, asked.detail, pass_on, is_seen)
        self._screen = screen
        self._app.push_screen(screen, self._take_answer)

    def _take_answer(self, yes: bool | None) -> None:  # noqa: FBT001 - the answer itself
        self._queue.add(partial(self._follow, self._asked[0], yes=bool(yes)), leads=True)

    async def _confirm(self, question: Ask) -> None:
        await self._carry_out(await carried_out(question.confirmed))

    async def _follow(self, asked: Ask, *, yes: bool) -> None:
        try:
            effects = await carried_out(asked.confirmed) if yes else asked.declined
        finally:
            self._asked.popleft()
            if self._asked:
                self._show()
        await self._carry_out(effects)
