"""Starts the builder process: by exec, at low priority, in a process group of its own."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import tui

BUSY = 3
"""The exit code of a builder that found another one running."""


class Progress(NamedTuple):
    """Progress of the index, in bytes of journals."""

    done: int
    total: int


def command(root: Path) -> list[str]:
    """Make the command that builds an index and prints ``Progress`` line by line.

    The builder exits soon after this process.
    """
    # -P: no modules from the current directory.
    return [sys.executable, "-P", "-m", "tui.storage.index", str(root), str(os.getpid())]


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Make the environment of the command, with this very package on its path."""
    package = str(Path(tui.__file__).parent.parent)
    earlier = inherited.get("PYTHONPATH")
    path = f"{package}{os.pathsep}{earlier}" if earlier else package
    return {**inherited, "PYTHONPATH": path}


def start(root: Path) -> int:
    """Start the builder with its output discarded; return its pid. Raises ``OSError``."""
    nowhere = os.devnull
    return os.posix_spawn(
        sys.executable,
        command(root),
        environment(os.environ),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, nowhere, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, nowhere, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, nowhere, os.O_WRONLY, 0),
        ],
        # Not interrupted by Ctrl+C in the terminal.
        setpgroup=0,
    )


def as_line(progress: Progress) -> str:
    return json.dumps(progress._asdict())


def read_line(line: str | bytes) -> Progress | None:
    """Parse a line of the command's output; ``None`` for any other line."""
    try:
        value = json.loads(line)
        return Progress(int(value["done"]), int(value["total"]))
    except (ValueError, TypeError, KeyError):
        return None
