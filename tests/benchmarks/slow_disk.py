"""The program on a disk that takes its time, with whatever arguments it takes.

Each sync takes ``SECONDS``, as on a memory card, or over a network.
"""

import os
import time
from collections.abc import Callable

SECONDS = 0.3


def _slowly(sync: Callable[[int], None]) -> Callable[[int], None]:
    def wait(descriptor: int) -> None:
        time.sleep(SECONDS)
        sync(descriptor)

    return wait


if __name__ == "__main__":
    os.fdatasync, os.fsync = _slowly(os.fdatasync), _slowly(os.fsync)
    from tui.__main__ import main

    main()
