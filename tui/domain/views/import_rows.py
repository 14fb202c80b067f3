"""An import of other programs' sessions, as it is shown."""

import msgspec

from tui.domain.text.labels import plural
from tui.domain.views.imports import bytes_words


class ImportRow(msgspec.Struct, frozen=True):
    """A program of which sessions were found."""

    program: str
    title: str
    sessions: int
    new: int
    grown: int
    """Imported before, with new messages."""
    bytes: int
    """To be read."""

    @property
    def note(self) -> str:
        """The counts in words."""
        if not self.bytes:
            return f"{plural(self.sessions, 'session')}, nothing new"
        counts = [f"{self.new:,} of {self.sessions:,} new"]
        grown = [f"{self.grown:,} changed"] if self.grown else []
        return ", ".join([*counts, *grown, bytes_words(self.bytes)])


class ImportProgress(msgspec.Struct, frozen=True):
    """The state of an import that runs."""

    title: str
    """The program that is read."""
    done: int
    """In bytes."""
    total: int
    sessions: int
    """Imported so far."""

    @property
    def words(self) -> str:
        read = f"{bytes_words(self.done)} of {bytes_words(self.total)}"
        return f"{self.title}: {read}, {plural(self.sessions, 'session')}"
