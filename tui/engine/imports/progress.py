"""The progress of an import, and the way to stop it."""

import time
from collections.abc import Callable

from tui.domain.views.import_rows import ImportProgress
from tui.importers.stopping import Stopped

_REPORT_SECONDS = 0.05


Report = Callable[[ImportProgress], bool]
"""Takes the progress; false stops the import."""


class Pace:
    """Reports the progress, not too often, and ends the import when it is no longer wanted."""

    def __init__(self, report: Report, total: int) -> None:
        self._report = report
        self._total = total
        self._next = 0.0
        self._before = 0
        self._now = 0
        self._size = 0
        self._title = ""
        self._is_stopped = False
        self.sessions = 0
        """Imported so far."""
        self.files = 0
        """Found so far."""

    def begin(self, title: str, size: int) -> None:
        """Begin a source of so many bytes. Raises ``Stopped``."""
        self._title, self._size, self._now = title, size, 0
        self.step()

    def step(self, written: int = 0) -> None:
        """Take note of bytes that were written, if any. Raises ``Stopped``."""
        # The place in a source is unknown, but no more is written than it has.
        self._now = min(self._now + written, self._size)
        now = time.monotonic()
        if now >= self._next or self._is_stopped:
            self._next = now + _REPORT_SECONDS
            self.report()

    def end(self) -> None:
        """End the source."""
        self._before += self._size
        self._now = self._size = 0

    def report(self) -> None:
        """Report the progress at once. Raises ``Stopped``."""
        done = self._before + self._now
        state = ImportProgress(self._title, done, self._total, self.sessions, self.files)
        # Once and for all: what takes long may not let this error through.
        self._is_stopped = self._is_stopped or not self._report(state)
        if self._is_stopped:
            raise Stopped
