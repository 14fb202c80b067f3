"""The files that the program writes beside ``config.toml``; sign-ins are in the state directory.

A key file is written before the connections that name it, and removed after them: a kill between
the two leaves a key that nothing names, never a name without a key. Each sign-in has a file that
nobody else can read; one that others can read or change has been seen by them, and is not used.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tui.config.loading import load_connections, load_tools
from tui.config.settings_schema import KEYS, Config, Connections
from tui.config.writing import connections_toml, tools_toml
from tui.files import read_json
from tui.storage import disk, locks

SIGN_INS = "sign-ins"
_SIGN_IN_BYTES = 1024 * 1024
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def key_path(file: Path, name: str) -> Path:
    """The path of the key of a provider."""
    return file.parent / KEYS / f"{name}.key"


def change(file: Path, changed: Callable[[Connections], Connections]) -> Connections:
    """Read the connections, and replace the file by a changed version of them.

    No other program changes them meanwhile. Raises ``StorageError``, and ``ConfigError`` if the
    file is damaged, which is left as it is.
    """
    with locks.alone(file):
        kept = changed(load_connections(file))
        disk.replace(file, connections_toml(kept, file.parent).encode())
    return kept


def change_tools(file: Path, changed: Callable[[Config], Config]) -> Config:
    """Do the same with the tools that were set up, which may have secrets of servers."""
    with locks.alone(file):
        kept = changed(load_tools(file))
        disk.replace(file, tools_toml(kept).encode())
    return kept


def write_key(file: Path, name: str, key: str) -> Path:
    """Write a key to a file of its own that only the user can read. Raises ``StorageError``."""
    path = key_path(file, name)
    with disk.storage_errors(f"Cannot write {path}"):
        disk.make_directory(path.parent)
        if os.stat(path.parent).st_mode & _OTHERS:
            os.chmod(path.parent, disk.DIRECTORY_MODE)
        disk.replace(path, key.encode() + b"\n")
    return path


def remove_key(file: Path, name: str) -> None:
    """Remove the key of a provider, if there is one. Raises ``StorageError``."""
    path = key_path(file, name)
    with disk.storage_errors(f"Cannot remove {path}"), suppress(FileNotFoundError):
        os.unlink(path)
        disk.sync_directory(path.parent)


class SignInFiles(msgspec.Struct, eq=False):
    """Reads and writes sign-ins by servers' names. All block, and raise ``StorageError``."""

    folder: Path

    def read(self, server: str) -> dict[str, Any]:
        """Read a sign-in; empty if there is none."""
        path = self._path(server)
        with disk.storage_errors(f"Cannot read {path}"):
            try:
                disk.check_owner(path, _OTHERS)
                return read_json(path, _SIGN_IN_BYTES)
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
        return self.folder / f"{server}.json"
