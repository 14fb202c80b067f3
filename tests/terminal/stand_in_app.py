"""The part of the stand-in that needs Textual, and takes as long to import."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Input, Static, TextArea

from tui.terminal.driver import TakeoverDriver

KEYS = os.environ.get("STAND_IN_KEYS")


def _note(key: str) -> None:
    if KEYS:
        with Path(KEYS).open("a", encoding="utf-8") as file:
            file.write(f"{key}\n")


class Prompt(TextArea):
    """Writes down each key that comes."""

    async def _on_key(self, event: events.Key) -> None:
        _note(event.key)
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        _note(f"paste {event.text}")
        await super()._on_paste(event)


class StandIn(App[None]):
    # Not by focus() in on_mount: keys that waited are given out before, to what is focused then.
    AUTO_FOCUS = "Prompt"
    CSS = "Prompt { height: 5; dock: bottom }"

    def get_driver_class(self) -> Any:
        return TakeoverDriver

    def on_load(self) -> None:
        # Before the driver starts: the first frame's handlers know nothing of what it switches on.
        loop = asyncio.get_running_loop()
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._end, number)

    def _end(self, number: int) -> None:
        self.exit(return_code=128 + number)

    def compose(self) -> ComposeResult:
        yield Static("The stand-in is ready")
        yield Input()
        yield Prompt()
