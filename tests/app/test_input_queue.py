"""The order of keys, tasks and the end, in a program of two lines of text."""

import asyncio
import math
from contextlib import asynccontextmanager
from typing import ClassVar

import pytest
from textual import events, on
from textual.app import App
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Input, TextArea

from tests.waiting import SECONDS, until
from tui.app.input_queue import InputQueue, pass_on


class Area(TextArea):
    """A text that Enter takes to the application by a message, as the prompt does."""

    async def _on_key(self, event):
        if event.key == "enter":
            event.prevent_default()
            self.post_message(self.Changed(self))
            return
        await super()._on_key(event)


class Program(App):
    """Notes what its tasks do and where letters arrive."""

    def __init__(self):
        super().__init__()
        self.input_queue = InputQueue(self, super().on_event)
        self.done = []
        self.entered = None
        self.gates = {}

    async def on_event(self, event):
        await self.input_queue.on_event(event)

    def compose(self):
        yield Area(id="first")
        yield Area(id="second")

    def on_mount(self):
        self.query_one("#first").focus()

    @on(TextArea.Changed)
    def enter(self, event):
        if self.entered is not None and not event.text_area.text:
            self.entered()

    def task(self, name, *, waits=False):
        """Make a task that notes its name, once its gate is open if it ``waits``."""
        gate = self.gates[name] = asyncio.Event()

        async def run():
            if waits:
                await gate.wait()
            self.done.append(name)

        return run

    def press_all(self, *keys):
        for key in keys:
            self.post_message(events.Key(key, key if len(key) == 1 else None))

    def texts(self):
        return [area.text for area in self.query(Area)]


@asynccontextmanager
async def running():
    app = Program()
    async with app.run_test() as pilot:
        await pilot.pause()
        yield app


@pytest.fixture(autouse=True)
def _a_slow_machine_has_time(monkeypatch):
    monkeypatch.setattr("tui.app.input_queue.SECONDS_AT_MOST", SECONDS)


async def test_tasks_run_one_after_another_and_typing_goes_on():
    async with running() as app:
        app.input_queue.add(app.task("slow", waits=True))
        app.input_queue.add(app.task("next"))
        app.press_all("a", "b")
        await until(lambda: app.texts() == ["ab", ""])
        assert app.done == []
        app.gates["slow"].set()
        await until(lambda: app.done == ["slow", "next"])
        await until(lambda: app.input_queue.pending == 0)


async def test_keys_behind_a_task_that_leads_elsewhere_go_where_it_led():
    async with running() as app:

        async def lead():
            await gate.wait()
            app.query_one("#second").focus()

        gate = asyncio.Event()
        app.input_queue.add(lead, leads=True)
        app.press_all("a", "b")
        await until(lambda: len(app.input_queue.waiting) == 2)
        gate.set()
        await until(lambda: app.texts() == ["", "ab"])


async def test_keys_behind_enter_go_where_its_message_led():
    async with running() as app:
        app.entered = lambda: app.query_one("#second").focus()
        app.press_all("enter", "a")
        await until(lambda: app.texts() == ["", "a"])


async def test_keys_wait_no_longer_than_the_time_limit(monkeypatch):
    monkeypatch.setattr("tui.app.input_queue.SECONDS_AT_MOST", 0.01)
    async with running() as app:
        app.input_queue.add(app.task("hangs", waits=True), leads=True)
        app.press_all("a")
        await until(lambda: app.texts() == ["a", ""])
        assert app.done == []
        app.gates["hangs"].set()


async def test_a_widget_that_was_removed_keeps_nothing_from_being_handled():
    async with running() as app:
        first = app.query_one("#first")
        focused = [*first.ancestors_with_self]
        app.input_queue.run_between_keys(app.task("on its way"))
        # Unbatched, Textual may draw it without its styles, which are gone before it is.
        with app.batch_update():
            await first.remove()
        pass_on(focused, lambda: app.done.append("closed"))
        await until(lambda: sorted(app.done) == ["closed", "on its way"])


async def test_a_task_that_fails_lets_the_next_one_run():
    async with running() as app:

        async def fail():
            raise ZeroDivisionError

        app._handle_exception = lambda _: None
        app.input_queue.add(fail, leads=True)
        app.input_queue.add(app.task("next"))
        app.press_all("a")
        await until(lambda: app.done == ["next"] and app.texts() == ["a", ""])


async def test_the_end_waits_for_the_keys_and_tasks_before_it():
    async with running() as app:
        release = app.input_queue.hold()
        app.entered = lambda: app.input_queue.add(app.task("entered", waits=True))
        app.press_all("enter")
        app.input_queue.leave(lambda: app.done.append("left"))
        await until(lambda: len(app.input_queue.waiting) == 2)
        release()
        await until(lambda: app.input_queue.pending == 2)
        app.gates["entered"].set()
        await until(lambda: app.done == ["entered", "left"])


async def test_a_key_that_comes_back_from_its_widget_after_the_last_screen_does_nothing():
    class Key(events.Key):
        is_forwarded = True

    app = Program()
    assert not app.screen_stack
    await app.input_queue.on_event(Key("f12", None))


async def test_tasks_that_have_not_begun_at_the_end_are_listed():
    async with running() as app:
        app.input_queue.add(app.task("one", waits=True), name="/name one")
        app.input_queue.add(app.task("two"), name="/name two")
        await until(lambda: app.input_queue.not_begun == ["/name two"])
        app.gates["one"].set()
        await until(lambda: app.done == ["one", "two"])
        assert app.input_queue.not_begun == []


async def test_keys_wait_while_another_program_has_the_terminal():
    async with running() as app:
        app.input_queue.lend()
        app.press_all("a")
        await until(lambda: len(app.input_queue.waiting) == 1)
        assert app.input_queue.lent_until == math.inf
        app.call_later(app.input_queue.take_back)
        await until(lambda: app.texts() == ["a", ""])


class Form(Program):
    """An input whose text the application notes on Enter, as a dialog with a filter does."""

    BINDINGS: ClassVar = [Binding("enter", "note", priority=True)]

    def __init__(self):
        super().__init__()
        self.changed = ""

    def compose(self):
        with Vertical():
            yield Input(id="first")

    @on(Input.Changed)
    def follow(self, event):
        self.changed = event.value

    def action_note(self):
        self.done.append(self.changed)


async def test_a_priority_binding_waits_for_the_text_that_was_typed_or_pasted_before_it():
    app = Form()
    async with app.run_test() as pilot:
        await pilot.pause()
        app.press_all("a", "b", "enter", "c", "enter", "d")
        await until(lambda: app.query_one(Input).value == "abcd", "the letters")
        assert app.done == ["ab", "abc"]
        app.post_message(events.Paste("a key"))
        app.press_all("enter", "d")
        await until(lambda: app.query_one(Input).value == "abcda keyd", "the letter")
        assert app.done[2:] == ["abcda key"]
