"""Dates as arguments."""

from datetime import date, datetime, time

from tui.errors import UsageError


def beginning(day: str) -> datetime:
    """The beginning of a local day. Raises ``UsageError``."""
    try:
        return datetime.combine(date.fromisoformat(day), time()).astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError(f'"{day}" is not a date such as 2026-01-31.') from error
