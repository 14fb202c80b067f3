"""The state of the interface between runs: ``ui.json``.

Not the user's settings, and never a reason to fail: a file that is damaged, missing, unreadable or
of another version counts as empty. Keys of other programs in it are kept.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tui.files import read_json
from tui.storage import disk

FILE = "ui.json"
VERSION = 1
_MOST_BYTES = 64 * 1024
_MOST_COLUMNS = 10_000
_TEXTS = ("theme", "theme_over", "auto_import", "auto_import_into", "program")


class UiState(msgspec.Struct, frozen=True):
    """Choices made on screen; ``None`` for one not made. The width is in columns.

    ``theme_over`` is the configured theme that ``theme`` replaces. ``auto_import`` names programs,
    separated by spaces, for the store ``auto_import_into``. ``program`` is the version that was
    started last.
    """

    theme: str | None = None
    theme_over: str | None = None
    sidebar_width: int | None = None
    wrap_code: bool = True
    auto_import: str | None = None
    auto_import_into: str | None = None
    program: str | None = None


def read(path: Path) -> UiState:
    """Read the file, as far as it can be read."""
    values = _values(path)
    if values is None or values.get("version") != VERSION:
        return UiState()
    width = values.get("sidebar_width")
    return UiState(
        sidebar_width=width if type(width) is int and 0 < width < _MOST_COLUMNS else None,
        wrap_code=values.get("wrap_code") is not False,
        **{name: text for name in _TEXTS if isinstance(text := values.get(name), str)},
    )


def change(path: Path, changes: Mapping[str, str | int | None]) -> None:
    """Write some fields of ``UiState``; ``None`` removes one.

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


def _values(path: Path) -> dict[str, Any] | None:
    try:
        return read_json(path, _MOST_BYTES)
    except OSError:
        return None
