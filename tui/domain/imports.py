"""Imports of other programs' sessions: the lines of their log, and an import as it is shown."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from tui.domain.json_text import Count, journal_json
from tui.domain.text import late_pattern, plural

PROMPTS_ONLY = "Prompts only: "
"""Begins the name of a session of which its program had deleted all but the prompts."""


class ImportLine(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A line of the log: a conversation that became a session, or the end of a source.

    The last line about a session counts, and the last ``whole`` one about a source.
    """

    at: str
    program: str
    path: str
    """Of the source."""
    device: int = 0
    inode: int = 0
    size: Count = 0
    """Of the source, in bytes, when its reading began."""
    mtime: int = 0
    """Of the source, in nanoseconds since 1970, when its reading began."""
    source_id: str = ""
    """The program's own id of the conversation; empty in a line about the source only."""
    root: str = ""
    """The tree that the conversation is part of, if it is not the only part."""
    id: str = ""
    """The session's id here."""
    beginning: tuple[str, ...] = ()
    """The ids here of its first messages, if other conversations may have its ``source_id``."""
    prompts_only: bool = False
    """True if its program had deleted all of the conversation but the prompts."""
    revision: int = 0
    """Of the reader: a higher one reads the source again."""
    replaced: bool = False
    """True if its messages are in another session of the source, which was cut off before."""
    whole: bool = False
    """True in the last line of a source that was read to its end."""


def came_from(name: str, lines: Iterable[ImportLine]) -> list[str]:
    """The sessions here of an id in a program, which may stand before it: ``claude-code:ID``."""
    if not name:
        return []
    named = (each for each in lines if name in (each.source_id, f"{each.program}:{each.source_id}"))
    return [*dict.fromkeys(each.id for each in named if each.id)]


def bytes_naming(name: str) -> bytes:
    """The bytes that all encoded lines have from which such a session came."""
    return journal_json(name.partition(":")[2] or name)[1:-1]


def is_unknown(reason: str) -> bool:
    """Tell a shape that a reader does not know from one that it leaves out by rule."""
    return reason.startswith("unknown ")


def is_block(reason: str) -> bool:
    """Tell a block of an unknown type, which is kept as text, from a record that is left out."""
    return reason.startswith("unknown block")


_UNIT = 1000.0
_COUNTED = late_pattern(
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
