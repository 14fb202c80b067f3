"""A terminal writer that never blocks the program for long."""

import os
import select
import time
from collections.abc import Callable
from typing import TextIO

SECONDS_TO_TAKE = 2.0
"""A terminal that takes nothing for so long is not waited for."""
SECONDS_PER_LOOK = 0.1
BYTES_PER_READ = 4096
# An escape sequence that was cut off is given up, and a look; what is drawn at once may be shown.
_AFTER_LOSS = b"\x18\x1b[?2026l\x1b[0m"


class Output:
    """Where frames are written, for the thread that writes them.

    That thread must neither end nor wait for long: the screen waits for it, and with it all
    sessions would. A terminal that has gone takes everything. One that takes nothing for
    ``SECONDS_TO_TAKE``, as over a line that hangs, loses what is drawn until it takes something
    again; then ``lost`` is called in the thread that writes. So is ``taken``, with how many texts
    have gone.
    """

    def __init__(
        self, file: TextIO, lost: Callable[[], None], taken: Callable[[int], None]
    ) -> None:
        self._encoding = file.encoding
        self._descriptor = file.fileno()
        self._own = _opened_again(self._descriptor)
        self._lost, self._taken = lost, taken
        self._waiting: list[bytes] = []
        self._size = 0
        self._is_stuck = False
        self._has_gone = False

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> None:
        """Write it soon; at the latest when ``flush`` is called."""
        data = text.encode(self._encoding, "replace")
        self._waiting.append(data)
        self._size += len(data)
        if self._size >= BYTES_PER_READ:
            self.flush()

    def flush(self) -> None:
        """Write what waits, or lose it."""
        count, data = len(self._waiting), b"".join(self._waiting)
        self._waiting, self._size = [], 0
        self._write(data)
        self._taken(count)

    def _write(self, data: bytes) -> None:
        if self._has_gone or not data:
            return
        if self._is_stuck:
            if not self._takes(0):
                return
            self._is_stuck = False
            self._lost()
            data = _AFTER_LOSS + data
        self._send(data)

    def close(self, last: str) -> None:
        """Write nothing more; ``last`` is for a terminal that has lost what came before."""
        if self._is_stuck and not self._has_gone:
            self._send(_AFTER_LOSS + last.encode())
        if self._own is not None:
            os.close(self._own)
            self._own = None

    def _send(self, data: bytes) -> None:
        target = self._descriptor if self._own is None else self._own
        try:
            while data:
                if not self._takes(SECONDS_TO_TAKE):
                    self._is_stuck = True
                    return
                try:
                    data = data[os.write(target, data) :]
                except BlockingIOError:
                    # Room for some bytes, not for a character.
                    time.sleep(SECONDS_PER_LOOK)
        except OSError:
            self._has_gone = True

    def _takes(self, seconds: float) -> bool:
        """Whether the terminal takes something within this time."""
        target = self._descriptor if self._own is None else self._own
        _, ready, _ = select.select([], [target], [], seconds)
        return bool(ready)


def _opened_again(descriptor: int) -> int | None:
    """The same terminal by a descriptor that never blocks; the shell's own is left as it is.

    ``None`` where its name leads nowhere, as in some containers.
    """
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(os.ttyname(descriptor), flags)
    except OSError:
        return None
