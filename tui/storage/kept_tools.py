"""The file of tools that were set up on the screen, which may have secrets of servers."""

from collections.abc import Callable
from pathlib import Path

from tui.config import KeptTools, load_tools
from tui.config.writing import tools_toml
from tui.storage import disk, locks


def change(file: Path, changed: Callable[[KeptTools], KeptTools]) -> KeptTools:
    """Read the tools, and replace the file by a changed version of them.

    No other program changes them meanwhile. Raises ``StorageError``, and ``ConfigError`` if the
    file is damaged, which is left as it is.
    """
    with locks.alone(file), disk.storage_errors(f"Cannot write {file}"):
        kept = changed(load_tools(file))
        disk.replace(file, tools_toml(kept).encode())
    return kept
