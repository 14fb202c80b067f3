"""Times in files: UTC, to the millisecond, ending in ``Z``."""

from datetime import UTC, datetime

MILLISECOND_NS = 1_000_000
"""Nanoseconds in a millisecond."""


def utc_now() -> datetime:
    """The clock of the program."""
    return datetime.now(UTC)


def from_milliseconds(milliseconds: int) -> datetime | None:
    """Convert milliseconds since 1970; ``None`` where no ``datetime`` reaches.

    The time of a file may be any number: anybody can set it.
    """
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def format_milliseconds(milliseconds: int) -> str:
    """Write milliseconds since 1970; ``""`` where no ``datetime`` reaches."""
    moment = from_milliseconds(milliseconds)
    return format_utc(moment) if moment else ""


def format_utc(moment: datetime) -> str:
    """Write an aware time as ``2026-01-11T14:30:22.123Z``."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_utc(text: str | None) -> datetime | None:
    """Read a time of a file; ``None`` where there is none or it cannot be read.

    A time without a zone, from another program, is read as UTC.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
