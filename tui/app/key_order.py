"""The keyboard: each key is seen to after all that those before it have led to."""

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets import Input, TextArea

SECONDS_TO_ARRIVE = 0.5
"""How long what was typed before is waited for, should it get lost on its way."""


@runtime_checkable
class KeyTaker(Protocol):
    """A widget that may take keys before any binding, while it has the focus."""

    def takes_key(self, event: events.Key | events.Paste) -> bool:
        """Take a key or leave it to what it is bound to."""
        ...


class KeyboardApp(App[None]):
    """An application in which what is typed goes where it was meant to, however fast it comes."""

    _held: list[events.Event] | None = None
    _holds = 0
    is_lent = False
    _was_lent_until = 0.0
    _typed_last: tuple[TextArea, float] | None = None

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        if self._held is not None:
            self._held.append(event)
            return
        if self._is_taken(event):
            return
        await super().on_event(event)
        if isinstance(event, events.Key) and self._may_lead_elsewhere(event):
            # What is typed behind it belongs there.
            self.between_keys(_nothing)

    def _is_taken(self, event: events.Key | events.Paste) -> bool:
        """Give a key to a question, or to the text that it came behind in the same read."""
        focused = self.focused if self.screen_stack else None
        if isinstance(focused, KeyTaker) and focused.takes_key(event):
            return True
        if not isinstance(event, events.Key) or not types_text(event):
            return False
        if isinstance(focused, TextArea):
            self._typed_last = focused, event.time
        elif self._typed_last is not None and not isinstance(focused, Input):
            area, at = self._typed_last
            return at == event.time and area.screen is self.screen and area.post_message(event)
        return False

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Let the cursor stand still where nothing is to move."""
        if self.animation_level == "none" and hasattr(event.widget, "cursor_blink"):
            # A line of text has one, and an area of text, and they have no kind in common.
            setattr(event.widget, "cursor_blink", False)  # noqa: B010

    def _may_lead_elsewhere(self, key: events.Key) -> bool:
        """Whether the keys may be another widget's after this one, which has been seen to.

        Not after what only changes a text; and what is bound with priority goes to no widget.
        """
        if not key.is_forwarded or key.key in ("enter", "escape"):
            return True
        return not key.is_printable and not isinstance(self.focused, TextArea)

    def between_keys(self, then: Callable[[], Awaitable[object]]) -> None:
        """Do something after what earlier keys do, and before later ones are seen to.

        Where it leads to another session or screen, what is typed behind it belongs there.
        """
        turn = _once(partial(self._take_turn, then, self.hold_keys()))
        # Should it get lost on its way, with the widget that had the focus.
        self.set_timer(SECONDS_TO_ARRIVE, turn)
        after_what_was_typed(self, turn)

    def hold_keys(self, seconds: float | None = None) -> Callable[[], None]:
        """Hold back what is typed until what is given is called, or for so long at the most."""
        self._held = self._held or []
        self._holds += 1
        let_go = _once(self._let_go)
        if seconds is not None:
            self.set_timer(seconds, let_go)
        return let_go

    def put_behind_held_keys(self, then: Callable[[], Any]) -> bool:
        """Call ``then`` once the keys that are held back were seen to; false if none are."""
        if self._held is None or self.is_lent:
            return False
        self._held.append(events.Callback(callback=then))
        return True

    def _let_go(self) -> None:
        self._holds -= 1
        # In its turn: keys that come meanwhile stay behind these.
        self.call_later(self.let_keys_go)

    async def _take_turn(
        self, then: Callable[[], Awaitable[object]], let_go: Callable[[], None]
    ) -> None:
        try:
            await then()
        finally:
            let_go()

    @property
    def is_anothers(self) -> bool:
        """Whether what comes from the keyboard is, or was just now, another program's."""
        return self.is_lent or time.monotonic() < self._was_lent_until

    def lend_terminal(self) -> None:
        """Hold back what is typed until ``take_terminal_back``: it is another program's."""
        self.is_lent = True
        self._held = self._held or []

    async def take_terminal_back(self) -> None:
        """See to what was held back."""
        self.is_lent = False
        # A signal meant for the other one may come after the news of its end.
        self._was_lent_until = time.monotonic() + SECONDS_TO_ARRIVE
        await self.let_keys_go()

    async def let_keys_go(self) -> None:
        """See to what was held back, unless something else holds it."""
        if self._holds or self.is_lent:
            return
        held, self._held = self._held or [], None
        for event in held:
            # One of them may hold back those behind it.
            await self.on_event(event)


def types_text(key: events.Key) -> bool:
    """Whether a key is a character; with Alt it comes with one, too."""
    return key.is_printable and not key.key.startswith("alt+")


def after_what_was_typed(app: App[Any], then: Callable[[], Any]) -> None:
    """Call ``then`` in the application's turn, after all that earlier keys have led to.

    A key that means the same everywhere is seen to at once, while those typed before it are on
    their way: to the widget that has the focus, and what they mean from there up to the
    application. This goes the same way, and once more, as what a key is bound to may be done only
    at the end of it and begin there again.
    """
    _pass_up(app, partial(_pass_up, app, then))


def _pass_up(app: App[Any], then: Callable[[], Any]) -> None:
    typed_into = (app.focused or app.screen) if app.screen_stack else app
    _pass_on([*typed_into.ancestors_with_self], then)


def _pass_on(pumps: Sequence[MessagePump], then: Callable[[], Any]) -> None:
    first, *others = pumps
    if others:
        first.call_later(_pass_on, others, then)
    else:
        first.call_later(then)


def _once(do: Callable[[], Any]) -> Callable[[], Any]:
    """Do it when called first, and nothing when called again."""
    left = [do]
    return lambda: left.pop()() if left else None


async def _nothing() -> None:
    """What was typed has led to all that it leads to."""
