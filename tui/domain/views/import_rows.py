"""An import of other programs' sessions, as it is shown."""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from tui.domain.imports import is_block
from tui.domain.text.labels import plural

_UNIT = 1000.0
_COUNTED = re.compile(
    r"\b(line|record|block|part|row|file|node|notice|message|prompt|command|conversation"
    r"|role|beginning|end)\b"
)
"""The noun of a reason that can be counted; other reasons are no number of things."""
_PLURAL = r"\1s"


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
    said = [f"{plural(read, 'record')} read"] if read else []
    if blocks := sum(count for reason, count in skipped.items() if is_block(reason)):
        said.append(f"{plural(blocks, 'unknown block')} kept as text")
    skipped = {reason: count for reason, count in skipped.items() if not is_block(reason)}
    if skipped:
        said.append(f"{sum(skipped.values())} skipped ({reason_words(skipped, most)})")
    return ", ".join(said)


def reason_words(reasons: Mapping[str, int], most: int | None = None) -> str:
    """Reasons with their counts, the most frequent first: ``3 thinking, 2 blank lines``."""
    by_number = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    words = [f"{count} {_reason(count, reason)}" for reason, count in by_number[:most]]
    if others := sum(count for _, count in by_number[len(words) :]):
        words.append(f"{others} others")
    return ", ".join(words)


def _reason(count: int, reason: str) -> str:
    if reason == "sub-agent":
        # Its records are counted, and not it.
        return "of sub-agents"
    return reason if count == 1 else _COUNTED.sub(_PLURAL, reason, count=1)


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
        counts = [plural(self.total, self.unit)] if self.total else []
        if self.new:
            counts.append(f"{self.new:,} new")
        if self.changed:
            counts.append(f"{self.changed:,} changed")
        if self.bytes and self.total and len(counts) == 1:
            # A file with several sessions: only reading it tells which of them.
            counts.append("changed")
        if self.deleted:
            counts.append(f"{plural(self.deleted, 'session')} deleted here")
        counts.append(bytes_words(self.bytes) if self.bytes else "nothing new")
        return ", ".join(counts)


class ImportRow(msgspec.Struct, frozen=True):
    """A program of which something was found."""

    program: str
    title: str
    counts: FoundCounts
    warning: str = ""
    """What may be lost unless it is imported."""

    @property
    def bytes(self) -> int:
        """To be read."""
        return self.counts.bytes


class ImportProgress(msgspec.Struct, frozen=True):
    """The state of an import; while it is planned, only ``title`` and ``files`` count."""

    title: str
    """The program that is read."""
    done: int
    """In bytes."""
    total: int
    sessions: int
    """Imported so far."""
    files: int = 0
    """Found so far."""

    @property
    def words(self) -> str:
        read = f"{bytes_words(self.done)} of {bytes_words(self.total)}"
        return f"{self.title}: {read}, {plural(self.sessions, 'session')}"
