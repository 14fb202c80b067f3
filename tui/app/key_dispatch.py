"""Dispatch of one key: to a question, to the text that it was typed behind, or to its binding."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.widget import Widget
from textual.widgets import Input, TextArea


@runtime_checkable
class KeyTaker(Protocol):
    """A widget that may take keys before any binding, while it has the focus."""

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
        is_text = isinstance(event, events.Paste) or types_text(event)
        return not is_text and isinstance(self._focused, Input)

    async def leads_elsewhere(self, event: events.Key | events.Paste) -> bool:
        """Dispatch a key; true if later keys may be meant for another widget."""
        if self._is_taken(event):
            return False
        await self._dispatch(event)
        return isinstance(event, events.Key) and self._may_move_focus(event)

    @property
    def _focused(self) -> Widget | None:
        return self._app.focused if self._app.screen_stack else None

    def _is_taken(self, event: events.Key | events.Paste) -> bool:
        """Give a key to a question, or to the text that it came behind in the same read."""
        focused = self._focused
        if isinstance(focused, KeyTaker) and focused.takes_key(event):
            return True
        if not isinstance(event, events.Key) or not types_text(event):
            return False
        if isinstance(focused, TextArea):
            self._typed_last = focused, event.time
        elif self._typed_last is not None and not isinstance(focused, Input):
            area, at = self._typed_last
            return at == event.time and area.screen is self._app.screen and area.post_message(event)
        return False

    def _may_move_focus(self, key: events.Key) -> bool:
        """Leave out keys that only edit text; a priority binding's key goes to no widget."""
        if not key.is_forwarded or key.key in ("enter", "escape"):
            return True
        return not key.is_printable and not isinstance(self._app.focused, TextArea)


def types_text(key: events.Key) -> bool:
    """Tell characters from other keys; with Alt a key comes with a character, too."""
    return key.is_printable and not key.key.startswith("alt+")
