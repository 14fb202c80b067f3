"""The builder process of a window: brings the index of a data directory up to date."""

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import tui
from tui.errors import StorageError
from tui.storage.protocol import Progress

_LOWEST = 19
_LOOK_SECONDS = 1.0


def command(root: Path) -> list[str]:
    """Make the command that builds an index and prints ``Progress`` line by line.

    The builder exits soon after this process.
    """
    # -P: no modules from the current directory.
    return [sys.executable, "-P", "-m", "tui.storage.index.child", str(root), str(os.getpid())]


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Make the environment of the command, with this very package on its path."""
    package = str(Path(tui.__file__).parent.parent)
    earlier = inherited.get("PYTHONPATH")
    path = f"{package}{os.pathsep}{earlier}" if earlier else package
    return {**inherited, "PYTHONPATH": path}


def read_line(line: str | bytes) -> Progress | None:
    """Parse a line of the command's output; ``None`` for any other line."""
    try:
        value = json.loads(line)
        return Progress(int(value["done"]), int(value["total"]), str(value.get("builder", "")))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def main(arguments: list[str]) -> int:
    """Build; return 0 when up to date, 1 if it fails."""
    # Imported here: it loads SQLite.
    from tui.storage.index.maintenance import IndexMaintenance

    with suppress(OSError):
        os.nice(_LOWEST)
    try:
        maintenance = IndexMaintenance(Path(arguments[0]))
        maintenance.check()
        for progress in maintenance.build("another window"):
            # Whoever started it may listen.
            print(json.dumps(progress._asdict()), flush=True)  # noqa: T201
    except StorageError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the same
        return 1
    except BrokenPipeError:
        # The reader of the progress is gone; committed batches stay.
        return 1
    return 0


def end_after(parent: int) -> None:
    """Watch the parent process, and exit after it; committed batches stay.

    A thread does so, as a hanging system call must not keep the index's lock.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()


if __name__ == "__main__":
    end_after(int(sys.argv[2]))
    sys.exit(main(sys.argv[1:]))
