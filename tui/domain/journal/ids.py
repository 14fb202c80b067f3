"""How sessions and messages are called on disk."""

import re
from datetime import UTC, datetime

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
SESSION_NUMBERS = 1_000_000
MESSAGE_TOKEN_BYTES = 4


def is_session_id(text: str) -> bool:
    """Whether a text may be used as a session's file name."""
    return SESSION_ID.fullmatch(text) is not None


def new_session_id(now: datetime, number: int) -> str:
    """Name a session by the local time at hand and a random number below a million."""
    return f"session-{now.astimezone():%Y%m%d-%H%M%S}-{number:06d}"


def new_message_id(now: datetime, token: str) -> str:
    """Name a message by its UTC time to the millisecond and eight random hexadecimal digits."""
    utc = now.astimezone(UTC)
    return f"{utc:%Y%m%dT%H%M%S}{utc.microsecond // 1000:03d}-{token}"
