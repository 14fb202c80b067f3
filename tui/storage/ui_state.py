"""What the program remembers of itself from one run to the next: ``ui.json``.

Never the user's settings, and never worth a failure: a file that is damaged, missing, not to be
read or of another version says nothing. What other programs of this family put into it stays.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from tui.files import read_json
from tui.storage import disk

FILE = "ui.json"
VERSION = 1
_MOST_BYTES = 64 * 1024


class UiState(msgspec.Struct, frozen=True):
    """What was chosen on screen; ``None`` for what was not. The width is in columns.

    ``theme_over`` is the configuration's theme that ``theme`` was chosen in place of.
    """

    theme: str | None = None
    theme_over: str | None = None
    sidebar_width: int | None = None


def read(path: Path) -> UiState:
    """What is remembered, as far as it can be read."""
    values = _values(path)
    if values is None or values.get("version") != VERSION:
        return UiState()
    width = values.get("sidebar_width")
    return UiState(
        theme=_text(values, "theme"),
        theme_over=_text(values, "theme_over"),
        sidebar_width=width if type(width) is int else None,
    )


def change(path: Path, changes: Mapping[str, str | int | None]) -> None:
    """Remember these fields of ``UiState`` too; ``None`` forgets one.

    A file of another version stays as it is. Raises ``StorageError``.
    """
    values = _values(path) or {}
    if values.get("version", VERSION) != VERSION:
        return
    kept = {"version": VERSION} | values | dict(changes)
    present = {key: value for key, value in kept.items() if value is not None}
    with disk.storage_errors(f"Cannot write {path}"):
        disk.make_directory(path.parent)
        disk.replace(path, msgspec.json.encode(present) + b"\n")


def _text(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) else None


def _values(path: Path) -> dict[str, Any] | None:
    try:
        values = read_json(path, _MOST_BYTES)
    except OSError:
        return None
    return cast("dict[str, Any]", values) if isinstance(values, dict) else None
