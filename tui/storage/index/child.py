"""The builder process of a window: its command, and the progress that it prints."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import tui


class Progress(NamedTuple):
    """Progress of the index, in bytes of journals."""

    done: int
    total: int
    builder: str = ""
    """Who builds it meanwhile: an own build waits for that."""


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


def as_line(progress: Progress) -> str:
    return json.dumps(progress._asdict())


def read_line(line: str | bytes) -> Progress | None:
    """Parse a line of the command's output; ``None`` for any other line."""
    try:
        value = json.loads(line)
        return Progress(int(value["done"]), int(value["total"]), str(value.get("builder", "")))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
