"""Files in the prompt: offered to complete references, and the line of those attached."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import msgspec
from rich.cells import cell_len
from textual.message_pump import MessagePump

from tui.domain.completion import Completion
from tui.domain.file_names import FileListing, file_completions, folders_of
from tui.domain.references import Reference, unfinished_reference
from tui.domain.views.attached import AttachedView

if TYPE_CHECKING:
    from textual.timer import Timer

SECONDS = 0.3
"""The delay after the last change, until files are looked at."""

MOST_CHARACTERS = 100_000
"""Longer texts are not looked through at each pause."""


class AttachedLine(msgspec.Struct, eq=False):
    """Calls ``settled`` once a text with references has stood, and ``changed`` with other words.

    ``owner`` has the timer.
    """

    _owner: MessagePump
    _settled: Callable[[], object]
    _changed: Callable[[], object]
    _timer: "Timer | None" = None
    _view: AttachedView | None = None

    def settle(self, text: str, own: Collection[str]) -> None:
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


class FileOffers:
    """Offers files for the reference that is being typed; ``ask`` asks for a folder's listing.

    Each reference asks once for the listings it needs; an older one serves until the new one is
    there.
    """

    def __init__(self, ask: Callable[[str], object]) -> None:
        self._ask = ask
        self._listings: dict[str, FileListing] = {}
        self._asked: set[str] = set()
        self._start: int | None = None

    def forget(self) -> None:
        """Forget all listings: the session may be another one."""
        self._listings.clear()
        self._asked.clear()
        self._start = None

    def accept(self, listing: FileListing) -> bool:
        """Accept a listing; false if nobody asked for it, or it is known."""
        folder = listing.folder
        if folder not in self._asked or self._listings.get(folder) == listing:
            return False
        self._listings[folder] = listing
        return True

    def completions(self, before_caret: str) -> tuple[Completion, ...]:
        """The files for the reference that ends at the caret; none without one."""
        typed = reference_at(before_caret)
        if typed is None:
            self._start = None
            return ()
        if typed.start != self._start:
            self._start = typed.start
            self._asked.clear()
        return self._found(typed)

    def _found(self, typed: Reference) -> tuple[Completion, ...]:
        for folder in folders_of(typed.path):
            if folder not in self._asked:
                self._asked.add(folder)
                self._ask(folder)
            listing = self._listings.get(folder)
            found = file_completions(typed, listing) if listing else ()
            if found or listing is None:
                return found
        return ()


def reference_at(before_caret: str) -> Reference | None:
    """The reference that ends at the caret, and may be continued."""
    return unfinished_reference(before_caret) if "@" in before_caret else None
