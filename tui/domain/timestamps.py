"""Times in files: UTC, to the millisecond, ending in ``Z``."""

from datetime import UTC, date, datetime, time

from tui.errors import UsageError

MILLISECOND_NS = 1_000_000
"""Nanoseconds in a millisecond."""
_LATEST_NS = (1 << 63) - 1
# A day from the ends: in every zone there is such a time.
_EARLIEST, _LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)


def beginning_of_day(day: str) -> datetime:
    """The beginning of a local day. Raises ``UsageError``."""
    try:
        return datetime.combine(date.fromisoformat(day), time()).astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError(f'"{day}" is not a date such as 2026-01-31.') from error


def utc_now() -> datetime:
    """The clock of the program."""
    return datetime.now(UTC)


def from_milliseconds(milliseconds: int) -> datetime | None:
    """Convert milliseconds since 1970; ``None`` where no ``datetime`` reaches.

    The time of a file may be any number: anybody can set it.
    """
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
        return max(_EARLIEST, min(moment, _LATEST))
    except (ValueError, OverflowError, OSError):
        return None


def storable_ns(nanoseconds: int) -> int:
    """The nearest time that databases can store: from 1678 to 2262."""
    return max(-_LATEST_NS, min(nanoseconds, _LATEST_NS))


def format_milliseconds(milliseconds: int) -> str:
    """Write milliseconds since 1970; ``""`` where no ``datetime`` reaches."""
    moment = from_milliseconds(milliseconds)
    return format_utc(moment) if moment else ""


def format_utc(moment: datetime) -> str:
    """Write an aware time as ``2026-01-11T14:30:22.123Z``."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_utc(text: str | None) -> datetime | None:
    """Read a time of a file; ``None`` where there is none or it cannot be read.

    A time without a zone, from another program, is read as UTC. The first and the last day of all
    are left out: they have no local time everywhere.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(_EARLIEST, min(moment, _LATEST))
    except (ValueError, OverflowError):
        return None
