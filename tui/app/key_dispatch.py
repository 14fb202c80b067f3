"""Dispatch of one key: to a question, to the text that it was typed behind, or to its binding."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.widget import Widget
from textual.widgets import Input, TextArea

from tui.screens.typed_text import is_text


@runtime_checkable
class KeyTaker(Protocol):
    """A widget or screen that may take keys before any binding."""

    def takes_key(self, event: events.Key | events.Paste) -> bool:
        """Take a key or leave it to what it is bound to."""
        ...


class KeyDispatch:
    """Dispatches keys and pastes, one at a time."""

    def __init__(self, app: App[Any], dispatch: Callable[[events.Event], Awaitable[None]]) -> None:
        """``dispatch`` is the application's own handler of events."""
        self._app = app
        self._dispatch = dispatch
        self._typed_last: tuple[TextArea, float] | None = None

    def may_overtake(self, event: events.Key | events.Paste) -> bool:
        """Tell if a key may be bound on the screen, ahead of text on its way to an input."""
        return not is_text(event) and isinstance(self._focused, Input)

    async def leads_elsewhere(self, event: events.Key | events.Paste) -> bool:
        """Dispatch a key; true if later keys may be meant for another widget."""
        # Textual gives the focus back with a key, and for a paste not at all.
        self._app.app_focus = True
        if self._is_taken(event):
            return not is_text(event)
        await self._dispatch(event)
        return isinstance(event, events.Key) and self._may_move_focus(event)

    @property
    def _focused(self) -> Widget | None:
        return self._app.focused if self._app.screen_stack else None

    def _is_taken(self, event: events.Key | events.Paste) -> bool:
        """Give a key to a question, to the text that it came behind, or to a screen."""
        focused = self._focused
        if isinstance(focused, KeyTaker) and focused.takes_key(event):
            return True
        if isinstance(focused, Input | TextArea):
            if isinstance(focused, TextArea) and is_text(event):
                self._typed_last = focused, event.time
            return False
        return self._follows_text(event) or self._is_taken_by_screen(event)

    def _follows_text(self, event: events.Key | events.Paste) -> bool:
        """Give text to the area that had the text before it in the same read."""
        if self._typed_last is None or not is_text(event):
            return False
        area, at = self._typed_last
        return at == event.time and area.screen is self._app.screen and area.post_message(event)

    def _is_taken_by_screen(self, event: events.Key | events.Paste) -> bool:
        """Offer a key to the topmost screen, and a paste to those below it as well."""
        stack = self._app.screen_stack
        screens = stack[::-1] if isinstance(event, events.Paste) else stack[-1:]
        return any(isinstance(each, KeyTaker) and each.takes_key(event) for each in screens)

    def _may_move_focus(self, key: events.Key) -> bool:
        """Leave out keys that only edit text; a priority binding's key goes to no widget."""
        if not key.is_forwarded or key.key in ("enter", "escape"):
            return True
        return not key.is_printable and not isinstance(self._app.focused, TextArea)
