"""The password in a store's address: found, hidden, and refused where others can read it."""

import re
import stat
from pathlib import Path

from tui.domain.text.patterns import late_pattern
from tui.errors import ConfigError

_PASSWORD = late_pattern(r"://[^:@/]*:(?!@[^@]*$|\d+(?:[/?,]|$)).*@|[?&](?:ssl)?password=[^&]")
"""Between a name and an @, or a parameter; digits before a / are a port."""
_HIDDEN = (
    (re.compile(r"(://[^:@/]*:).*@"), r"\1[hidden]@"),
    (re.compile(r"([?&](?:ssl)?password=)[^&]*"), r"\1[hidden]"),
)
_INSTEAD = "Leave it out, and put it into ~/.pgpass, PGPASSWORD, SIBYL_STORE or config.toml"


def without_password(address: str) -> str:
    """Hide the passwords of an address, rather too much of it than too little."""
    if _PASSWORD.search(address):
        for pattern, words in _HIDDEN:
            address = pattern.sub(words, address)
    return address


def check_password(address: str, source: str, file: Path) -> None:
    """Refuse a password that others can read: in an argument, or in a file that is theirs to read.

    Raises ``ConfigError``, which does not quote it.
    """
    if not _PASSWORD.search(address):
        return
    if source.startswith("-"):
        raise ConfigError("command line", source, f"the address has a password. {_INSTEAD}")
    if source == str(file) and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        fault = f"other users can read this file, and it has a password. Run: chmod 600 {file}"
        raise ConfigError(source, "store", fault)
