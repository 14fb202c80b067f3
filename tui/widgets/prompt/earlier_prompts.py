"""The history of prompts, which Up and Down walk through as in a shell, and the search in it."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import ClassVar

import msgspec
from textual.binding import BindingType
from textual.widgets import Input

from tui.widgets.keys import HISTORY
from tui.widgets.line_input import LineInput


class EarlierPrompts(msgspec.Struct, eq=False):
    """The prompts that were sent, newest first, and before them the draft.

    A place counts them back from the draft, which has the place 0. Changes to earlier prompts are
    kept until ``leave``.
    """

    prompts: tuple[str, ...] = ()
    more: bool = False
    """True if there may be older ones than those that are known."""
    place: int = 0
    draft: str = ""
    """The text that was typed before the walk began."""
    _changed: dict[int, str] = msgspec.field(default_factory=dict[int, str])
    then: Callable[[], object] | None = None
    """Called once as soon as others are shown."""

    def show(self, prompts: Sequence[str], *, more: bool = False) -> None:
        """Replace the list; during a walk older ones are added at its end."""
        self.prompts = tuple(prompt for prompt, _ in groupby(prompts))
        self.more = more
        then, self.then = self.then, None
        if then is not None:
            then()

    def leave(self) -> None:
        """Return to the draft, which becomes empty; the prompts are those of another session."""
        self.then = None
        self.show(())
        self.place = 0
        self.draft = ""
        self._changed.clear()

    def is_at(self, text: str) -> bool:
        """Check whether a text is the earlier prompt at the current place, unchanged."""
        return self.place > 0 and self.prompts[self.place - 1 : self.place] == (text,)

    def find(self, words: str, place: int, step: int = 1) -> int | None:
        """Find the first prompt from a place on that has the words, in any case.

        Back in time, or with a ``step`` of -1 towards now. A repetition of the one at the current
        place is passed over, unless the search begins anew there.
        """
        wanted = words.casefold()
        shown = self.prompts[self.place - 1] if 0 < self.place == place - step else None
        for found in (
            range(max(1, place), len(self.prompts) + 1) if step > 0 else range(place, 0, -1)
        ):
            text = self.prompts[found - 1]
            if text != shown and wanted in text.casefold():
                return found
        return None

    def go_to(self, place: int, text: str) -> str | None:
        """Go to a place, and keep ``text`` for this one; ``None`` if there is no such place."""
        if not 0 <= place <= len(self.prompts):
            return None
        if self.place == 0:
            self.draft = text
        elif self.is_at(text):
            self._changed.pop(self.place, None)
        else:
            self._changed[self.place] = text
        self.place = place
        return self._changed.get(place, self.prompts[place - 1]) if place else self.draft


MOST_CHARACTERS = 200


class HistoryLine(LineInput):
    """Stands in the prompt above the text, which shows what was found.

    ``recall`` shows the prompt of a place, ``want`` asks for earlier prompts, ``show_mode`` is
    called with how the search goes, and ``focus_text`` when it ends.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*HISTORY]
    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")

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
            further = partial(self._search, max(place, len(self._history.prompts) + 1))
            self._want(further, keys_wait=False)
            self._show_mode(": searching …")
        elif step > 0:
            self._show_mode(": no older match" if place > 1 else ": no match")
