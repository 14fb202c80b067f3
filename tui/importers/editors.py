"""The folders in which editors of the family of VS Code keep what belongs to their user."""

from collections.abc import Iterator
from pathlib import Path

from tui.importers.protocol import Places

_EDITORS = (
    *("Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf"),
    *(".vscode-server/data", ".cursor-server/data"),
)


def user_folders(places: Places) -> Iterator[Path]:
    """Name the folder of each editor, whether it is there or not."""
    applications = places.app_support if places.is_mac else places.config
    for editor in _EDITORS:
        yield (places.home if editor.startswith(".") else applications) / editor / "User"
