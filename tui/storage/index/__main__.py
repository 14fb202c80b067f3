"""Builds the index of a data directory, or brings it up to date, and says how far it is."""

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from tui.errors import IndexBusy, StorageError
from tui.storage.index.child import BUSY, as_line
from tui.storage.index.maintenance import Upkeep

_LOWEST = 19
_LOOK_SECONDS = 1.0
_GRACE_SECONDS = 7.0
"""Enough for some batches: with no screen, each search on the command line builds so much."""


def main(arguments: list[str]) -> int:
    """Exit 0 when it is up to date, ``BUSY`` if another is at it, 1 if it cannot be had."""
    with suppress(OSError):
        os.nice(_LOWEST)
    try:
        for progress in Upkeep(Path(arguments[0])).build():
            print(as_line(progress), flush=True)  # noqa: T201 - whoever started it may listen
    except IndexBusy:
        return BUSY
    except StorageError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the same
        return 1
    except BrokenPipeError:
        # Whoever listened has gone; what was committed stays.
        return 1
    return 0


def end_soon_after(parent: int) -> None:
    """Watch the parent process, and end this one soon after it; what was committed stays.

    Also where this one hangs in a system call: the index's lock is free then.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        time.sleep(_GRACE_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()


if __name__ == "__main__":
    end_soon_after(int(sys.argv[2]))
    sys.exit(main(sys.argv[1:]))
