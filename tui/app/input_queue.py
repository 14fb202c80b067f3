"""The input queue: one order for keys, commands, prompts and the request to leave."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets import Input, TextArea

from tui.screens.typed_text import is_free_text, is_text

SECONDS_AT_MOST = 10.0
"""The one time limit: neither keys nor the end of the program wait longer for one item.

Disks that take seconds to sync are in use, so this is more than theirs; one that hangs must not
keep all keys.
"""

_SECONDS_OF_LATE_SIGNALS = 0.5

Step = Callable[[], Awaitable[object]]


@runtime_checkable
class KeyTaker(Protocol):
    """A widget or screen that may take keys before any binding."""

    def takes_key(self, event: events.Key | events.Paste) -> bool:
        """Take a key or leave it to what it is bound to."""
        ...


class InputQueue:
    """Orders all input: first the tasks that dispatched keys have led to, then the waiting keys.

    - A task is a command, a prompt or the request to leave: tasks run one after another.
    - A key is dispatched at once, unless something before it may lead to another session or screen:
      a *hold*. Later keys are meant for where that leads.
    - A key that may move the focus holds the next ones until all that it led to has been handled.
    - A key in an input that types nothing waits for what is typed before it: it may be a priority
      binding, which the screen handles at once.
    """

    def __init__(self, app: App[Any], dispatch: Callable[[events.Event], Awaitable[None]]) -> None:
        """``dispatch`` is the application's own handler of events."""
        self._app = app
        self._dispatch = dispatch
        self._typed_last: tuple[TextArea, float] | None = None
        self.waiting: deque[Step] = deque()
        """The keys that are not dispatched yet."""
        self._holds: dict[object, Callable[[], None] | None] = {}
        self.not_begun: list[str] = []
        """The names of the tasks that still wait for others."""
        self.pending = 0
        """The number of tasks that have not ended."""
        self._turn = asyncio.Lock()
        self.lent_until = 0.0
        """The time until which the input is, or may be, meant for another program."""

    async def on_event(self, event: events.Event) -> None:
        """Queue keys and pastes; pass all other events on."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self.waiting.append(partial(self._press, event))
            if isinstance(event, events.Key) and event.key == "escape":
                for hold, cancel in [*self._holds.items()]:
                    if cancel is not None:
                        del self._holds[hold]
                        cancel()
            await self._advance()
        # A key comes back from its widget after the last screen has gone, and Textual raises.
        elif self._app.screen_stack or not isinstance(event, events.Key):
            await self._dispatch(event)

    # --- keys

    def hold(self, cancel: Callable[[], None] | None = None) -> Callable[[], None]:
        """Hold back later keys until the returned function is called, or the time is up.

        A hold with ``cancel`` also ends with Esc; ``cancel`` is called if it ends either way.
        """
        hold = object()
        self._holds[hold] = cancel
        # In its turn: all that was posted to the application before comes first.
        release = partial(self._app.call_later, self._release, hold)
        give_up = partial(self._app.call_later, self._release, hold, gives_up=True)
        limit = asyncio.get_running_loop().call_later(SECONDS_AT_MOST, give_up)

        def end() -> None:
            limit.cancel()
            release()

        return end

    def run_between_keys(self, step: Step) -> None:
        """Run a step after all that earlier keys lead to, and before later keys."""
        self.call_when_handled(partial(_finally, step, self.hold()))

    def call_when_handled(self, then: Callable[[], Any], ways: int = 2) -> None:
        """Call ``then`` once all that the dispatched keys lead to has been handled.

        A key travels from the focused widget up to the application, which may post to the widget
        again: so this travels the same way, twice.
        """
        app = self._app
        typed_into = (app.focused or app.screen) if app.screen_stack else app
        step = partial(self.call_when_handled, then, ways - 1) if ways > 1 else then
        pass_on([*typed_into.ancestors_with_self], step)

    async def _press(self, event: events.Key | events.Paste) -> None:
        focused = self._app.focused if self._app.screen_stack else None
        if isinstance(focused, Input) and not is_text(event):
            # It may be bound on the screen, ahead of text on its way to the input.
            self.run_between_keys(partial(self._give, event))
        else:
            await self._give(event)

    async def _give(self, event: events.Key | events.Paste) -> None:
        """Dispatch a key; later ones wait for its effects if they may be for another widget."""
        # Textual gives the focus back with a key, and for a paste not at all.
        self._app.app_focus = True
        if self._is_taken(event):
            leads = not is_text(event)
        else:
            await self._dispatch(event)
            if isinstance(event, events.Paste):
                return
            # A priority binding's key goes to no widget. Up may bring another text into the prompt.
            leads = not event.is_forwarded or event.key in ("enter", "escape", "up")
            # Keys that only edit text move no focus.
            leads = leads or not (event.is_printable or isinstance(self._app.focused, TextArea))
        if leads:
            self.call_when_handled(self.hold())

    def _is_taken(self, event: events.Key | events.Paste) -> bool:
        """Give a key to a question, to the text that it came behind, or to a screen."""
        focused = self._app.focused if self._app.screen_stack else None
        if isinstance(focused, KeyTaker) and focused.takes_key(event):
            return True
        if isinstance(focused, Input | TextArea):
            if isinstance(focused, TextArea) and is_text(event):
                self._typed_last = focused, event.time
            return False
        if self._typed_last is not None and is_text(event):
            # The area that had the text before it in the same read has this, too.
            area, at = self._typed_last
            same = at == event.time and area.screen is self._app.screen
            if same and area.post_message(event):
                return True
        stack = self._app.screen_stack
        takers = [each for each in reversed(stack) if isinstance(each, KeyTaker)]
        # A paste is offered to the screens below the topmost one as well, and so is a letter that a
        # list has no use for.
        is_paste, is_list = isinstance(event, events.Paste), stack and stack[-1] not in takers
        if not is_paste and not (is_list and is_free_text(event, stack[-1])):
            takers = [each for each in takers if each is stack[-1]]
        return any(each.takes_key(event) for each in takers)

    async def _release(self, hold: object, *, gives_up: bool = False) -> None:
        cancel = self._holds.pop(hold, None)
        if gives_up and cancel is not None:
            cancel()
        await self._advance()

    async def _advance(self) -> None:
        while self.waiting and not self._holds and self.lent_until < math.inf:
            await self.waiting.popleft()()

    # --- tasks

    def add(self, task: Step, *, leads: bool = False, name: str = "") -> None:
        """Run a task after those before it; later keys wait for one that ``leads`` elsewhere.

        ``name`` is what the user typed, in case the program ends before it begins.
        """
        self.pending += 1
        self.not_begun.append(name)
        if leads:
            task = partial(_finally, task, self.hold())
        self._app.run_worker(partial(self._run, task, name), name=name)

    async def settle(self) -> None:
        """Wait until all tasks that were added before have ended."""
        async with self._turn:
            pass

    async def _run(self, task: Step, name: str) -> None:
        try:
            async with self._turn:
                self.not_begun.remove(name)
                await task()
        finally:
            self.pending -= 1

    # --- the end, and other programs

    def leave(self, then: Callable[[], None]) -> None:
        """Call ``then`` behind all input that came before, or once the time is up."""

        async def leave_now() -> None:
            then()

        async def leave_behind_tasks() -> None:
            self.call_when_handled(partial(self.add, leave_now))

        async def leave_behind_keys() -> None:
            if self.lent_until == math.inf:
                await leave_behind_tasks()
            else:
                self.waiting.append(leave_behind_tasks)
                await self._advance()

        self._app.set_timer(SECONDS_AT_MOST, then)
        # In its turn: keys that came before may be on their way to this queue.
        self._app.call_later(leave_behind_keys)

    def lend(self) -> None:
        """Hold back all keys until ``take_back``: another program has the terminal."""
        self.lent_until = math.inf

    async def take_back(self) -> None:
        """Dispatch the keys that came meanwhile."""
        # A signal meant for the other one may come after the news of its end.
        self.lent_until = time.monotonic() + _SECONDS_OF_LATE_SIGNALS
        await self._advance()


def pass_on(pumps: Sequence[MessagePump], then: Callable[[], Any]) -> None:
    """Queue ``then`` in each message pump after the other; one that is closing is left out."""
    for place, pump in enumerate(pumps, 1):
        step = partial(pass_on, pumps[place:], then) if place < len(pumps) else then
        if pump.call_later(step):
            return


async def _finally(step: Step, end: Callable[[], None]) -> None:
    try:
        await step()
    finally:
        end()
