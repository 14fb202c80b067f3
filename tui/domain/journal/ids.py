"""Ids of sessions and messages."""

import re
from datetime import UTC, datetime

from tui.errors import SessionNotFound

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
SESSION_NUMBERS = 1_000_000
MESSAGE_TOKEN_BYTES = 4
_PRIVATE = "private-"


def is_session_id(text: str) -> bool:
    """True if a text is safe as the file name of a session."""
    return SESSION_ID.fullmatch(text) is not None


def checked_id(text: str) -> str:
    """Return an id unchanged. Raises ``SessionNotFound`` for any other text."""
    if not is_session_id(text):
        raise SessionNotFound(text)
    return text


def new_session_id(now: datetime, number: int) -> str:
    """Make an id of the local time and a random number below a million."""
    return f"session-{now.astimezone():%Y%m%d-%H%M%S}-{number:06d}"


def new_private_id(now: datetime, number: int) -> str:
    """Make the id of a private session, like that of another one."""
    return f"{_PRIVATE}{now.astimezone():%Y%m%d-%H%M%S}-{number:06d}"


def is_private(session_id: str) -> bool:
    """Tell whether a session is private: in memory only."""
    return session_id.startswith(_PRIVATE)


def new_message_id(now: datetime, token: str) -> str:
    """Make an id of the UTC time to the millisecond and eight random hexadecimal digits."""
    utc = now.astimezone(UTC)
    return f"{utc:%Y%m%dT%H%M%S}{utc.microsecond // 1000:03d}-{token}"
