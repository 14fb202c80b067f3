"""Times of foreign files, in all their forms."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from tui.domain.timestamps import format_utc

_PER_SECOND = {1e17: 1e9, 1e14: 1e6, 1e11: 1e3}
"""Times from these numbers on are in units of which a second has so many; the largest first."""
_FIRST_YEAR = 1970
"""Go writes the year 1 for no time."""
_AS_IN_JOURNAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def utc(value: Any) -> str | None:
    """Convert a time to the form of a journal; ``None`` if it is none.

    Takes text in ISO 8601 or as in mails (without a zone: UTC) and numbers, also as text, of
    seconds, milliseconds, microseconds or nanoseconds since 1970.
    """
    moment = _parsed(value) if isinstance(value, str) else _from_number(value)
    if moment and moment.year >= _FIRST_YEAR and _AS_IN_JOURNAL.fullmatch(str(value)):
        # Most are, and to write one takes longer than to read it.
        return str(value)
    if moment and not moment.tzinfo:
        moment = moment.replace(tzinfo=UTC)
    try:
        return format_utc(moment) if moment and moment.year >= _FIRST_YEAR else None
    except (ValueError, OverflowError):
        return None


def utc_of_local(value: Any) -> str | None:
    """Convert a time whose zone, if it names none, is this machine's."""
    moment = _parsed(value) if isinstance(value, str) else _from_number(value)
    try:
        return format_utc(moment.astimezone()) if moment else None
    except (ValueError, OverflowError, OSError):
        return None


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        pass
    with suppress(ValueError):
        return _from_number(float(text))
    with suppress(ValueError, IndexError, TypeError):
        if text.rstrip().endswith(" UTC"):
            return datetime.fromisoformat(text.strip().removesuffix(" UTC")).replace(tzinfo=UTC)
        return parsedate_to_datetime(text)
    return None


def _from_number(value: Any) -> datetime | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        return None
    per_second = next((each for least, each in _PER_SECOND.items() if value >= least), 1)
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(float(value) / per_second, UTC)
    return None
