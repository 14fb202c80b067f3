"""The builder process: brings the index of a data directory up to date, printing progress."""

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from tui.errors import StorageError
from tui.storage.index.child import as_line
from tui.storage.index.maintenance import IndexMaintenance

_LOWEST = 19
_LOOK_SECONDS = 1.0


def main(arguments: list[str]) -> int:
    """Build; return 0 when up to date, 1 if it fails."""
    with suppress(OSError):
        os.nice(_LOWEST)
    try:
        maintenance = IndexMaintenance(Path(arguments[0]))
        maintenance.check()
        for progress in maintenance.build("another window"):
            print(as_line(progress), flush=True)  # noqa: T201 - whoever started it may listen
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
