"""The ages at which programs delete their sessions by themselves, as their settings have it."""

import re
from pathlib import Path

from tui.importers.json_lines import object_in, whole_if_there
from tui.importers.json_paths import value_at
from tui.importers.protocol import Json, Places

_DEFAULT_DAYS = 30
_UNKNOWN: Json = {"cleanupPeriodDays": 0, "general": {"sessionRetention": {"enabled": False}}}
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}
_PERIOD = re.compile(r"(\d{1,9})([hdwm])")


def claude_code_days(places: Places) -> float:
    """The days after which Claude Code deletes a session; 0 for never, or if nobody knows."""
    root = places.named("CLAUDE_CONFIG_DIR", places.home / ".claude")
    days = _settings(root).get("cleanupPeriodDays", _DEFAULT_DAYS)
    return days if isinstance(days, int | float) and days > 0 else 0


def gemini_cli_days(places: Places) -> float:
    """The days after which Gemini CLI deletes a session; 0 for never, or if nobody knows."""
    root = places.named("GEMINI_CLI_HOME", places.home) / ".gemini"
    kept = object_in(value_at(_settings(root), "general.sessionRetention"))
    days = _days(kept.get("maxAge", f"{_DEFAULT_DAYS}d"))
    # It refuses a period below the least one, and deletes nothing.
    is_used = kept.get("enabled", True) and days >= (_days(kept.get("minRetention")) or 1)
    return days if is_used else 0


def _settings(root: Path) -> Json:
    path = root / "settings.json"
    if not path.exists():
        return {}
    return object_in(found) if isinstance(found := whole_if_there(path), dict) else _UNKNOWN


def _days(period: object) -> float:
    found = _PERIOD.fullmatch(period) if isinstance(period, str) else None
    return int(found[1]) * _DAYS[found[2]] if found else 0
