"""Ids of imported sessions and messages, made from those of their programs.

The same message has the same id whatever source it is found in, so that it is imported once.
"""

from hashlib import sha256

IMPORTED = "im-"
"""Begins the id of every imported message, and of no other."""
_SESSION_DIGITS = 12
_MESSAGE_DIGITS = 16


def imported_session_id(program: str, root: str) -> str:
    """Make the id of the session of a tree of messages."""
    return f"{program}-{_digits(program, root)[:_SESSION_DIGITS]}"


def fork_id(program: str, session_id: str) -> str:
    """Make the id of the fork of a session that was continued here."""
    return f"{program}-{_digits(program, session_id, 'fork')[:_SESSION_DIGITS]}"


def imported_message_id(program: str, source_id: str) -> str:
    """Make the id of a message."""
    return IMPORTED + _digits(program, source_id)[:_MESSAGE_DIGITS]


def version_id(message_id: str, parent: str, words: bytes) -> str:
    """Make the id of a version of a message: other words, or behind another message."""
    return IMPORTED + _digits(message_id, parent, words.decode())[:_MESSAGE_DIGITS]


def _digits(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
