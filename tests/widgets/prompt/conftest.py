from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from textual import on
from textual.app import App
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.widgets import Static

from tui.widgets.intents import CopyRequested
from tui.widgets.prompt import Prompt
from tui.widgets.prompt.editor import Editor

STYLES = Path(__file__).parents[3] / "styles" / "prompt.tcss"
SIZE = (60, 24)
PROGRAM_KEYS = [
    *("ctrl+f", "ctrl+g", "ctrl+r", "ctrl+b", "ctrl+s", "ctrl+n"),
    *("f1", "f2", "escape", "alt+up", "alt+1", "pageup", "pagedown"),
]


class Surroundings(Vertical):
    """What stands around a prompt, and should not hear of its pastes."""

    pasted = 0

    def on_paste(self):
        self.pasted += 1


class PromptApp(App[None]):
    CSS_PATH = STYLES
    CSS = "#top {height: 1fr;}"
    BINDINGS: ClassVar = [(key, f"press('{key}')") for key in (*PROGRAM_KEYS, "ctrl+c")]

    def __init__(self):
        super().__init__()
        self.posted = []
        self.pressed = []
        self.history = []
        """The earlier prompts, oldest first, which are given out one at a time."""
        self.given = 0

    def compose(self):
        with Surroundings():
            yield Static("conversation", id="top")
            yield Prompt()

    def action_press(self, key):
        self.pressed.append(key)

    @on(Prompt.Submitted)
    @on(Prompt.Edited)
    @on(CopyRequested)
    @on(Prompt.TakenBack)
    @on(Prompt.HeldWanted)
    @on(Prompt.FilesWanted)
    def keep(self, event):
        self.posted.append(event)

    @on(Prompt.PromptsWanted)
    def give_earlier(self, event):
        self.given = 1 if event.anew else self.given + 1
        newest_first = self.history[::-1]
        more = self.given < len(self.history)
        self.prompt.show_history(newest_first[: self.given], more=more)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def editor(self) -> Editor:
        return self.query_one(Editor)

    @property
    def submitted(self):
        return [event.text for event in self.posted if isinstance(event, Prompt.Submitted)]

    @property
    def edited(self):
        return [event.text for event in self.posted if isinstance(event, Prompt.Edited)]

    @property
    def copied(self):
        return [event.text for event in self.posted if isinstance(event, CopyRequested)]

    @property
    def taken_back(self):
        return [event.prompts for event in self.posted if isinstance(event, Prompt.TakenBack)]

    @property
    def screen_lines(self):
        strips = self.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    @property
    def offered(self):
        """The rows of the open list, as they are shown."""
        area = next(iter(self.query("CompletionList")), None)
        if area is None or not area.display or not area.region:
            return []
        rows = self.screen_lines[area.region.y : area.region.bottom]
        return [row[area.region.x + 1 :] for row in rows]


Running = Callable[..., AbstractAsyncContextManager[tuple[PromptApp, Pilot[None]]]]


@pytest.fixture
def running() -> Running:
    """A program with nothing but a prompt at the bottom, which has the focus."""

    @asynccontextmanager
    async def run(size=SIZE) -> AsyncIterator[tuple[PromptApp, Pilot[None]]]:
        app = PromptApp()
        async with app.run_test(size=size) as pilot:
            app.prompt.focus()
            await pilot.pause()
            yield app, pilot

    return run


@pytest.fixture
async def prompting(running: Running) -> AsyncIterator[tuple[PromptApp, Pilot[None]]]:
    async with running() as both:
        yield both


@pytest.fixture
def app(prompting: tuple[PromptApp, Pilot[None]]) -> PromptApp:
    return prompting[0]


@pytest.fixture
def pilot(prompting: tuple[PromptApp, Pilot[None]]) -> Pilot[None]:
    return prompting[1]
