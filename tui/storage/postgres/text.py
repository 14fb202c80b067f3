"""Text as bytes: a path may have bytes that no encoding of a database accepts."""

from datetime import datetime

from tui.domain.timestamps import MILLISECOND_NS, storable_ns

_SCOPE_BYTES = 1024
"""The longest key; the server's indexes hold up to about 2,600 bytes."""


def as_bytes(text: str) -> bytes:
    """Encode any text, also one with lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes) -> str:
    """Decode the bytes that ``as_bytes`` makes."""
    return data.decode("utf-8", "surrogatepass")


def scope_key(scope: str) -> bytes:
    """Make the key of a scope in the tables: its name, or the beginning and hash of a long one."""
    name = as_bytes(scope)
    if len(name) < _SCOPE_BYTES:
        return name
    # Late: it loads OpenSSL.
    from hashlib import sha256

    hashed = sha256(name).digest()
    return name[: _SCOPE_BYTES - len(hashed)] + hashed


def moment_ns(moment: datetime) -> int:
    """Convert a time to a column's nanoseconds, exact to the millisecond."""
    return storable_ns(int(moment.timestamp() * 1000) * MILLISECOND_NS)
