"""The words in the prompt's border about what its text will attach."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from tui.domain.references import SIGN

if TYPE_CHECKING:
    from textual.timer import Timer

SECONDS = 0.3
"""The delay after the last change, until files are looked at."""

MOST_CHARACTERS = 100_000
"""Longer texts are not looked through at each pause."""


class AttachedLine:
    """Calls ``settled`` once a text with references has stood, and ``changed`` with other words.

    ``owner`` has the timer.
    """

    def __init__(
        self, owner: MessagePump, settled: Callable[[], object], changed: Callable[[], object]
    ) -> None:
        self._owner = owner
        self._settled = settled
        self._changed = changed
        self._timer: Timer | None = None
        self.words = ""

    def note(self, text: str) -> None:
        """The text is another one."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if SIGN in text and len(text) <= MOST_CHARACTERS:
            self._timer = self._owner.set_timer(SECONDS, self._settled)
        else:
            self.show("")

    def show(self, words: str) -> None:
        """Show other words; none for a text that attaches nothing."""
        if words != self.words:
            self.words = words
            self._changed()
