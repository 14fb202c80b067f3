"""Files that are offered to complete references in the prompt."""

from collections.abc import Callable

from tui.domain.completion import Completion
from tui.domain.file_names import FileListing, file_completions, folders_of
from tui.domain.references import Reference, unfinished_reference


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
