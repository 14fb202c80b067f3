"""Dotted keys, as they would stand in a TOML file."""

import json

from tui.domain.text.patterns import late_pattern

_BARE = late_pattern(r"[A-Za-z0-9_-]+")


def joined(key: str, name: str) -> str:
    """Append a name to a dotted key: ``models`` and ``a:b`` give ``models."a:b"``."""
    written = name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    return f"{key}.{written}" if key else written
