"""The view model of what a prompt will attach."""

from collections.abc import Callable, Sequence

import msgspec

from tui.domain.journal.blocks import byte_words

_MISSING_SHOWN = 3


class AttachedView(msgspec.Struct, frozen=True):
    """The files of a prompt, each with its size, and the references that lead to nothing."""

    files: tuple[str, ...] = ()
    size: int = 0
    """The bytes of all files that leave the machine."""
    missing: tuple[str, ...] = ()

    def words(self, fits: Callable[[str], bool]) -> str:
        """Describe it in as much of a line as fits; files that are left out are counted."""
        texts = (self._words(count) for count in range(len(self.files), 0, -1))
        return next(filter(fits, texts), self._words(0))

    def _words(self, count: int) -> str:
        missing = f"not found: {listed(self.missing, _MISSING_SHOWN)}" if self.missing else ""
        size = f"{byte_words(self.size)} " if len(self.files) > 1 or not count else ""
        attached = f"{size}attached: {listed(self.files, count)}" if self.files else ""
        return " · ".join(filter(None, (missing, attached)))


def listed(names: Sequence[str], most: int) -> str:
    """List at most so many names, and count the others: ``a, b and 7 more``."""
    left_out = len(names) - most
    if left_out <= 0:
        return ", ".join(names)
    if not most:
        return f"{left_out} {'file' if left_out == 1 else 'files'}"
    return f"{', '.join(names[:most])} and {left_out} more"
