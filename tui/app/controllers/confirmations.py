"""Confirmation dialogs: one at a time on screen, and the turn that an answer brings."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from textual.message import Message

from tui.app.input_queue import InputQueue
from tui.screens.chat import ChatScreen
from tui.terminal.flow_control import FlowControlledApp

if TYPE_CHECKING:
    from tui.commands.shell import Work
    from tui.screens.confirm import ConfirmScreen


class WorkGiven(Message):
    """Work that may ask the user is to be done in its turn, as a command."""

    def __init__(self, work: "Work") -> None:
        self.work = work
        super().__init__()


class Confirmation(msgspec.Struct, eq=False):
    """A question, its answer, and the turn in the input queue that follows the answer."""

    question: str
    detail: str | Callable[[], str]
    again: str
    """A name: asking the same again, while the question is open, means yes."""
    answer: asyncio.Future[bool] = msgspec.field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    turn: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    """Set when the command ends, or asks again."""

    async def follow(self, *, yes: bool) -> None:
        """Give the command its answer, and wait for the end of its turn."""
        self.answer.set_result(yes)
        await self.turn.wait()


class Confirmations(msgspec.Struct, eq=False):
    """Asks one question after another; the command goes on in its turn.

    A question that is open when the program ends has no effect.
    """

    _app: FlowControlledApp
    _chat: ChatScreen
    _queue: InputQueue
    _asked: list[Confirmation] = []
    _screen: "ConfirmScreen | None" = None

    @property
    def open(self) -> bool:
        """True while a question is open."""
        return bool(self._asked)

    def ask(self, asked: Confirmation) -> None:
        """Ask a question after all earlier ones; one that is asked again means yes."""
        if asked.again and asked.again in {each.again for each in self._asked}:
            self._queue.add(partial(asked.follow, yes=True))
            return
        self._asked.append(asked)
        if len(self._asked) == 1:
            self._show()
        elif asked.again and self._screen is not None:
            # The user wants something else by now.
            self._screen.dismiss(result=False)

    def _show(self) -> None:
        # Not before the first question: the start does without it.
        from tui.screens.confirm import ConfirmScreen

        asked = self._asked[0]
        pass_on, is_seen = self._chat.pass_to_prompt, self._app.flow_control.sight()
        self._screen = ConfirmScreen(asked.question, asked.detail, pass_on, is_seen)
        self._app.push_screen(
            self._screen,
            lambda yes: self._queue.add(partial(self._follow, yes=bool(yes)), leads=True),
        )

    async def _follow(self, *, yes: bool) -> None:
        try:
            await self._asked[0].follow(yes=yes)
        finally:
            del self._asked[0]
            if self._asked:
                self._show()
            else:
                # The line was drawn when the question closed, while its keys had no effect yet.
                self._chat.refresh_bindings()
