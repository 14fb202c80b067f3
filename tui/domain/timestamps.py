"""Times as they stand in files: UTC, to the millisecond, ending in ``Z``."""

from datetime import UTC, datetime


def format_utc(moment: datetime) -> str:
    """Write an aware time as ``2026-01-11T14:30:22.123Z``."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_utc(text: str | None) -> datetime | None:
    """Read a time of a file; ``None`` where there is none or it cannot be read.

    A foreign time without a zone is taken as UTC.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
