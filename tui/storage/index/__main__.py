"""Builds the index of a data directory, or brings it up to date, and says how far it is."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from tui.errors import IndexBusy, StorageError
from tui.storage.index.child import BUSY, as_line
from tui.storage.index.upkeep import Upkeep

_LOWEST = 19


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
