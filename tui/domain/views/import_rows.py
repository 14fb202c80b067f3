"""An import of other programs' sessions, as it is shown."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from tui.domain.imports import is_block
from tui.domain.text.labels import plural

_UNIT = 1000.0


def bytes_words(count: int) -> str:
    """Format a number of bytes: ``310.2 MB``."""
    size, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < _UNIT:
            break
        size, unit = size / _UNIT, larger
    return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def skipped_words(read: int, skipped: Mapping[str, int], most: int | None = None) -> str:
    """Tell what became of the records of a source: ``5 records read, 3 skipped (3 thinking)``.

    At most ``most`` reasons are named. Blocks of unknown types are not skipped, but kept as text.
    """
    words = f"{plural(read, 'record')} read"
    if blocks := sum(count for reason, count in skipped.items() if is_block(reason)):
        words += f", {plural(blocks, 'unknown block')} kept as text"
    skipped = {reason: count for reason, count in skipped.items() if not is_block(reason)}
    if not skipped:
        return words
    by_number = sorted(skipped.items(), key=lambda each: (-each[1], each[0]))
    reasons = ", ".join(f"{count} {reason}" for reason, count in by_number[:most])
    if most is not None and len(by_number) > most:
        reasons += f", {sum(count for _, count in by_number[most:])} others"
    return f"{words}, {sum(skipped.values())} skipped ({reasons})"


class FoundCounts(msgspec.Struct, frozen=True):
    """The counts of what was found of a program, before it is read.

    Sessions only where they could be counted: several files may be one session, as where each
    resumes the one before.
    """

    unit: Literal["file", "session"]
    total: int
    new: int
    changed: int = 0
    """Imported before, and different now; only files can be compared."""
    deleted: int = 0
    """Sessions that the user has deleted here, and that are therefore left out."""
    bytes: int = 0
    """To be read."""

    @property
    def words(self) -> str:
        """The counts in words."""
        counts = [f"{self.new:,} new"] if self.new else []
        if self.changed:
            counts.append(f"{self.changed:,} changed")
        if self.bytes and self.total and not counts:
            # A file with several sessions: only reading it tells which of them.
            counts.append("changed")
        if self.deleted:
            counts.append(f"{plural(self.deleted, 'session')} deleted here")
        counts.append(bytes_words(self.bytes) if self.bytes else "nothing new")
        return ", ".join([plural(self.total, self.unit), *counts])


class ImportRow(msgspec.Struct, frozen=True):
    """A program of which something was found."""

    program: str
    title: str
    counts: FoundCounts

    @property
    def bytes(self) -> int:
        """To be read."""
        return self.counts.bytes


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
