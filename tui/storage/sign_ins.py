"""The sign-ins at tool servers: a file for each server, which nobody else can read.

A file that others can read or change has been seen by them: it is not used.
"""

import os
import stat
from pathlib import Path
from typing import Any

import msgspec

from tui.files import read_json
from tui.storage import disk

FOLDER = "sign-ins"
_MOST_BYTES = 1024 * 1024
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class SignInFiles:
    """Reads and writes sign-ins by the names of servers. Each method blocks.

    All raise ``StorageError``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, server: str) -> dict[str, Any]:
        """Read a sign-in; empty if there is none."""
        path = self._path(server)
        with disk.storage_errors(f"Cannot read {path}"):
            try:
                disk.check_owner(path, _OTHERS)
                return read_json(path, _MOST_BYTES)
            except FileNotFoundError:
                return {}

    def write(self, server: str, kept: dict[str, Any]) -> None:
        """Keep a sign-in, in the place of an earlier one."""
        path = self._path(server)
        with disk.storage_errors(f"Cannot write {path}"):
            disk.make_directory(path.parent)
            disk.replace(path, msgspec.json.encode(kept) + b"\n")

    def forget(self, server: str) -> bool:
        """Forget a sign-in, whatever its file is; false if there is none."""
        path = self._path(server)
        with disk.storage_errors(f"Cannot remove {path}"):
            is_there = os.path.lexists(path)
            path.unlink(missing_ok=True)
        return is_there

    def _path(self, server: str) -> Path:
        return self._folder / f"{server}.json"
