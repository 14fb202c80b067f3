"""The line that takes words to search the earlier prompts for."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from tui.widgets.keys import HISTORY
from tui.widgets.line_input import LineInput
from tui.widgets.prompt.earlier_prompts import EarlierPrompts

MOST_CHARACTERS = 200


class HistoryLine(LineInput):
    """Stands in the prompt above the text, which shows what was found.

    ``recall`` shows the prompt of a place, ``want`` asks for earlier prompts, ``show_mode`` is
    called with how the search goes, and ``focus_text`` when it ends.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*HISTORY]

    def __init__(
        self,
        history: EarlierPrompts,
        recall: Callable[[int], object],
        want: Callable[..., object],
        show_mode: Callable[[str], object],
        focus_text: Callable[[], object],
    ) -> None:
        super().__init__(
            placeholder="search earlier prompts", select_on_focus=False, max_length=MOST_CHARACTERS
        )
        self._history, self._recall, self._want = history, recall, want
        self._show_mode, self._focus_text = show_mode, focus_text
        self._begun_at = 0
        self.display = False

    def begin(self) -> None:
        """Begin a search; within one, go to an older prompt."""
        if self.display:
            self.action_step(1)
            return
        self._begun_at = self._history.place
        self.display = True
        # At once, also from elsewhere on the screen: what is typed next is meant for the search.
        self.screen.set_focus(self)
        self._show_mode("")
        if not self._begun_at:
            self._want(None, anew=True)

    def action_step(self, count: int) -> None:
        """Go to an older (1) or newer (-1) prompt that has the words."""
        self._search(self._history.place + count, count)

    def action_take(self) -> None:
        """Close, and keep the prompt that is shown."""
        if not self.display:
            return
        self._history.then = None
        if self.has_focus:
            # At once, as what is typed next is meant for the text.
            self._focus_text()
        self.display = False
        self.value = ""
        self._show_mode("")

    def action_leave(self) -> None:
        """Close, and bring the old text back."""
        if self.display:
            self.action_take()
            self._recall(self._begun_at)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.display and event.value:
            self._search(1)
        elif self.display:
            self._recall(self._begun_at)

    def _search(self, place: int, step: int = 1) -> None:
        """Show the first prompt from a place on that has the words."""
        found = self._history.find(self.value, place, step)
        if found is not None:
            self._recall(found)
            self._show_mode("")
        elif step > 0 and self._history.more:
            further = partial(self._search, max(place, self._history.count + 1))
            self._want(further, keys_wait=False)
            self._show_mode(": searching …")
        elif step > 0:
            self._show_mode(": no older match" if place > 1 else ": no match")
