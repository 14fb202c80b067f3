"""The line on the terminal that shows how far a long command is."""

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager

from tui.cli import console
from tui.domain.imports import ImportProgress, bytes_words
from tui.domain.text import plural

STOPPED = 130
"""The exit code after Ctrl+C."""
_CLEAR = "\r\x1b[K"
_BAR_CELLS = 30


def bar(done: int, total: int) -> str:
    """Format a part of a whole as a bar."""
    part = done / total if total else 1.0
    full = int(part * _BAR_CELLS)
    return f"[{'#' * full}{'.' * (_BAR_CELLS - full)}] {part:4.0%}"


class ProgressLine:
    """A line on the terminal."""

    def __init__(self) -> None:
        self._is_shown = console.is_terminal(sys.stderr)
        self.is_wanted = True
        """False once Ctrl+C was pressed, also after the last step."""

    @contextmanager
    def stopped_by_keys(self) -> Generator[None]:
        """Let Ctrl+C end the command between two steps; a second one ends it at once."""
        before = signal.signal(signal.SIGINT, self._stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _stop(self, *_: object) -> None:
        if not self.is_wanted:
            raise KeyboardInterrupt
        self.is_wanted = False

    def show_found(self, progress: ImportProgress) -> bool:
        """Show how many files were found; false once it was stopped."""
        self._write(f"Looking for sessions: {plural(progress.files, 'file')} ({progress.title})")
        return self.is_wanted

    def show(self, progress: ImportProgress) -> bool:
        """Show how many bytes are done; false once it was stopped."""
        return self.show_part(progress.done, progress.total, progress.title)

    def show_part(self, done: int, total: int, title: str) -> bool:
        """Show how many bytes of a work are done, if it has begun; false once it was stopped."""
        if not title:
            return self.is_wanted
        size = f"{bytes_words(done)} of {bytes_words(total)}"
        self._write(f"{bar(done, total)}  {size}  {title}")
        return self.is_wanted

    def end(self) -> None:
        """Remove the line."""
        self._write("")

    def _write(self, text: str) -> None:
        if self._is_shown:
            sys.stderr.write(_CLEAR + text)
            sys.stderr.flush()
