"""The end: which signals lead to it, and what is saved and said then."""

import asyncio
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import RenderableType
from textual import events
from textual.worker import WorkerFailed

from tui.app.input_queue import InputQueue
from tui.terminal.flow_control import FlowControlledApp
from tui.terminal.textual_private import AppBase
from tui.widgets.hints import hint
from tui.widgets.key_names import key_name

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""What ends the program from outside; Textual itself ends in order on none of them."""


def end_on_signals(end: Callable[[int], None]) -> None:
    """Call ``end`` with the exit code when the program is asked to end."""
    loop = asyncio.get_running_loop()
    for number in ENDING_SIGNALS:
        loop.add_signal_handler(number, end, 128 + number)


class ShutdownApp(FlowControlledApp, AppBase):
    """An application that leaves nothing behind: what was typed counts, and a defect is told.

    One in a worker ends nothing else: it is told on screen by ``tell_defect``. ``run_async`` raises
    the first error that nobody expected, ``defect``, once all is saved.
    """

    defect: Exception | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.input_queue = InputQueue(self, super().on_event)

    async def on_event(self, event: events.Event) -> None:
        await self.input_queue.on_event(event)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Let the cursor stand still where nothing is to move."""
        if self.animation_level == "none" and hasattr(event.widget, "cursor_blink"):
            # A line of text has one, and an area of text, and they have no kind in common.
            setattr(event.widget, "cursor_blink", False)  # noqa: B010

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
        if self.input_queue.is_anothers and return_code == 128 + signal.SIGINT:
            return  # Ctrl+C, typed for the program that has the terminal
        leave = partial(super().exit, result, return_code, message)
        if self.is_running:
            self.input_queue.leave(leave)
        else:
            leave()

    def take_error(self, error: Exception) -> bool:
        cause = error.error if isinstance(error, WorkerFailed) else error
        if self.defect is None and isinstance(cause, Exception):
            self.defect = cause
        if cause is error or not self.is_running:
            return False
        # Later: should it not be told either, that ends the program.
        self.call_later(self.tell_defect, f"Unexpected error: {type(cause).__name__}: {cause}")
        return True
