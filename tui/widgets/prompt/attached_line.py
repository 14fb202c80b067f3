"""The words in the prompt's border about what its text will attach."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.message_pump import MessagePump

from tui.domain.views.attached import AttachedView

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
        self._view: AttachedView | None = None

    def note(self, text: str, own: Collection[str]) -> None:
        """The text is another one, with these references of the user's own."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if own and len(text) <= MOST_CHARACTERS:
            self._timer = self._owner.set_timer(SECONDS, self._settled)
        else:
            self.show(None)

    def show(self, view: AttachedView | None) -> None:
        """Show what the text attaches; ``None`` for nothing."""
        if view != self._view:
            self._view = view
            self._changed()

    def words(self, cells: int) -> str:
        """The words for a line of so many cells."""
        return self._view.words(lambda text: cell_len(text) <= cells) if self._view else ""
