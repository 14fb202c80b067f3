"""A small program of the screen that starts the way ``sibyl-tui`` does.

    python -m tests.terminal.stand_in [ARGUMENT...]

It has a prompt, and says in a list which keys came while the prompt had the focus. The variable
STAND_IN names a directory: a FIFO in it holds the program where it says ``stop`` with the FIFO's
name, until a test writes to it, and a file ``fail`` makes the start end early.
"""

import os
import sys
from pathlib import Path

from tui.terminal import first_frame

PLACE = Path(os.environ.get("STAND_IN", "/nowhere"))


def stop(name: str) -> None:
    """Wait here if a test wants to look around."""
    if (PLACE / name).exists():
        (PLACE / name).read_bytes()


def main() -> int:
    try:
        first_frame.begin(sys.argv[1:])
        stop("imports")
        return _run()
    except LookupError as error:
        first_frame.end()
        print(error.args[0], file=sys.stderr)
        return 2
    finally:
        first_frame.end()


def _run() -> int:
    from tests.terminal.stand_in_app import StandIn

    if (PLACE / "fail").exists():
        raise LookupError("Session not found: nosuch")
    stop("screen")
    screen = StandIn()
    screen.run()
    return screen.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
