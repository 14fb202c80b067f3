"""The process that builds the index: started by exec, at low priority, out of everybody's way."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import tui

BUSY = 3
"""The exit code of a builder that found another one at work."""


class Progress(NamedTuple):
    """How many bytes of journals are in the index, of how many."""

    done: int
    total: int


def command(root: Path) -> list[str]:
    """The command that builds the index of a data directory and says ``Progress`` line by line.

    It ends soon after this process.
    """
    # -P: the directory that the user is in must not lend us its modules.
    return [sys.executable, "-P", "-m", "tui.storage.index", str(root), str(os.getpid())]


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What the command runs in: the same package as here, installed or not."""
    package = str(Path(tui.__file__).parent.parent)
    earlier = inherited.get("PYTHONPATH")
    path = f"{package}{os.pathsep}{earlier}" if earlier else package
    return {**inherited, "PYTHONPATH": path}


def start(root: Path) -> int:
    """Start it without listening to it, and give its process id. Raises ``OSError``."""
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
        # A Ctrl+C in the terminal is not meant for it.
        setpgroup=0,
    )


def as_line(progress: Progress) -> str:
    return json.dumps(progress._asdict())


def read_line(line: str | bytes) -> Progress | None:
    """What a line of the command's output says; ``None`` for any other line."""
    try:
        value = json.loads(line)
        return Progress(int(value["done"]), int(value["total"]))
    except (ValueError, TypeError, KeyError):
        return None
