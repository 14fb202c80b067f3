"""The end: which signals lead to it, and what is saved and said then."""

import asyncio
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import RenderableType
from textual.worker import WorkerFailed

from tui.app.key_order import SECONDS_TO_ARRIVE, KeyboardApp, after_what_was_typed
from tui.app.task_queue import TaskQueue
from tui.terminal.flow_control import FlowControlledApp
from tui.terminal.textual_private import AppBase
from tui.widgets.hints import hint
from tui.widgets.key_names import key_name

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""What ends the program from outside; Textual itself ends in order on none of them."""
SECONDS_TO_BE_SEEN_TO = 5.0
"""How long keys that are held back, say while a slow disk saves, hold up the end at the most."""


def end_on_signals(end: Callable[[int], None]) -> None:
    """Call ``end`` with the exit code when the program is asked to end."""
    loop = asyncio.get_running_loop()
    for number in ENDING_SIGNALS:
        loop.add_signal_handler(number, end, 128 + number)


class ShutdownApp(KeyboardApp, FlowControlledApp, AppBase):
    """An application that leaves nothing behind: what was typed counts, and a defect is told.

    One in a worker ends nothing else: it is told on screen by ``tell_defect``. ``run_async`` raises
    the first error that nobody expected, ``defect``, once all is saved.
    """

    defect: Exception | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.orders = TaskQueue(self)

    async def run_async(self, **options: Any) -> None:
        await super().run_async(**options)
        if self.defect is not None:
            raise self.defect

    def tell_defect(self, words: str) -> None:
        """Say on screen that something did not come to its end."""

    def action_help_quit(self) -> None:
        """Say what Ctrl+C does here: many try to leave by it."""
        bound = self.active_bindings.items()
        leave = next((key for key, each in bound if each.binding.id == "quit"), "")
        words = f" {key_name(leave)} leaves the program." if leave else ""
        hint(self.screen, f"Nothing is selected to be copied.{words}")

    def exit(
        self,
        result: None = None,
        return_code: int = 0,
        message: RenderableType | None = None,
    ) -> None:
        """End once the keys that came before have done what they do."""
        if self.is_anothers and return_code == 128 + signal.SIGINT:
            return  # Ctrl+C, typed for the program that has the terminal
        leave = partial(super().exit, result, return_code, message)
        if not self.is_running:
            leave()
            return
        self.set_timer(SECONDS_TO_BE_SEEN_TO, leave)
        # In its turn: keys that came before may not have been held back yet.
        self.call_later(self._leave_behind_keys, leave)

    def _leave_behind_keys(self, leave: Callable[[], None]) -> None:
        if self.put_behind_held_keys(partial(self._leave_behind_keys, leave)):
            return
        last = partial(self._leave_behind_orders, leave)
        self.set_timer(SECONDS_TO_ARRIVE, last)
        after_what_was_typed(self, last)

    def _leave_behind_orders(self, leave: Callable[[], None]) -> None:
        self.orders.give(partial(_do, leave))

    def take_error(self, error: Exception) -> bool:
        cause = error.error if isinstance(error, WorkerFailed) else error
        if self.defect is None and isinstance(cause, Exception):
            self.defect = cause
        if cause is error or not self.is_running:
            return False
        # Later: should it not be told either, that ends the program.
        self.call_later(self.tell_defect, f"Unexpected error: {type(cause).__name__}: {cause}")
        return True


async def _do(leave: Callable[[], None]) -> None:
    leave()
