"""The tools that the user has allowed for good: ``tool-approvals.json`` in the state directory.

A file that is damaged, of another version or open to changes by other users allows nothing: reading
it fails, and it is never written over.
"""

import stat
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from tui.domain.tool_servers import ToolApproval
from tui.errors import StorageError
from tui.files import read_json
from tui.storage import disk, locks

FILE = "tool-approvals.json"
_VERSION = 1
_MOST_BYTES = 1024 * 1024
_OTHERS_CAN_WRITE = stat.S_IWGRP | stat.S_IWOTH


class _Kept(msgspec.Struct, frozen=True):
    version: int
    allowed: tuple[ToolApproval, ...]


def read(path: Path) -> tuple[ToolApproval, ...]:
    """Read what is allowed. Raises ``StorageError`` for a file that cannot be trusted."""
    doing = f"Cannot read {path}"
    with disk.storage_errors(doing):
        try:
            disk.check_owner(path, _OTHERS_CAN_WRITE)
            kept = read_json(path, _MOST_BYTES, _Kept)
        except FileNotFoundError:
            return ()
    if kept.version != _VERSION:
        raise StorageError(f"{doing}: another version of sibyl-tui wrote it")
    return kept.allowed


def allow(path: Path, tool: ToolApproval) -> None:
    """Allow a tool, in the place of what it was before. Raises ``StorageError``."""
    with locks.alone(path):
        others = [each for each in read(path) if not each.is_of(tool)]
        _write(path, [*others, tool])


def withdraw(path: Path, tools: Collection[ToolApproval]) -> None:
    """Allow some tools no more. Raises ``StorageError``."""
    with locks.alone(path):
        _write(path, [each for each in read(path) if not any(map(each.is_of, tools))])


def withdraw_all(path: Path) -> None:
    """Allow no tool any more, also where the file is damaged. Raises ``StorageError``."""
    with locks.alone(path), disk.storage_errors(f"Cannot write {path}"):
        path.unlink(missing_ok=True)
        disk.sync_directory(path.parent)


def _write(path: Path, tools: Sequence[ToolApproval]) -> None:
    with disk.storage_errors(f"Cannot write {path}"):
        disk.replace(path, msgspec.json.encode(_Kept(_VERSION, tuple(tools))) + b"\n")
